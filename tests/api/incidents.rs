//! What went wrong on other boards' interfaces, and must not here. Most of it is shown where it belongs:
//!
//! - an existence oracle, one resource by two routes (4, 5), a vote by the poll's id (12): `visibility`
//! - answers of one caller kept for another (9), limits out of range (22), forged cursors (21): `headers`, `cursors`
//! - a token that outlives its owner's rights (15): `tokens`; one without scopes (16): `endpoints`
//! - tokens in a query, bad tokens taken for guests, Basic read as Bearer (17, 18, 20): `authentication`
//! - what only a board can get wrong is among the rules of `forum_api::conformance`: search and sorting over what is
//!   hidden (1, 2) in `sought`, counts that leak (3) in `forums` and `counting`, deleted text (8) in `deletion` and
//!   `sought`, moderators who may not read (10) beside the reference board's `access`, double votes (12) in `votes`, messages of
//!   others (13) in `messages`, traces of looking (14) in `receipts`, a thread without its first post (25) in `deletion`
//! - "1" for true (24): `queries`, `bodies`; keys used twice (30): `keys`; the wrong bucket's headers (31): `budgets`

use std::collections::BTreeSet;

use forum_api::scope::Surface;

use crate::support::walk::{ids, pages};
use crate::support::{Ask, Mood, Server, bare, outcome};

#[tokio::test]
async fn incident_01_search_returns_what_the_caller_may_not_see() {
    let server = Server::new();
    let alice = server.token("alice").await;
    server.board.be(Mood::Leaks);
    for narrowed in [
        "",
        "&forum=staff",
        "&by=alice",
        "&when=1y",
        "&in=titles",
        "&show=threads",
        "&sort=oldest",
        "&limit=1",
    ] {
        let path = format!("/search?q=tea{narrowed}");
        for page in pages(&server, &path, &alice).await {
            assert!(
                !String::from_utf8_lossy(&page.body).contains("staff"),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn incident_06_a_post_is_reached_through_another_thread() {
    let server = Server::new();
    let admin = server.token("admin").await;
    for path in [
        "/threads/open-1/posts/staff-1-1",
        "/threads/open-1/posts/open-2-1",
        "/threads/open-1/posts/open-1",
    ] {
        let edit = Ask::new("PATCH", path).json(r#"{"body":"x"}"#);
        for ask in [edit, Ask::new("DELETE", path)] {
            let answer = server.send(&ask.bearer(&admin)).await;
            assert_eq!(outcome(&answer), (404, Some("not_found")), "{path}");
        }
    }
    assert!(server.board.calls().is_empty(), "and nothing changes");
}

#[tokio::test]
async fn incident_07_a_profile_tells_more_than_is_public() {
    let profile = Server::new().send(&Ask::get("/members/bob")).await.json();
    let fields: BTreeSet<_> = profile
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let public = [
        "avatarUrl",
        "joinedAt",
        "lastSeenAt",
        "postCount",
        "reputation",
        "title",
        "userId",
        "username",
    ];
    assert_eq!(fields, BTreeSet::from(public));
}

#[tokio::test]
async fn incident_10_a_moderator_acts_where_they_may_not_read() {
    let server = Server::new();
    let moderator = server.token("moderator").await;
    server.board.shows("moderator", &["open"]);
    for mood in [Mood::Well, Mood::Leaks] {
        server.board.be(mood);
        let ask = Ask::new("DELETE", "/threads/staff-1/posts/staff-1-1").bearer(&moderator);
        assert_eq!(outcome(&server.send(&ask).await), (404, Some("not_found")));
    }
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn incident_13_a_message_is_read_by_who_is_no_party_to_it() {
    let server = Server::new();
    let (alice, admin) = (server.token("alice").await, server.token("admin").await);
    for (token, id) in [
        (&alice, "bob-1"),
        (&admin, "bob-1"),
        (&admin, "alice-1"),
        (&alice, "bob-99"),
    ] {
        let foreign = server
            .send(&Ask::get(&format!("/messages/{id}")).bearer(token))
            .await;
        let absent = server
            .send(&Ask::get("/messages/nobody-1").bearer(token))
            .await;
        assert_eq!(outcome(&foreign), (404, Some("not_found")));
        assert_eq!(bare(&foreign), bare(&absent));
    }
}

#[tokio::test]
async fn incident_14_looking_at_messages_leaves_traces() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let one = "/messages/alice-1";
    for ask in [
        Ask::get("/messages"),
        Ask::new("HEAD", "/messages"),
        Ask::new("HEAD", one),
        Ask::get("/search?q=tea"),
        Ask::get("/me"),
    ] {
        assert_eq!(server.send(&ask.bearer(&alice)).await.status, 200);
        assert!(!server.board.last_call().contains("Read"));
    }
    server.send(&Ask::get(one).bearer(&alice)).await;
    assert_eq!(server.board.last_call(), "message Read");
}

#[tokio::test]
async fn incident_19_examples_show_secrets() {
    for surface in [Surface::Full, Surface::Compact] {
        let document = Server::on(surface).send(&Ask::get("/openapi.json")).await;
        let text = String::from_utf8_lossy(&document.body).into_owned();
        let mut tokens = text.split("forum_pat_").skip(1);
        assert!(tokens.all(|after| after.starts_with('<')));
    }
}

#[tokio::test]
async fn incident_23_a_page_of_hidden_items_hides_what_follows() {
    let server = Server::new();
    let alice = server.token("alice").await;
    server.board.shows("alice", &["porch"]);
    server.board.be(Mood::Leaks);
    let pages = pages(&server, "/search?q=tea&limit=1", &alice).await;
    assert_eq!(ids(&pages, "forumId"), ["porch"]);
    assert_eq!(pages.len(), 4, "three pages of nothing come first");
}
