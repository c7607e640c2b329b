//! Approval.

use forum_api::model::State;

use super::Fault;
use super::plant::Plant;
use super::sound::member;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "an_approved_reply_is_for_everybody",
        "what was approved is counted when its thread is written in again",
        Plant::Thread(Twist::Granted(|thread, _| {
            thread.reply_count = thread.reply_count.min(1);
        })),
    ),
    (
        "an_approved_reply_is_for_everybody",
        "to approve a reply is to do nothing",
        Plant::Approve(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (post,) = &question.it;
                let thread = sound.thread(&sound.thread_of(post).await?).await?;
                match thread.first_post_id == *post {
                    true => sound.set(sound.stage.approve(post)).await,
                    false => Ok(()),
                }
            })
        })),
    ),
    (
        "an_approved_thread_is_for_everybody",
        "a thread is approved without its first post",
        Plant::Posts(Twist::Granted(|page, _| {
            if let [first] = &mut page.it.items[..] {
                first.state = State::AwaitingApproval;
            }
        })),
    ),
    (
        "an_author_changes_what_awaits",
        "an edit publishes what awaits approval",
        Plant::EditPost(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((at, edit), by) = (question.it.clone(), member(&question.by)?);
                let edited = sound.board.edit_post(by, at.clone(), edit).await;
                drop(sound.stage.approve(&at.post).await);
                edited
            })
        })),
    ),
    (
        "an_edit_of_what_was_approved_shows_or_awaits",
        "a post is approved once",
        Plant::Approve(Twist::Stale),
    ),
    (
        "an_edit_of_an_approved_first_post_shows_or_awaits",
        "a first post awaits approval without its thread",
        Plant::Thread(Twist::Granted(|thread, _| {
            if thread.version > 2 {
                thread.state = State::Visible;
            }
        })),
    ),
    (
        "a_restored_reply_awaits_again",
        "what is restored is approved",
        Plant::Restore(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (post,) = &question.it;
                sound.set(sound.stage.restore(post)).await?;
                drop(sound.stage.approve(post).await);
                Ok(())
            })
        })),
    ),
    (
        "a_reply_is_approved_in_a_deleted_thread",
        "an approved reply brings its thread back",
        Plant::Approve(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (post,) = &question.it;
                sound.set(sound.stage.approve(post)).await?;
                let thread = sound.thread(&sound.thread_of(post).await?).await?;
                drop(sound.stage.restore(&thread.first_post_id).await);
                Ok(())
            })
        })),
    ),
    (
        "a_restored_thread_awaits_again",
        "what is deleted is approved before",
        Plant::DeletePost(Twist::Instead(|sound, question| {
            Box::pin(async {
                let ((at,), by) = (question.it.clone(), member(&question.by)?);
                drop(sound.stage.approve(&at.post).await);
                sound.board.delete_post(by, at).await
            })
        })),
    ),
];
