//! Edits of posts.

use std::sync::Arc;

use forum_api::host::{Caller, Refusal};
use forum_api::model::ThreadId;

use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;
use super::{Fault, says};
use crate::board::actor::Actor;

pub const FAULTS: &[Fault] = &[
    (
        "an_edit_shows",
        "nobody is told who edited",
        Plant::EditPost(Twist::Granted(|post, _| post.it.edited_by = None)),
    ),
    (
        "an_edit_shows",
        "HTML is rendered once",
        Plant::Posts(Twist::Granted(|page, _| {
            let edited = page.it.items.iter_mut().filter(|post| post.edited_at.is_some());
            edited.for_each(|post| post.body_html = Some("<p>An answer 2</p>\n".into()));
        })),
    ),
    (
        "an_edit_counts",
        "every edit makes the second version",
        Plant::EditPost(Twist::Granted(|post, _| post.it.version = 2)),
    ),
    (
        "a_stale_edit_is_a_conflict",
        "the version that is expected is ignored",
        Plant::EditPost(Twist::Ask(|question| question.it.1.expected_version = None)),
    ),
    (
        "one_of_many_edits_of_a_version_is_made",
        "edits that race are all told that they were made",
        Plant::EditPost(Twist::Repeats(|refusal, question| {
            question.racing && matches!(refusal, Refusal::Conflict(_))
        })),
    ),
    (
        "an_edit_needs_a_body",
        "an empty body becomes a dash",
        Plant::EditPost(Twist::Ask(|question| {
            let edit = &mut question.it.1;
            if edit.body.trim().is_empty() {
                edit.body = "-".into();
            }
        })),
    ),
    (
        "authors_and_moderators_edit",
        "whoever sees a post edits it",
        Plant::EditPost(Twist::Forced(|refusal, _| says(refusal, "its author"))),
    ),
    (
        "authors_and_moderators_edit",
        "only its author is told that they may edit a post",
        Plant::Posts(Twist::Granted(|page, question| {
            for post in &mut page.it.items {
                let author = post.author.as_ref().map(|author| &author.user_id);
                post.can_edit &= author == question.by.user();
            }
        })),
    ),
    (
        "a_guest_changes_nothing",
        "a guest is told what members may",
        Plant::Posts(Twist::Granted(|page, question| {
            let guest = question.by.user().is_none();
            page.it.items.iter_mut().for_each(|post| post.can_edit |= guest);
        })),
    ),
    (
        "a_post_that_is_not_seen_there_is_not_edited",
        "a post is edited whatever thread is named",
        Plant::EditPost(Twist::Ask(|question| question.it.0.thread = ThreadId::from(1))),
    ),
    (
        "a_hidden_post_is_not_edited",
        "a hidden post is edited",
        Plant::EditPost(Twist::Forced(|refusal, _| {
            matches!(refusal, Refusal::Absent)
        })),
    ),
    (
        "a_locked_thread_is_edited_by_moderators",
        "posts of a locked thread are edited",
        Plant::EditPost(Twist::Forced(|refusal, _| says(refusal, "locked"))),
    ),
    (
        "a_locked_thread_is_edited_by_moderators",
        "posts of a locked thread are deleted",
        Plant::DeletePost(Twist::Forced(|refusal, _| says(refusal, "locked"))),
    ),
    (
        "an_edit_window_closes",
        "it is never too late to edit",
        Plant::EditPost(Twist::Forced(|refusal, _| says(refusal, "too late"))),
    ),
    (
        "an_edit_window_closes",
        "it is never too late to delete",
        Plant::DeletePost(Twist::Forced(|refusal, _| says(refusal, "too late"))),
    ),
    (
        "a_moderator_who_is_one_no_longer_edits_no_longer",
        "who moderated when the request came in edits",
        Plant::EditPost(Twist::Forced(|_, question| moderated(&question.by))),
    ),
    (
        "a_moderator_who_is_one_no_longer_edits_no_longer",
        "who moderated when the request came in deletes",
        Plant::DeletePost(Twist::Forced(|_, question| moderated(&question.by))),
    ),
    (
        "a_banned_author_edits_no_longer",
        "who was banned meanwhile edits",
        Plant::EditPost(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
    (
        "a_banned_author_edits_no_longer",
        "who was banned meanwhile deletes",
        Plant::DeletePost(Twist::Forced(|refusal, _| says(refusal, "account"))),
    ),
    (
        "what_is_edited_does_not_run",
        "the HTML of an edit is what was typed",
        Plant::EditPost(Twist::Granted(|post, _| post.it.body_html = post.it.body.clone())),
    ),
    (
        "a_locked_thread_is_edited_by_moderators",
        "nobody deletes in a locked thread",
        Plant::DeletePost(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (at,) = question.it.clone();
                if sound.thread(&at.thread).await?.locked {
                    return Err(Refusal::Forbidden("It is locked.".into()));
                }
                sound.board.delete_post(member(&question.by)?, at).await
            })
        })),
    ),
];

/// Whether the standing that a request came with was a moderator's, in the first forum.
pub fn moderated(by: &Caller) -> bool {
    by.loaded::<Arc<Actor>>().is_ok_and(|actor| actor.access(1).moderate)
}
