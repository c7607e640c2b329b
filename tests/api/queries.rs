//! Strict decoding of queries and paths (`docs/protocol.md`, section 5.4).

use crate::support::*;

const POSTS: &str = "/threads/open-1/posts";

#[rustfmt::skip]
pub(crate) const REJECTED: &[(&str, &str)] = &[
    ("/forums?limit=5", "limit: unknown field or parameter"),
    ("/me?x=", "x: unknown field or parameter"),
    ("/threads/open-1/posts?Limit=5", "Limit: unknown field or parameter"),
    ("/threads/open-1/posts?limit=5&limit=5", "limit: given more than once"),
    ("/threads/open-1/posts?limit=5&%6cimit=5", "limit: given more than once"),
    ("/threads/open-1/posts?limit=-1", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=0", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=101", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=1e9", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=10.0", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=+5", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=%2B5", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=5%20", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=%D9%A5", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=99999999999999999999", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit=", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?limit", "limit: expected 1 to 100"),
    ("/threads/open-1/posts?since=yesterday", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=1767225600", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-01-31", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/forums/open/threads?after=x&since=9999-12-31T23:59:59-01:00", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=0000-01-01T00:00:00%2B01:00", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-01-31T12:00Z", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=20260131T120000Z", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-01-31T12:00:00", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-01-31T12:00:00Z[UTC]", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-01-31T12:00:00Z01:00", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?since=2026-02-30T12:00:00Z", "since: expected an RFC 3339 time, for example 2026-01-31T12:00:00Z"),
    ("/threads/open-1/posts?body=Both", "body: expected one of both, source, html"),
    ("/threads/open-1/posts?from=other", "from: expected a post of this thread"),
    ("/threads/open-1/posts?from=no+id", "from: expected a post of this thread"),
    ("/threads/open-1/posts?from=staff-1-1", "from: expected a post of this thread"),
    ("/threads/open-1/posts?after=%zz", "after: expected percent-encoded UTF-8"),
    ("/threads/open-1/posts?after=%ff", "after: expected percent-encoded UTF-8"),
    ("/threads/open-1/posts?%ff=1", "query: expected percent-encoded UTF-8"),
    ("/threads/open-1/posts?after=%00", "after: expected text without U+0000 or a byte-order mark"),
    ("/forums/open/threads?from=open-1-1", "from: unknown field or parameter"),
    ("/messages?folder=trash", "folder: expected one of inbox, sent"),
    ("/messages?folder=", "folder: expected one of inbox, sent"),
    ("/messages?unread=yes", "unread: expected true or false"),
    ("/messages?unread=1", "unread: expected true or false"),
    ("/messages?unread=TRUE", "unread: expected true or false"),
    ("/messages?unread=null", "unread: expected true or false"),
    ("/messages?unread", "unread: expected true or false"),
    ("/messages/alice-1?peek=true", "peek: unknown field or parameter"),
    ("/subscriptions?target=post", "target: expected one of thread, forum"),
    ("/search", "q: required"),
    ("/search?q=", "q: expected 1 to 200 characters with at least one word to search for, and at most 32 words"),
    ("/search?q=-tea", "q: expected 1 to 200 characters with at least one word to search for, and at most 32 words"),
    ("/search?q=!?", "q: expected 1 to 200 characters with at least one word to search for, and at most 32 words"),
    ("/search?q=tea%EF%BB%BF", "q: expected text without U+0000 or a byte-order mark"),
    ("/search?q=tea&when=25h", "when: expected 24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01"),
    ("/search?q=tea&when=..", "when: expected 24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01"),
    ("/search?q=tea&in=everywhere", "in: expected one of all, titles, posts"),
    ("/search?q=tea&show=members", "show: expected one of posts, threads"),
    ("/search?q=tea&sort=score", "sort: expected one of relevance, newest, oldest"),
    ("/search?q=tea&forum=", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum=,", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum=open,", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum=,open", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum=open,,staff", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&forum=open,no%20id", "forum: expected comma-separated forum ids"),
    ("/search?q=tea&by=", "by: expected a userId or @username"),
    ("/search?q=tea&by=@", "by: expected a userId or @username"),
    ("/search?q=tea&by=a%20b", "by: expected a userId or @username"),
    ("/search?q=tea&by=j%C3%BCrgen", "by: expected a userId or @username"),
    ("/search?q=tea&by=@%00", "by: expected text without U+0000 or a byte-order mark"),
    ("/search?q=tea&when=", "when: expected 24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01"),
    ("/search?q=tea&forum=1&forum=2", "forum: given more than once"),
    ("/search?q=tea&within=all", "within: unknown field or parameter"),
    ("/threads/open-1/posts?gr%C3%B6%C3%9Fe=1", "größe: unknown field or parameter"),
    ("/threads/open-1/posts?%00=1", "query: expected text without U+0000 or a byte-order mark"),
];

#[tokio::test]
async fn an_invalid_query_is_a_400_whose_message_names_the_parameter() {
    let (server, alice) = Server::with_alice().await;
    let page = server.send(&Request::get(POSTS)).await.json();
    let after = page["next"].as_str().unwrap();
    let both = format!("{POSTS}?from=open-1-3&after={after}");
    let long = format!("/search?q={}", "x".repeat(201));
    let text = "q: expected 1 to 200 characters with at least one word to search for, and at most 32 words";
    let from = "from: expected a request without after";
    let more = [(&*both, from), (&long, text)];
    for (path, expected) in REJECTED.iter().copied().chain(more) {
        let response = server.send(&Request::get(path).bearer(&alice)).await;
        assert_eq!(outcome(&response), BAD_REQUEST, "{path}");
        assert_eq!(message(&response), expected, "{path}");
    }
    let calls = server.board.calls().len();
    for row in ROWS.iter().filter(|row| row.method != "GET") {
        let request = Request::at(row, &format!("{}?x=1", row.path));
        let response = server.send(&request.bearer(&alice)).await;
        assert_eq!(outcome(&response), BAD_REQUEST, "{row:?}");
        assert_eq!(message(&response), "x: unknown field or parameter");
    }
    assert_eq!(server.board.calls().len(), calls, "no command was run");
}

#[rustfmt::skip]
const ACCEPTED: &[(&str, &str)] = &[
    (POSTS, "since: None, from: None, sort: Oldest, body: Both }, limit: PageLimit(20), after: None"),
    ("/threads/open-1/posts?limit=100&body=html", "body: Html }, limit: PageLimit(100), after: None"),
    ("/threads/open-1/posts?from=open-1-3", "from: Some(PostId(open-1-3))"),
    ("/threads/open-1/posts?since=1970-01-01T01:00:00.5%2B01:00", "since: Some(Timestamp(500))"),
    ("/messages", "folder: Inbox, unread: None"),
    ("/messages?unread=false&folder=sent", "folder: Sent, unread: Some(false)"),
    ("/subscriptions?target=forum", "target: Some(Forum)"),
    ("/search?q=gr%C3%BCn+tea", "text: \"grün tea\""),
    ("/search?q=tea&forum=open,absent", "forum: [ForumId(open), ForumId(absent)]"),
    ("/search?q=tea&by=@bob", "by: Some(Name(\"bob\"))"),
    ("/search?q=tea&by=%40j%C3%BCrgen", "by: Some(Name(\"jürgen\"))"),
    ("/search?q=tea&by=999", "by: Some(Id(UserId(999)))"),
    ("/search?q=tea&when=..2026-02-01&in=titles&show=threads&sort=oldest", "field: Titles, show: Threads, sort: Oldest"),
    ("/members/%40bob", "Name(\"bob\")"),
    ("/members/@j%C3%BCrgen", "Name(\"jürgen\")"),
    ("/members/bob", "Id(UserId(bob))"),
];

#[tokio::test]
async fn a_valid_query_reaches_the_board() {
    let (server, alice) = Server::with_alice().await;
    for (path, expected) in ACCEPTED {
        server.send(&Request::get(path).bearer(&alice)).await;
        let call = server.board.last_call();
        assert!(call.contains(expected), "{path} {call}");
    }
    let longest = Request::get(&format!("/search?q={}", "x".repeat(200)));
    server.expect(longest, (200, None)).await;
}

#[tokio::test]
async fn only_a_get_marks_a_message_as_read() {
    let (server, alice) = Server::with_alice().await;
    for (method, path, call) in [
        ("HEAD", "/messages/alice-1", "open_message (MessageId(alice-1), No)"),
        ("GET", "/messages", "list_messages"),
        ("GET", "/me", "get_me"),
        ("GET", "/messages/alice-1", "open_message (MessageId(alice-1), Yes)"),
    ] {
        let request = Request::new(method, path).bearer(&alice);
        server.expect(request, (200, None)).await;
        assert!(server.board.last_call().starts_with(call));
    }
}

#[tokio::test]
async fn names_that_are_long_unprintable_or_tokens_are_not_repeated() {
    let (server, alice) = Server::with_alice().await;
    let long = "x".repeat(65);
    for name in [&*long, &*alice, "%3Cb%3E", "%E2%80%AE", &alice[..30]] {
        let query = Request::get(&format!("{POSTS}?{name}=1"));
        let body = Request::post(POSTS, &format!(r#"{{"{name}":1}}"#));
        for request in [query, body] {
            let response = server.send(&request.bearer(&alice)).await;
            let text = message(&response);
            assert_eq!(text, "?: unknown field or parameter", "{name}");
        }
    }
    let longest = "x".repeat(64);
    let request = Request::get(&format!("{POSTS}?{longest}=1"));
    let response = server.send(&request).await;
    let expected = format!("{longest}: unknown field or parameter");
    assert_eq!(message(&response), expected);
}
