//! The table of endpoints: lay it beside the specification's.

use super::row::Verb::{self, Delete, Get, Patch, Post};
use super::row::{Row, row};
use crate::api::endpoint::Op;
use crate::api::extract::params::Nothing;
use crate::api::router::same_shape;
use crate::host::{Caller, Member};
use crate::model::Follow;
use crate::scope::Scope::*;

/// Router, admission, metering, decoding and the OpenAPI document all come from these rows.
pub(super) static TABLE: &[Row] = ROWS;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row(Get, "/me", MembersRead, 1,
        ("getMe", "Returns the token's owner and the scopes that the token carries."),
        &Op::ok(|b, m: &Member, (), Nothing {}| b.me(m))).on_both(),
    row(Get, "/forums", ForumsRead, 1,
        ("listForums", "Lists the forums that the caller sees, each with its parent's id."),
        &Op::ok(|b, c: &Caller, (), Nothing {}| b.forums(c))).on_both(),
    row(Get, "/forums/{forumId}/threads", ThreadsRead, 1,
        ("listThreads", "Lists the threads of a forum, newest activity first."),
        &Op::ok(|b, c: &Caller, at, list| b.threads(c, at, list))).on_both(),
    row(Post, "/forums/{forumId}/threads", ThreadsWrite, 10,
        ("startThread", "Starts a thread."),
        &Op::created(|b, m: &Member, at, new| b.start_thread(m, at, new)))
        .with_field_scope("subscribe", SubscriptionsWrite),
    row(Get, "/threads/{threadId}", ThreadsRead, 1,
        ("getThread", "Returns one thread's metadata."),
        &Op::ok(|b, c: &Caller, at, Nothing {}| b.thread(c, at))).on_both(),
    row(Get, "/threads/{threadId}/posts", PostsRead, 1,
        ("listPosts", "Lists the posts of a thread, oldest first."),
        &Op::ok(|b, c: &Caller, at, list| b.posts(c, at, list))).on_both(),
    row(Post, "/threads/{threadId}/posts", PostsWrite, 5,
        ("reply", "Posts a reply."),
        &Op::created(|b, m: &Member, at, reply| b.reply(m, at, reply))).on_both()
        .with_field_scope("subscribe", SubscriptionsWrite),
    row(Patch, "/threads/{threadId}/posts/{postId}", PostsWrite, 5,
        ("editPost", "Edits a post."),
        &Op::ok(|b, m: &Member, at, edit| b.edit_post(m, at, edit))),
    row(Delete, "/threads/{threadId}/posts/{postId}", PostsWrite, 5,
        ("deletePost", "Soft-deletes a post; the first one with its whole thread."),
        &Op::gone(|b, m: &Member, at, Nothing {}| b.delete_post(m, at))),
    row(Get, "/members/{userId}", MembersRead, 1,
        ("getMember", "Returns a member's public profile."),
        &Op::ok(|b, c: &Caller, at, Nothing {}| b.profile(c, at))),
    row(Post, "/members/{userId}/reputation", ReputationWrite, 5,
        ("rateMember", "Rates a member, optionally against one of their posts."),
        &Op::created(|b, m: &Member, at, rating| b.rate(m, at, rating))),
    row(Get, "/messages", MessagesRead, 1,
        ("listMessages", "Lists one folder of the caller's private messages. Marks nothing read."),
        &Op::ok(|b, m: &Member, (), list| b.messages(m, list))),
    row(Post, "/messages", MessagesWrite, 10,
        ("sendMessage", "Sends a private message."),
        &Op::created(|b, m: &Member, (), new| b.send_message(m, new))),
    row(Get, "/messages/{messageId}", MessagesRead, 1,
        ("openMessage", "Opens a private message: marks it read, and sends the receipt that was asked for."),
        &Op::ok(|b, m: &Member, at, opening| b.message(m, at, opening))),
    row(Get, "/threads/{threadId}/poll", ThreadsRead, 1,
        ("getPoll", "Returns a thread's poll with running totals and the caller's own vote."),
        &Op::ok(|b, c: &Caller, at, Nothing {}| b.poll(c, at))),
    row(Post, "/polls/{pollId}/votes", PollsWrite, 5,
        ("vote", "Votes in a thread's poll."),
        &Op::created(|b, m: &Member, at, vote| b.vote(m, at, vote))),
    row(Patch, "/polls/{pollId}", PollsWrite, 5,
        ("editPoll", "Edits a poll that the caller wrote or moderates."),
        &Op::ok(|b, m: &Member, at, edit| b.edit_poll(m, at, edit))),
    row(Get, "/subscriptions", SubscriptionsRead, 1,
        ("listSubscriptions", "Lists what the caller follows in forums that they still see, newest first."),
        &Op::ok(|b, m: &Member, (), list| b.subscriptions(m, list))),
    row(Post, "/subscriptions", SubscriptionsWrite, 2,
        ("follow", "Follows a thread or a forum."),
        &Op::created(|b, m: &Member, (), follow: Follow| b.follow(m, follow.into()))),
    row(Delete, "/subscriptions/{target}/{targetId}", SubscriptionsWrite, 2,
        ("unfollow", "Stops following a thread or a forum."),
        &Op::gone(|b, m: &Member, at, Nothing {}| b.unfollow(m, at))),
    row(Get, "/search", SearchRead, 10,
        ("search", "Searches what the caller may read."),
        &Op::ok(|b, c: &Caller, (), search| b.search(c, search))).on_both(),
];

const _: () = assert!(all_differ(ROWS), "two rows have the same method and path");

#[expect(clippy::indexing_slicing, reason = "it runs at compile time")]
const fn all_differ(rows: &[Row]) -> bool {
    let (mut one, mut other) = (0, 1);
    while other < rows.len() {
        if same(rows[one].verb, rows[other].verb) && same_shape(rows[one].path, rows[other].path) {
            return false;
        }
        one += 1;
        if one == other {
            (one, other) = (0, other + 1);
        }
    }
    true
}

const fn same(one: Verb, other: Verb) -> bool {
    one as u8 == other as u8
}
