//! `GET /forums/{forumId}/threads`.

use serde_json::json;

use crate::client::{get, send};
use crate::places::{new_thread, reply};
use crate::program::Server;
use crate::road::{Request, all, refusal};

const GENERAL: [&str; 5] = [
    "Which tea for a rainy afternoon?",
    "My sourdough will not rise",
    "Squeaking brakes in wet weather",
    "Cheap watches, best price!!!",
    "Books you read twice",
];

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/forums/2/threads",
        body: "",
        owner: "bob",
        scope: "threads:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn pages_come_newest_activity_first_and_link_to_the_next() {
    let server = Server::new(&[]);
    let path = "/forums/2/threads?limit=2";
    let (mut titles, mut query) = (Vec::new(), path.to_owned());
    loop {
        let page = get(&server.api(&query));
        titles.extend(all(&page, "title"));
        let Some(next) = page.json()["next"].as_str().map(str::to_owned) else {
            assert_eq!(page.header("link"), None);
            break;
        };
        query = format!("{path}&after={next}");
        let link = format!("</api/v1{query}>; rel=\"next\"").to_lowercase();
        assert_eq!(page.header("link"), Some(&*link));
    }
    assert_eq!(titles, GENERAL);
}

#[test]
fn a_reply_lifts_its_thread_and_is_what_is_new() {
    let server = Server::new(&[]);
    let newest = || get(&server.api("/forums/2/threads")).json()["items"][0].clone();
    let before = newest();
    let since = before["lastActivityAt"].as_str().unwrap();
    let new = || {
        let path = format!("/forums/2/threads?since={since}");
        all(&get(&server.api(&path)), "title")
    };
    assert!(new().is_empty());
    reply(&server, &server.token("bob"));
    assert_eq!(new(), [GENERAL[0]]);
    let after = newest();
    assert_eq!(after["threadId"], before["threadId"]);
    assert_eq!(after["lastPost"]["author"]["username"], "bob");
    assert_eq!(after["lastActivityAt"], after["lastPost"]["createdAt"]);
    assert_eq!(
        (&before["replyCount"], &after["replyCount"]),
        (&json!(5), &json!(6))
    );
}

#[test]
fn a_pinned_thread_is_not_lifted() {
    let server = Server::new(&[]);
    let list = || get(&server.api("/forums/2/threads"));
    let last = all(&list(), "threadId").pop().unwrap();
    let pin = ["thread", "pin", last.as_str().unwrap()];
    assert_eq!(server.command(&pin).status, 0);
    let pinned = [false, false, false, false, true];
    assert_eq!(all(&list(), "pinned"), pinned);
    assert_eq!(all(&list(), "title"), GENERAL);
}

#[test]
fn what_awaits_approval_is_for_its_author_and_moderators() {
    let server = Server::new(&[]);
    new_thread(&server, &server.token("newbie"));
    for (name, seen) in [("newbie", 6), ("mod", 6), ("admin", 6), ("bob", 5)] {
        let list = server.get(&server.token(name), "/forums/2/threads");
        assert_eq!(all(&list, "state").len(), seen, "{name}");
    }
    let list = get(&server.api("/forums/2/threads"));
    assert_eq!(all(&list, "state"), ["visible"; 5]);
}

#[test]
fn a_forum_that_is_not_seen_is_not_there() {
    let server = Server::new(&[]);
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    for (forum, expected) in [
        ("1", [200, 200, 200]),
        ("4", [404, 200, 200]),
        ("5", [404, 404, 200]),
        ("999", [404; 3]),
        ("007", [404; 3]),
        ("%C3%A4", [404; 3]),
    ] {
        let path = format!("/forums/{forum}/threads");
        let answers = [
            get(&server.api(&path)),
            server.get(&bob, &path),
            server.get(&moderator, &path),
        ];
        for (answer, status) in answers.iter().zip(expected) {
            let code = if status == 404 { "not_found" } else { "" };
            assert_eq!(refusal(answer), (status, code.into()), "{forum}");
        }
    }
}

#[test]
fn what_cannot_be_listed_is_told_by_its_name() {
    let server = Server::new(&[]);
    let path = server.api("/forums/2/threads");
    let next = get(&format!("{path}?limit=1")).json()["next"].clone();
    let next = next.as_str().unwrap();
    for (path, query, name) in [
        (&*path, "limit=0".to_owned(), "limit"),
        (&path, "limit=101".into(), "limit"),
        (&path, "limit=ten".into(), "limit"),
        (&path, "limit=1&limit=1".into(), "limit"),
        (&path, "since=yesterday".into(), "since"),
        (&path, "sort=oldest".into(), "sort"),
        (&path, format!("after={next}x"), "after"),
        (
            &path,
            format!("after={next}&since=2026-01-01T00:00:00Z"),
            "after",
        ),
        (
            &server.api("/forums/1/threads"),
            format!("after={next}"),
            "after",
        ),
    ] {
        let refused = get(&format!("{path}?{query}"));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
        let message = refused.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with(name), "{message}");
    }
}

#[test]
fn an_unchanged_list_is_not_sent_again() {
    let server = Server::new(&[]);
    let path = server.api("/forums/2/threads");
    let first = get(&path);
    let tag = first.header("etag").unwrap();
    let again = || send("GET", &path, &[("if-none-match", tag)], "").status;
    assert_eq!(again(), 304);
    reply(&server, &server.token("bob"));
    assert_eq!(again(), 200);
}
