//! Step 1: the table of endpoints, and the routing of a request to a row (`docs/protocol.md`, sections 2.2 and 12).

use http::Method;

use super::cache_policy::CachePolicy;
use super::endpoint::{ApiEndpoint, Handler};
use super::extract::params::RawPathParams;
use crate::host::{Caller, MemberCaller};
use crate::model::{
    CursorPage, ErrorCode, ForumList, Me, Member, Message, MessageSummary, Poll, Post, Rating,
    SearchHit, Subscription, Thread,
};
use crate::scope::Scope::*;
use crate::scope::Surface::{self, Compact, Full};

/// Path of the OpenAPI document, below the base path.
pub(super) const OPENAPI_PATH: &str = "/openapi.json";

/// Target of a request.
pub(super) enum Route<'a> {
    Endpoint(&'static ApiEndpoint, RawPathParams<'a>),
    OpenApi,
}

/// Finds the target of a request. Compares the path as it was sent, without decoding or normalizing it.
///
/// Returns `None` for an unknown path, and for a method that the path does not have.
pub(super) fn match_route<'a>(
    surface: Surface,
    base_path: &str,
    method: &Method,
    path: &'a str,
) -> Option<Route<'a>> {
    let method = match *method {
        Method::HEAD => &Method::GET,
        _ => method,
    };
    let path = path.strip_prefix(base_path)?;
    if path == OPENAPI_PATH {
        return (*method == Method::GET).then_some(Route::OpenApi);
    }
    let mut served = endpoints(surface).filter(|endpoint| endpoint.method == *method);
    served.find_map(|endpoint| {
        let params = match_path(endpoint.path, path)?;
        Some(Route::Endpoint(endpoint, params))
    })
}

/// Returns the variables of a path that matches the template. Compares byte by byte, because most paths differ from a
/// template in one of the first bytes.
fn match_path<'a>(template: &str, path: &'a str) -> Option<RawPathParams<'a>> {
    let mut params = RawPathParams::default();
    let mut values = params.0.iter_mut();
    let mut expected = template.bytes();
    let mut rest = path.as_bytes();
    while let Some(byte) = expected.next() {
        if byte == b'{' {
            let end = rest.iter().position(|byte| *byte == b'/');
            let (segment, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            *values.next()? = variable(segment)?;
            rest = after;
            expected.find(|byte| *byte == b'}');
        } else {
            rest = rest.strip_prefix(&[byte])?;
        }
    }
    rest.is_empty().then_some(params)
}

/// Returns a path segment as text; `None` if it is empty or contains an encoded slash.
fn variable(segment: &[u8]) -> Option<&str> {
    let is_slash = |bytes: &[u8]| bytes.eq_ignore_ascii_case(b"%2f");
    let has_slash = segment.windows(3).any(is_slash);
    let is_valid = !segment.is_empty() && !has_slash;
    str::from_utf8(segment).ok().filter(|_| is_valid)
}

/// Returns the endpoints of a surface.
pub(super) fn endpoints(surface: Surface) -> impl Iterator<Item = &'static ApiEndpoint> {
    let is_served = move |endpoint: &&ApiEndpoint| endpoint.surfaces.contains(&surface);
    ENDPOINTS.iter().filter(is_served)
}

/// Returns method and path template of the endpoint with this operation id.
#[cfg(feature = "panel")]
pub(crate) fn find_operation(operation_id: &str) -> Option<(&'static Method, &'static str)> {
    let mut endpoints = ENDPOINTS.iter();
    let endpoint = endpoints.find(|endpoint| endpoint.operation_id == operation_id)?;
    Some((&endpoint.method, endpoint.path))
}

/// The table of endpoints. Routing, access checks, rate limits, decoding, responses and the OpenAPI document use it.
#[rustfmt::skip]
static ENDPOINTS: &[ApiEndpoint] = &[
    ApiEndpoint {
        method: Method::GET, path: "/me", operation_id: "getMe", tag: "me",
        summary: "Returns the token's owner, scopes and expiry.",
        notes: "Call this operation first to check the token.",
        scope: MembersRead, cost: 1, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::NoStore, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, (), params| b.get_me(m, params), Me::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/forums", operation_id: "listForums", tag: "forums",
        summary: "Lists the forums that the caller can see.",
        notes: "Each forum has the id of its parent. Parents come before their children.",
        scope: ForumsRead, cost: 1, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, (), params| b.list_forums(c, params), ForumList::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/forums/{forumId}/threads", operation_id: "listThreads", tag: "forums",
        summary: "Lists the threads of a forum, newest activity first.",
        notes: "Pinned threads are not sorted first; `pinned` marks them.",
        scope: ThreadsRead, cost: 1, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(
            |b, c: &Caller, path, params| b.list_threads(c, path, params),
            || CursorPage::example([Thread::example()]),
        ),
    },
    ApiEndpoint {
        method: Method::POST, path: "/forums/{forumId}/threads", operation_id: "createThread", tag: "forums",
        summary: "Starts a thread.",
        notes: "`poll` creates a poll with the thread. `state` in the response shows whether the thread awaits approval.",
        scope: ThreadsWrite, cost: 10, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, path, new| b.create_thread(m, path, new), Thread::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}", operation_id: "getThread", tag: "threads",
        summary: "Returns a thread's metadata.",
        notes: "",
        scope: ThreadsRead, cost: 1, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, path, params| b.get_thread(c, path, params), Thread::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}/posts", operation_id: "listPosts", tag: "threads",
        summary: "Lists the posts of a thread, oldest first.",
        notes: "To read only new posts, set `since` to the creation time of the newest post that you have. To start at a \
            certain post, set `from` to its id. A post that is approved or restored later keeps its creation time, so a list \
            with `since` can omit it.",
        scope: PostsRead, cost: 1, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(
            |b, c: &Caller, path, params| b.list_posts(c, path, params),
            || CursorPage::example([Post::example(), Post::reply_example()]),
        ),
    },
    ApiEndpoint {
        method: Method::POST, path: "/threads/{threadId}/posts", operation_id: "createPost", tag: "threads",
        summary: "Posts a reply.",
        notes: "`inReplyTo` is the id of the post that is replied to. If that post is hidden or not in the thread, the response is \
            404. `state` in the response shows whether the post awaits approval.",
        scope: PostsWrite, cost: 5, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, path, new| b.create_post(m, path, new), Post::reply_example),
    },
    ApiEndpoint {
        method: Method::PATCH, path: "/threads/{threadId}/posts/{postId}", operation_id: "updatePost", tag: "threads",
        summary: "Edits a post.",
        notes: "The post's `canEdit` shows whether the caller may edit it. Set `expectedVersion` to the \
            `version` that you read: if the post has changed since then, the response is 409 and the post is not changed. \
            To read one post, list the posts of its thread with the post's id as `from` and with `limit=1`.",
        scope: PostsWrite, cost: 5, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::ok(
            |b, m: &MemberCaller, path, update| b.update_post(m, path, update),
            Post::updated_example,
        ),
    },
    ApiEndpoint {
        method: Method::DELETE, path: "/threads/{threadId}/posts/{postId}", operation_id: "deletePost", tag: "threads",
        summary: "Soft-deletes a post.",
        notes: "Deleting the first post deletes the thread. The post's `canDelete` shows whether the caller may delete it. The \
            board's own tools can restore a deleted post; this API cannot. The response to a second DELETE of the same post \
            is 404. For a moderator, who can still see the post, it is 409.",
        scope: PostsWrite, cost: 5, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::no_content(|b, m: &MemberCaller, path, params| b.delete_post(m, path, params)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/members/{userId}", operation_id: "getMember", tag: "members",
        summary: "Returns a member's public profile.",
        notes: "",
        scope: MembersRead, cost: 1, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, path, params| b.get_member(c, path, params), Member::example),
    },
    ApiEndpoint {
        method: Method::POST, path: "/members/{userId}/reputation", operation_id: "rateMember", tag: "members",
        summary: "Rates a member, optionally for one of their posts.",
        notes: "The board's settings limit `points` and decide whether negative points and empty comments are \
            allowed. The response to a rating with 0 points, or to one that the settings do not allow, is 422. The response to a \
            second rating of the same post is 409. The response to a second rating of the same member within 24 hours is \
            also 409 if neither rating names a post.",
        scope: ReputationWrite, cost: 5, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, path, new| b.rate_member(m, path, new), Rating::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/messages", operation_id: "listMessages", tag: "messages",
        summary: "Lists one folder of the caller's private messages, newest first.",
        notes: "Listing a message does not mark it as read.",
        scope: MessagesRead, cost: 1, surfaces: &[Full],
        cache_policy: CachePolicy::NoStore, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(
            |b, m: &MemberCaller, (), params| b.list_messages(m, params),
            || CursorPage::example([MessageSummary::example()]),
        ),
    },
    ApiEndpoint {
        method: Method::POST, path: "/messages", operation_id: "sendMessage", tag: "messages",
        summary: "Sends a private message.",
        notes: "The response is the sender's copy. The sender and each recipient have their own copy with its own id. \
            If a recipient does not exist, the response is 404.",
        scope: MessagesWrite, cost: 10, surfaces: &[Full],
        cache_policy: CachePolicy::NoStore, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, (), new| b.send_message(m, new), Message::sent_example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/messages/{messageId}", operation_id: "openMessage", tag: "messages",
        summary: "Opens a private message and marks it as read.",
        notes: "The first opening also sends a receipt to the sender if the sender requested one. The response has no `etag`. \
            HEAD does not mark the message as read and sends no receipt.",
        scope: MessagesRead, cost: 1, surfaces: &[Full],
        cache_policy: CachePolicy::NoStore, has_side_effects: true, board_errors: &[],
        handler: &Handler::ok(|b, m: &MemberCaller, path, params| b.open_message(m, path, params), Message::example),
    },
    ApiEndpoint {
        method: Method::GET, path: "/threads/{threadId}/poll", operation_id: "getPoll", tag: "threads",
        summary: "Returns a thread's poll with running totals and the caller's own vote.",
        notes: "If the thread has no poll, the response is 404.",
        scope: ThreadsRead, cost: 1, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(|b, c: &Caller, path, params| b.get_poll(c, path, params), Poll::example),
    },
    ApiEndpoint {
        method: Method::POST, path: "/polls/{pollId}/votes", operation_id: "vote", tag: "polls",
        summary: "Votes in a thread's poll.",
        notes: "If the caller has already voted, the response is 409, unless `canChangeVote` of the poll is `true`. If the poll \
            is closed, the response is 403. The response to a vote without options, with a repeated option, or with more \
            than `maxChoices` options is 422. If an option is unknown, the response is 404.",
        scope: PollsWrite, cost: 5, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, path, new| b.vote(m, path, new), Poll::example),
    },
    ApiEndpoint {
        method: Method::PATCH, path: "/polls/{pollId}", operation_id: "updatePoll", tag: "polls",
        summary: "Edits a poll that the caller created or moderates.",
        notes: "Omitted fields keep their value; a body without changes is a 400. After the first vote, the poll's \
            author can no longer change the question or the options, or lower `maxChoices` below the number of options in \
            an existing vote: the response is 409. These limits do not apply to moderators. For fewer than two options, \
            duplicate texts, or a `maxChoices` above the number of options, the response is 422. If an `optionId` is \
            unknown, the response is 404. A `closesAt` in the past closes the poll. Set `expectedVersion` to the `version` that \
            you read, so that you do not overwrite another edit.",
        scope: PollsWrite, cost: 5, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::ok(
            |b, m: &MemberCaller, path, update| b.update_poll(m, path, update),
            Poll::updated_example,
        ),
    },
    ApiEndpoint {
        method: Method::GET, path: "/subscriptions", operation_id: "listSubscriptions", tag: "subscriptions",
        summary: "Lists the caller's subscriptions, newest first.",
        notes: "Subscriptions to content the caller may no longer see are omitted until access is restored.",
        scope: SubscriptionsRead, cost: 1, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(
            |b, m: &MemberCaller, (), params| b.list_subscriptions(m, params),
            || CursorPage::example([Subscription::example()]),
        ),
    },
    ApiEndpoint {
        method: Method::POST, path: "/subscriptions", operation_id: "subscribe", tag: "subscriptions",
        summary: "Subscribes to a thread or a forum.",
        notes: "The response is 201 for a new subscription, and 200 with the existing subscription if there is one. If the \
            target does not exist or is hidden, the response is 404.",
        scope: SubscriptionsWrite, cost: 2, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::created(|b, m: &MemberCaller, (), new| b.subscribe(m, new), Subscription::example),
    },
    ApiEndpoint {
        method: Method::DELETE, path: "/subscriptions/{target}/{targetId}", operation_id: "unsubscribe", tag: "subscriptions",
        summary: "Removes a subscription to a thread or a forum.",
        notes: "The caller can also unsubscribe from a target that has become hidden. If the subscription \
            does not exist, the response is 404.",
        scope: SubscriptionsWrite, cost: 2, surfaces: &[Full],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: true, board_errors: ErrorCode::BOARD,
        handler: &Handler::no_content(|b, m: &MemberCaller, path, params| b.unsubscribe(m, path, params)),
    },
    ApiEndpoint {
        method: Method::GET, path: "/search", operation_id: "search", tag: "search",
        summary: "Searches the threads and posts that the caller can read.",
        notes: "All words of `q` are required. `\"a phrase\"` matches adjacent words; `-word` excludes a word. A forum or \
            member that does not exist or is hidden gives no hits.",
        scope: SearchRead, cost: 10, surfaces: &[Full, Compact],
        cache_policy: CachePolicy::PrivateNoCache, has_side_effects: false, board_errors: &[],
        handler: &Handler::ok(
            |b, c: &Caller, (), params| b.search(c, params),
            || CursorPage::example([SearchHit::example()]),
        ),
    },
];

#[cfg(test)]
mod tests {
    use schemars::SchemaGenerator;

    use super::ENDPOINTS;

    #[test]
    fn a_path_has_the_variables_of_its_handler_and_no_two_rows_match_the_same_request() {
        let is_variable = |segment: &&str| segment.starts_with('{');
        let mut shapes = Vec::new();
        for endpoint in ENDPOINTS {
            let mut generator = SchemaGenerator::default();
            let schemas = endpoint
                .handler
                .describe(&mut generator.clone(), &mut generator);
            let names = schemas
                .path_params
                .iter()
                .map(|(name, _)| format!("{{{name}}}"));
            let segments = endpoint.path.split('/');
            let variables: Vec<_> = segments.clone().filter(is_variable).collect();
            assert_eq!(variables, names.collect::<Vec<_>>(), "{}", endpoint.path);
            let shape = segments.map(|part| if is_variable(&part) { "{}" } else { part });
            let shape = (&endpoint.method, shape.collect::<Vec<_>>());
            assert!(!shapes.contains(&shape), "{}", endpoint.path);
            shapes.push(shape);
        }
    }
}
