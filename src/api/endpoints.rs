//! Step 1: the table of endpoints, and the routing of a request to a row ([protocol](crate::guide::protocol), sections
//! 2.2 and 12).

use std::sync::Arc;

use async_trait::async_trait;
use http::Method;

use super::inputs::{PostList, SearchList, ThreadList};
use super::resources::{SubscriptionPath, with_complete_totals, with_token};
use crate::environment::Environment;
use crate::host::{Board, BoardError, BoardResult, Caller, MemberCaller, ResourceRef};
use crate::model::{
    CursorPage, ForumId, ForumList, Me, Member, Message, MessageSummary, Poll, Post, Rating,
    SearchHit, Subscription, Thread,
};
use crate::operation::{Json, Operation, PathSegments, Tag, TokenOwner};
use crate::scope::Scope;

/// Path of the OpenAPI document, below the base path.
pub(super) const OPENAPI_PATH: &str = "/openapi.json";

/// Target of a request.
pub(crate) enum Route<'a> {
    Operation(&'a Operation, PathSegments<'a>),
    OpenApi,
}

/// Finds the target of a request. Compares the path as it was sent, without decoding or normalizing it.
///
/// Returns `None` for an unknown path, and for a method that the path does not have.
pub(super) fn match_route<'a>(
    operations: &'a [Operation],
    base_path: &str,
    method: &Method,
    path: &'a str,
) -> Option<Route<'a>> {
    let is_head = *method == Method::HEAD;
    let method = if is_head { &Method::GET } else { method };
    let path = path.strip_prefix(base_path)?;
    if path == OPENAPI_PATH {
        return (*method == Method::GET).then_some(Route::OpenApi);
    }
    let mut candidates = operations
        .iter()
        .map(|operation| (operation, &operation.spec))
        .filter(|(_, spec)| spec.method == *method && (spec.accepts_head || !is_head));
    candidates.find_map(|(operation, spec)| {
        let params = match_path(spec.path, path)?;
        Some(Route::Operation(operation, params))
    })
}

/// Returns the variables of a path that matches the template. Compares byte by byte, because most paths differ from a
/// template in one of the first bytes.
fn match_path<'a>(template: &str, path: &'a str) -> Option<PathSegments<'a>> {
    let mut params = PathSegments::default();
    let mut values = params.0.iter_mut();
    let mut expected = template.bytes();
    let mut rest = path.as_bytes();
    while let Some(byte) = expected.next() {
        if byte == b'{' {
            let end = rest.iter().position(|byte| *byte == b'/');
            let (segment, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
            *values.next()? = Some(variable(segment)?);
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

/// Returns a board without operations, to describe the API without a host.
pub(super) fn no_board() -> Arc<dyn Board> {
    struct NoBoard;

    #[async_trait]
    impl Board for NoBoard {
        async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
            Err(BoardError::NotImplemented)
        }
    }

    Arc::new(NoBoard)
}

/// Returns the operations of the specification that a service with this environment has.
pub(super) fn served_operations(
    board: &Arc<dyn Board>,
    environment: &Environment,
) -> Vec<Operation> {
    let mut operations = board_operations(board);
    operations.retain(|Operation { spec, .. }| {
        spec.surfaces.contains(&environment.surface) && environment.has_operation(spec.id)
    });
    operations
}

const ME: Tag = Tag::new("me", "The token and its owner.");
const FORUMS: Tag = Tag::new("forums", "The forums of the board.");
const THREADS: Tag = Tag::new("threads", "Threads of forums.");
const POSTS: Tag = Tag::new("posts", "Posts of threads.");
const MEMBERS: Tag = Tag::new("members", "Public profiles.");
const RATINGS: Tag = Tag::new("ratings", "Ratings of the reputation of members.");
const MESSAGES: Tag = Tag::new("messages", "The caller's private messages.");
const POLLS: Tag = Tag::new("polls", "Polls of threads, and votes.");
const SUBSCRIPTIONS: Tag = Tag::new(
    "subscriptions",
    "The threads and forums that the caller is subscribed to. The API does not notify subscribers.",
);
const SEARCH: Tag = Tag::new("search", "Full-text search.");

const OWN_POST: &str = "Use the id of a post of yours: the `postId` of a response of `createPost`.";

/// Returns the operations of the specification over `board`. Routing, access checks, rate limits, decoding, responses
/// and the OpenAPI document use them.
///
/// The default cost is 1 unit. A `POST`, `PATCH` or `DELETE` has side effects and can return the board's error codes.
#[rustfmt::skip]
fn board_operations(board: &Arc<dyn Board>) -> Vec<Operation> {
    vec![
        Operation::get("/me", "getMe", Scope::MEMBERS_READ).tag(ME).no_store().on_compact_surface()
            .summary("Returns the token's owner, scopes and expiry.")
            .notes("Call this operation first to check the token.")
            .ok(board, |b, owner: &TokenOwner, (), ()| with_token(owner, b.get_me(&owner.member)), Me::example),
        Operation::get("/forums", "listForums", Scope::FORUMS_READ).tag(FORUMS).on_compact_surface()
            .summary("Lists the forums that the caller can see.")
            .notes("The list has no pages. Each forum has the id of its parent. Parents come before their children.")
            .ok(board, |b, c: &Caller, (), ()| b.list_forums(c), ForumList::example),
        Operation::get("/forums/{forumId}/threads", "listThreads", Scope::THREADS_READ).tag(THREADS).on_compact_surface()
            .summary("Lists the threads of a forum, newest activity first.")
            .notes("Pinned threads are not sorted first; `pinned` marks them. To find only new activity, set `since` to the newest \
            `lastActivityAt` that you have seen, and skip each thread that you have with the same `lastActivityAt`. A thread \
            that is approved or restored later keeps its time.")
            .ok(board, |b, c: &Caller, path, ThreadList(list)| b.list_threads(c, path, list), || CursorPage::example([Thread::answered_example()])),
        Operation::post("/forums/{forumId}/threads", "createThread", Scope::THREADS_WRITE).tag(THREADS).cost(10)
            .summary("Starts a thread.")
            .notes("`poll` creates a poll with the thread. `state` in the response shows whether the thread awaits approval.")
            .created(board, |b, m: &MemberCaller, path, Json(new)| b.create_thread(m, path, new), Thread::example),
        Operation::get("/threads/{threadId}", "getThread", Scope::THREADS_READ).tag(THREADS).on_compact_surface()
            .summary("Returns a thread's metadata.")
            .ok(board, |b, c: &Caller, path, ()| b.get_thread(c, path), Thread::answered_example),
        Operation::get("/threads/{threadId}/posts", "listPosts", Scope::POSTS_READ).tag(POSTS).on_compact_surface()
            .summary("Lists the posts of a thread, oldest first.")
            .notes("To read only new posts, set `since` to the newest creation time that you have seen, and skip the posts that \
            you have, by id. To start at a certain post, set `from` to its id. `sort=newest` lists the newest post first: its \
            first page is the end of the thread, and with `from` that post and the ones before it. A post that is approved or \
            restored later keeps its creation time, so a list with `since` can omit it. A page can have fewer posts than \
            `limit` although more follow: `next` is null on the last page only.")
            .ok(board, |b, c: &Caller, path, PostList(list)| b.list_posts(c, path, list), || CursorPage::example([Post::example(), Post::reply_example()])),
        Operation::post("/threads/{threadId}/posts", "createPost", Scope::POSTS_WRITE).tag(POSTS).cost(5).on_compact_surface()
            .summary("Posts a reply.")
            .notes("`inReplyTo` is the id of the post that is replied to. If that post is hidden or not in the thread, the response is \
            404. `state` in the response shows whether the post awaits approval.")
            .created(board, |b, m: &MemberCaller, path, Json(new)| b.create_post(m, path, new), Post::own_reply_example),
        Operation::patch("/threads/{threadId}/posts/{postId}", "updatePost", Scope::POSTS_WRITE).tag(POSTS).cost(5)
            .summary("Edits a post, or the title of its thread.")
            .notes("The post's `canEdit` shows whether the caller may edit it. Omitted fields keep their value; a body \
            without `body` and `title` is a 400. `title` changes the title of the thread, and increments the `version` of \
            the thread. Only an edit of the first post can have a `title`; for another post, and on a board whose titles \
            cannot change, the response is 422. Set `expectedVersion` to the \
            `version` that you read: if the post has changed since then, the response is 409 and the post is not changed. \
            To read one post, list the posts of its thread with the post's id as `from` and with `limit=1`.")
            .example_note(OWN_POST)
            .ok(board, |b, m: &MemberCaller, path, Json(update)| b.update_post(m, path, update), Post::updated_example),
        Operation::delete("/threads/{threadId}/posts/{postId}", "deletePost", Scope::POSTS_WRITE).tag(POSTS).cost(5)
            .summary("Soft-deletes a post.")
            .notes("Deleting the first post deletes the thread. The post's `canDelete` shows whether the caller may delete it. The \
            board's own tools can restore a deleted post; this API cannot. The response to a second deletion of the same post \
            is 404. For a moderator, who can still see the post, it is 409.")
            .example_note(OWN_POST)
            .no_content(board, |b, m: &MemberCaller, path, ()| b.delete_post(m, path)),
        Operation::get("/members/{userId}", "getMember", Scope::MEMBERS_READ).tag(MEMBERS)
            .summary("Returns a member's public profile.")
            .ok(board, |b, c: &Caller, path, ()| b.get_member(c, path), Member::other_example),
        Operation::post("/members/{userId}/reputation", "rateMember", Scope::REPUTATION_WRITE).tag(RATINGS).cost(5)
            .summary("Rates a member, optionally for one of their posts.")
            .notes("The board's settings limit `points` and decide whether negative points and empty comments are \
            allowed. The response to a rating with 0 points, or to one that the settings do not allow, is 422. The response to a \
            second rating of the same post is 409. The response to a second rating of the same member within 24 hours is \
            also 409 if neither rating names a post.")
            .created(board, |b, m: &MemberCaller, path, Json(new)| b.rate_member(m, path, new), Rating::example),
        Operation::get("/messages", "listMessages", Scope::MESSAGES_READ).tag(MESSAGES).no_store()
            .summary("Lists one folder of the caller's private messages, newest first.")
            .notes("Listing a message does not mark it as read.")
            .ok(board, |b, m: &MemberCaller, (), params| b.list_messages(m, params), || CursorPage::example([MessageSummary::example()])),
        Operation::post("/messages", "sendMessage", Scope::MESSAGES_WRITE).tag(MESSAGES).cost(10).no_store()
            .summary("Sends a private message.")
            .notes("The response is the sender's copy. The sender and each recipient have their own copy with its own id. \
            If a recipient does not exist, the response is 404.")
            .created(board, |b, m: &MemberCaller, (), Json(new)| b.send_message(m, new), Message::sent_example),
        Operation::get("/messages/{messageId}", "openMessage", Scope::MESSAGES_READ).tag(MESSAGES).no_store().with_side_effects().with_head()
            .summary("Opens a private message and marks it as read.")
            .notes("The first opening also sends a receipt to the sender if the sender requested one.")
            .ok(board, |b, m: &MemberCaller, path, mark_read| b.open_message(m, path, mark_read), Message::example),
        Operation::get("/threads/{threadId}/poll", "getPoll", Scope::THREADS_READ).tag(POLLS)
            .summary("Returns a thread's poll with running totals and the caller's own vote.")
            .notes("If the thread has no poll, the response is 404.")
            .ok(board, |b, c: &Caller, path, ()| with_complete_totals("getPoll", b.get_poll(c, path)), Poll::example),
        Operation::post("/polls/{pollId}/votes", "vote", Scope::POLLS_WRITE).tag(POLLS).cost(5)
            .summary("Votes in a thread's poll.")
            .notes("If the caller has already voted, the response is 409, unless `canChangeVote` of the poll is `true`. If the poll \
            is closed, the response is 403. The response to a vote without options, with a repeated option, or with more \
            than `maxChoices` options is 422. If an option is unknown, the response is 404.")
            .created(board, |b, m: &MemberCaller, path, Json(new)| with_complete_totals("vote", b.vote(m, path, new)), Poll::example),
        Operation::patch("/polls/{pollId}", "updatePoll", Scope::POLLS_WRITE).tag(POLLS).cost(5)
            .summary("Edits a poll that the caller created or moderates.")
            .notes("Omitted fields keep their value; a body without changes is a 400. After the first vote, the poll's \
            author can no longer change the question or the options, or lower `maxChoices` below the number of options in \
            an existing vote: the response is 409. These limits do not apply to moderators. For fewer than two options, \
            duplicate texts, or a `maxChoices` above the number of options, the response is 422. If an `optionId` is \
            unknown, the response is 404. An option without `optionId` is a new option in each request: a repeated request \
            replaces the option that the first one added, and removes its votes. A `closesAt` in the past closes the poll. Set \
            `expectedVersion` to the `version` that you read, so that you do not overwrite another edit.")
            .ok(board, |b, m: &MemberCaller, path, Json(update)| with_complete_totals("updatePoll", b.update_poll(m, path, update)), Poll::updated_example),
        Operation::get("/subscriptions", "listSubscriptions", Scope::SUBSCRIPTIONS_READ).tag(SUBSCRIPTIONS)
            .summary("Lists the caller's subscriptions, newest first.")
            .notes("Subscriptions to content the caller may no longer see are omitted until access is restored. A page can have \
            fewer subscriptions than `limit`, or none, although more follow: `next` is null on the last page only.")
            .ok(board, |b, m: &MemberCaller, (), params| b.list_subscriptions(m, params), || CursorPage::example([Subscription::example()])),
        Operation::post("/subscriptions", "subscribe", Scope::SUBSCRIPTIONS_WRITE).tag(SUBSCRIPTIONS).cost(2)
            .summary("Subscribes to a thread or a forum.")
            .notes("The response is 201 for a new subscription, and 200 with the existing subscription if there is one. If the \
            target does not exist or is hidden, the response is 404.")
            .created(board, |b, m: &MemberCaller, (), Json(new)| b.subscribe(m, new), Subscription::example),
        Operation::delete("/subscriptions/{target}/{targetId}", "unsubscribe", Scope::SUBSCRIPTIONS_WRITE).tag(SUBSCRIPTIONS).cost(2)
            .summary("Removes a subscription to a thread or a forum.")
            .notes("The caller can also unsubscribe from a target that has become hidden. If the subscription \
            does not exist, the response is 404.")
            .no_content(board, |b, m: &MemberCaller, path: SubscriptionPath, ()| b.unsubscribe(m, path.into())),
        Operation::get("/search", "search", Scope::SEARCH_READ).tag(SEARCH).cost(10).on_compact_surface()
            .summary("Searches the threads and posts that the caller can read.")
            .notes("All words of `q` are required. `\"a phrase\"` matches adjacent words; `-word` excludes a word. Without `q`, \
            the hits are the posts of the member `by`. A forum or member that does not exist or is hidden gives no hits. \
            A page can have fewer hits than `limit`, or none, although more follow: `next` is null on the last page only. To \
            find all matches, set `sort` to `newest` or `oldest`: with `relevance`, a board can list the newest matches only. The \
            hits of a page with `relevance` that ended early are ranked before those of the next pages. With `show=threads`, two \
            pages can list the same thread.")
            .ok(board, |b, c: &Caller, (), SearchList(params)| b.search(c, params), || CursorPage::example([SearchHit::example()])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::METHODS_WITH_ENDPOINT;
    use crate::operation::validate;
    use crate::scope::{Scopes, Surface};

    /// The conformance suite finds the methods of omitted operations by their ids.
    #[test]
    fn the_id_of_each_operation_is_the_name_of_its_method() {
        let operations = board_operations(&no_board());
        let mut ids: Vec<_> =
            operations.iter().map(|operation| operation.spec.id.to_ascii_lowercase()).collect();
        let mut methods = METHODS_WITH_ENDPOINT.map(|method| method.replace('_', ""));
        ids.sort_unstable();
        methods.sort_unstable();
        assert_eq!(ids, methods);
    }

    #[test]
    fn each_operation_is_in_the_row_of_its_scope() {
        let operations = board_operations(&no_board());
        let mut specs: Vec<_> = operations
            .iter()
            .map(|operation| (operation.spec.scope.as_str(), operation.spec.id))
            .collect();
        let mut rows: Vec<_> =
            Scope::operations().map(|(id, scope)| (scope.as_str(), id)).collect();
        specs.sort_unstable();
        rows.sort_unstable();
        assert_eq!(specs, rows);
    }

    /// The builder of a service checks only the operations that a host adds.
    #[test]
    fn the_operations_of_the_specification_are_valid() {
        let operations = board_operations(&no_board());
        validate(&operations, &[], &Scopes::new(Surface::Full, &[], &[]), &[OPENAPI_PATH]).unwrap();
    }
}
