//! The table of endpoints as data, each with a request that succeeds for alice on the [`FullBoard`](super::FullBoard).

use super::*;

/// A row of the table, and a request that succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) method: &'static str,
    pub(crate) template: &'static str,
    pub(crate) scope: &'static str,
    pub(crate) cost: u32,
    pub(crate) needs_token: bool,
    /// True if the compact surface has the row.
    pub(crate) compact: bool,
    pub(crate) path: &'static str,
    pub(crate) body: &'static str,
    pub(crate) success: u16,
}

const REQUIRED: bool = true;
const OPTIONAL: bool = false;
const BOTH: bool = true;
const FULL: bool = false;

#[rustfmt::skip]
pub(crate) static ROWS: &[Row] = &[
    row("GET",    "/me",                                "members:read",        1,  REQUIRED, BOTH, "/me", "", 200),
    row("GET",    "/forums",                            "forums:read",         1,  OPTIONAL, BOTH, "/forums", "", 200),
    row("GET",    "/forums/{forumId}/threads",          "threads:read",        1,  OPTIONAL, BOTH, "/forums/open/threads", "", 200),
    row("POST",   "/forums/{forumId}/threads",          "threads:write",       10, REQUIRED, FULL, "/forums/open/threads", r#"{"title":"Tea","body":"Green?"}"#, 201),
    row("GET",    "/threads/{threadId}",                "threads:read",        1,  OPTIONAL, BOTH, "/threads/open-1", "", 200),
    row("GET",    "/threads/{threadId}/posts",          "posts:read",          1,  OPTIONAL, BOTH, "/threads/open-1/posts", "", 200),
    row("POST",   "/threads/{threadId}/posts",          "posts:write",         5,  REQUIRED, BOTH, "/threads/open-1/posts", r#"{"body":"Green."}"#, 201),
    row("PATCH",  "/threads/{threadId}/posts/{postId}", "posts:write",         5,  REQUIRED, FULL, "/threads/open-1/posts/open-1-1", r#"{"body":"Black."}"#, 200),
    row("DELETE", "/threads/{threadId}/posts/{postId}", "posts:write",         5,  REQUIRED, FULL, "/threads/open-1/posts/open-1-1", "", 204),
    row("GET",    "/members/{userId}",                  "members:read",        1,  OPTIONAL, FULL, "/members/bob", "", 200),
    row("POST",   "/members/{userId}/reputation",       "reputation:write",    5,  REQUIRED, FULL, "/members/bob/reputation", r#"{"points":1}"#, 201),
    row("GET",    "/messages",                          "messages:read",       1,  REQUIRED, FULL, "/messages", "", 200),
    row("POST",   "/messages",                          "messages:write",      10, REQUIRED, FULL, "/messages", r#"{"to":["bob"],"subject":"Tea","body":"At five?"}"#, 201),
    row("GET",    "/messages/{messageId}",              "messages:read",       1,  REQUIRED, FULL, "/messages/alice-1", "", 200),
    row("GET",    "/threads/{threadId}/poll",           "threads:read",        1,  OPTIONAL, FULL, "/threads/open-1/poll", "", 200),
    row("POST",   "/polls/{pollId}/votes",              "polls:write",         5,  REQUIRED, FULL, "/polls/open-1/votes", r#"{"optionIds":["1"]}"#, 201),
    row("PATCH",  "/polls/{pollId}",                    "polls:write",         5,  REQUIRED, FULL, "/polls/open-1", r#"{"question":"Which?"}"#, 200),
    row("GET",    "/subscriptions",                     "subscriptions:read",  1,  REQUIRED, FULL, "/subscriptions", "", 200),
    row("POST",   "/subscriptions",                     "subscriptions:write", 2,  REQUIRED, FULL, "/subscriptions", r#"{"target":"forum","targetId":"open"}"#, 201),
    row("DELETE", "/subscriptions/{target}/{targetId}", "subscriptions:write", 2,  REQUIRED, FULL, "/subscriptions/thread/open-1", "", 204),
    row("GET",    "/search",                            "search:read",         10, OPTIONAL, BOTH, "/search?q=tea", "", 200),
];

#[rustfmt::skip]
pub(crate) const FULL_SCOPES: [&str; 13] = [
    "forums:read", "threads:read", "threads:write", "posts:read", "posts:write", "members:read", "messages:read",
    "messages:write", "polls:write", "reputation:write", "subscriptions:read", "subscriptions:write", "search:read",
];

#[rustfmt::skip]
pub(crate) const COMPACT_SCOPES: [&str; 8] = [
    "forums:read", "threads:read", "threads:write", "posts:read", "posts:write", "members:read", "search:read",
    "admin:read",
];

/// The scopes of both surfaces, and a retired one.
pub(crate) fn every_scope() -> impl Iterator<Item = &'static str> {
    let scopes = FULL_SCOPES.into_iter();
    scopes.chain(["admin:read", "retired:read"])
}

/// The rows of a surface.
pub(crate) fn rows(surface: Surface) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| surface == Surface::Full || row.compact)
}

#[expect(clippy::too_many_arguments, reason = "they are the columns of a table")]
const fn row(
    method: &'static str,
    template: &'static str,
    scope: &'static str,
    cost: u32,
    needs_token: bool,
    compact: bool,
    path: &'static str,
    body: &'static str,
    success: u16,
) -> Row {
    Row { method, template, scope, cost, needs_token, compact, path, body, success }
}
