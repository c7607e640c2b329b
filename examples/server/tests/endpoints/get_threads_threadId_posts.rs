//! `GET /threads/{threadId}/posts`.

use serde_json::{Value, json};

use crate::client::{get, send};
use crate::places::{last_post, new_thread, reply, staff_thread, tea};
use crate::program::Server;
use crate::road::{Request, all, refusal};

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/threads/1/posts",
        body: "",
        owner: "bob",
        scope: "posts:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn pages_come_oldest_first_and_link_to_the_next() {
    let server = Server::new(&[]);
    let path = format!("{}?limit=4", tea(&server));
    let first = get(&server.api(&path));
    assert_eq!(all(&first, "number"), [1, 2, 3, 4]);
    let next = first.json()["next"].as_str().unwrap().to_owned();
    let rest = format!("{path}&after={next}");
    let link = format!("</api/v1{rest}>; rel=\"next\"").to_lowercase();
    assert_eq!(first.header("link"), Some(&*link));
    let last = get(&server.api(&rest));
    assert_eq!(all(&last, "number"), [5, 6]);
    assert_eq!(last.json()["next"], Value::Null);
    assert_eq!(last.header("link"), None);
    let fourth = &first.json()["items"][3];
    assert_eq!(fourth["author"]["username"], "alice");
    let html = fourth["bodyHtml"].as_str().unwrap();
    assert!(html.starts_with("<blockquote>"), "{html}");
}

#[test]
fn a_reader_begins_where_they_like_and_takes_the_body_that_they_need() {
    let server = Server::new(&[]);
    let tea = tea(&server);
    let posts = get(&server.api(&tea)).json();
    let of = |index: usize, field: &str| posts["items"][index][field].as_str().unwrap();
    for (query, numbers) in [
        (format!("from={}", of(3, "postId")), &[4, 5, 6][..]),
        (format!("since={}", of(4, "createdAt")), &[6]),
        (format!("since={}", of(5, "createdAt")), &[]),
    ] {
        let list = get(&server.api(&format!("{tea}?{query}")));
        assert_eq!(all(&list, "number"), numbers, "{query}");
    }
    for (form, source, html) in [
        ("both", true, true),
        ("source", true, false),
        ("html", false, true),
    ] {
        let list = get(&server.api(&format!("{tea}?body={form}")));
        for (field, is_there) in [("body", source), ("bodyHtml", html)] {
            let all_are = all(&list, field)
                .iter()
                .all(|body| body.is_string() == is_there);
            assert!(all_are, "{form} {field}");
        }
    }
}

#[test]
fn each_caller_is_told_which_posts_they_may_change() {
    let server = Server::new(&[]);
    reply(&server, &server.token("bob"));
    let path = format!("{}?from={}", tea(&server), id(&last_post(&server)));
    for (name, may) in [("bob", true), ("alice", false), ("mod", true)] {
        let post = server.get(&server.token(name), &path).json()["items"][0].clone();
        assert_eq!(
            (&post["canEdit"], &post["canDelete"]),
            (&json!(may), &json!(may)),
            "{name}"
        );
    }
    let post = get(&server.api(&path)).json()["items"][0].clone();
    assert_eq!(
        (&post["canEdit"], &post["canDelete"]),
        (&json!(false), &json!(false))
    );
}

fn id(post: &str) -> &str {
    post.rsplit('/').next().unwrap()
}

#[test]
fn what_is_hidden_is_left_out_and_shown_to_moderators() {
    let server = Server::new(&[]);
    let (bob, newbie) = (server.token("bob"), server.token("newbie"));
    let tea = tea(&server);
    reply(&server, &newbie);
    let deleted = reply(&server, &bob);
    assert_eq!(server.ask("DELETE", &bob, &deleted, "").status, 204);
    for (name, hidden) in [
        ("bob", &[][..]),
        ("newbie", &["awaiting_approval"]),
        ("mod", &["awaiting_approval", "deleted"]),
    ] {
        let list = server.get(&server.token(name), &tea);
        assert_eq!(all(&list, "state")[6..], *hidden, "{name}");
    }
    assert_eq!(all(&get(&server.api(&tea)), "number"), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_thread_that_is_not_seen_is_not_there() {
    let server = Server::new(&[]);
    let newbie = server.token("newbie");
    let waiting = format!("{}/posts", new_thread(&server, &newbie));
    let staff = format!("{}/posts", staff_thread(&server));
    assert_eq!(server.get(&newbie, &waiting).status, 200);
    assert_eq!(server.get(&server.token("mod"), &staff).status, 200);
    let bob = server.token("bob");
    for path in [
        &*waiting,
        &staff,
        "/threads/999/posts",
        "/threads/007/posts",
    ] {
        for refused in [get(&server.api(path)), server.get(&bob, path)] {
            assert_eq!(refusal(&refused), (404, "not_found".into()), "{path}");
        }
    }
}

#[test]
fn what_cannot_be_listed_is_told_by_its_name() {
    let server = Server::new(&[]);
    let tea = tea(&server);
    let next = get(&server.api(&format!("{tea}?limit=1"))).json()["next"].clone();
    let next = next.as_str().unwrap();
    let post = get(&server.api(&tea)).json()["items"][0]["postId"].clone();
    let post = post.as_str().unwrap();
    for (path, query, name) in [
        (&*tea, "limit=0".to_owned(), "limit"),
        (&tea, "body=text".into(), "body"),
        (&tea, "since=1".into(), "since"),
        (&tea, "order=newest".into(), "order"),
        (&tea, "from=999".into(), "from"),
        (&tea, format!("from={post}&after={next}"), "from"),
        (&tea, "after=x".into(), "after"),
        ("/threads/1/posts", format!("after={next}"), "after"),
        ("/threads/1/posts", format!("from={post}"), "from"),
    ] {
        let refused = get(&server.api(&format!("{path}?{query}")));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
        let message = refused.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with(name), "{message}");
    }
}

#[test]
fn an_unchanged_list_is_not_sent_again() {
    let server = Server::new(&[]);
    let url = server.api(&tea(&server));
    let first = get(&url);
    let tag = first.header("etag").unwrap();
    let again = || send("GET", &url, &[("if-none-match", tag)], "").status;
    assert_eq!(again(), 304);
    reply(&server, &server.token("bob"));
    assert_eq!(again(), 200);
}
