//! `GET /forums`.

use serde_json::{Value, json};

use crate::client::{Answer, get, send};
use crate::places::{new_thread, reply};
use crate::program::Server;
use crate::road::{Request, all, refusal};

/// What a guest, a member and a moderator are answered.
fn answers(server: &Server) -> [Answer; 3] {
    let of = |name| server.get(&server.token(name), "/forums");
    [get(&server.api("/forums")), of("bob"), of("mod")]
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/forums",
        body: "",
        owner: "bob",
        scope: "forums:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn each_caller_gets_the_forums_that_they_see_in_one_list() {
    let server = Server::new(&[]);
    let open = ["Announcements", "General", "Help"];
    let [guest, member, moderator] = answers(&server);
    assert_eq!(all(&guest, "title"), open);
    assert_eq!(all(&member, "title")[..3], open);
    assert_eq!(all(&member, "title")[3..], ["Members"]);
    assert_eq!(all(&moderator, "title")[3..], ["Members", "Staff"]);
    let parents = [json!(null), json!(null), json!("2"), json!(null)];
    assert_eq!(all(&member, "parentId"), parents);
    assert_eq!(all(&member, "position"), [1, 2, 1, 3]);
    let list = guest.json();
    assert!(list.get("next").is_none_or(Value::is_null), "{list}");
    assert_eq!(guest.header("link"), None);
}

#[test]
fn no_gap_tells_of_what_is_hidden() {
    let server = Server::new(&[]);
    let add = |rest: &[&str]| {
        let added = server.command(&[&["forum", "add"], rest].concat());
        added.out.trim_end().to_owned()
    };
    let hidden = add(&["Hidden", "--read", "staff"]);
    add(&["Under", "--parent", &hidden, "--read", "guests"]);
    let [guest, _, moderator] = answers(&server);
    assert_eq!(all(&guest, "title")[3..], ["Under"]);
    assert_eq!(all(&guest, "position"), [1, 2, 1, 3]);
    assert_eq!(all(&moderator, "position"), [1, 2, 1, 3, 4, 5, 1]);
}

#[test]
fn each_caller_is_told_where_they_may_start_threads() {
    let server = Server::new(&[]);
    let [guest, member, moderator] = answers(&server);
    assert_eq!(all(&guest, "canStartThread"), [false; 3]);
    assert_eq!(all(&member, "canStartThread"), [false, true, true, true]);
    assert_eq!(all(&moderator, "canStartThread"), [true; 5]);
}

#[test]
fn what_is_seen_by_all_counts_for_all() {
    let server = Server::new(&[]);
    let general = || {
        answers(&server).map(|answer| {
            let forum = &answer.json()["items"][1];
            let [threads, posts] =
                ["threadCount", "postCount"].map(|count| forum[count].as_i64().unwrap());
            (threads, posts, forum["lastActivityAt"].to_string())
        })
    };
    let before = general();
    let (threads, posts, at) = before[0].clone();
    assert_eq!((threads, posts), (5, 23));
    assert_eq!(before, [(); 3].map(|()| before[0].clone()));
    new_thread(&server, &server.token("newbie"));
    assert_eq!(general(), before);
    new_thread(&server, &server.token("alice"));
    reply(&server, &server.token("bob"));
    for after in general() {
        assert_eq!((after.0, after.1), (threads + 1, posts + 2));
        assert!(after.2 > at);
    }
}

#[test]
fn it_takes_no_query() {
    let server = Server::new(&[]);
    for query in ["limit=20", "after=x", "parentId=2"] {
        let refused = get(&server.api(&format!("/forums?{query}")));
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
    }
}

#[test]
fn an_unchanged_list_is_not_sent_again() {
    let server = Server::new(&[]);
    let [guest, ..] = answers(&server);
    let tag = guest.header("etag").unwrap();
    let again = || send("GET", &server.api("/forums"), &[("if-none-match", tag)], "");
    let unchanged = again();
    assert_eq!((unchanged.status, &*unchanged.body), (304, ""));
    assert_eq!(unchanged.header("x-ratelimit-remaining"), Some("118"));
    reply(&server, &server.token("bob"));
    assert_eq!(again().status, 200);
}
