//! Counts that do not follow what is deleted and restored.

use std::cmp::Reverse;

use forum_api::model::{LastPost, State};

use super::Fault;
use super::forums::counting;
use super::plant::Plant;
use super::twist::Twist;

pub const FAULTS: &[Fault] = &[
    (
        "counts_follow_a_reply",
        "the last post of a thread may be a deleted one",
        Plant::Thread(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (thread,) = &question.it;
                let mut found = sound.board.thread(&question.by, thread.clone()).await?;
                found.last_post = sound.posts(thread).await?.pop().map(|post| LastPost {
                    post_id: post.post_id,
                    author: post.author,
                    created_at: post.created_at,
                });
                Ok(found)
            })
        })),
    ),
    (
        "an_older_post_takes_no_activity_along",
        "a thread is as old as its last post before a deleted one",
        Plant::Thread(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (thread,) = &question.it;
                let mut found = sound.board.thread(&question.by, thread.clone()).await?;
                let posts = sound.posts(thread).await?.into_iter();
                let mut left = posts.take_while(|post| post.state != State::Deleted);
                let active = left.by_ref().last().map(|post| post.created_at);
                found.last_activity_at = active.unwrap_or(found.last_activity_at);
                Ok(found)
            })
        })),
    ),
    (
        "a_thread_falls_back_with_its_last_post",
        "a deleted post keeps its thread where it brought it",
        Plant::Threads(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (forum, list) = question.it.clone();
                let mut page = sound.board.threads(&question.by, forum, list).await?;
                let mut risen = Vec::new();
                for thread in page.items {
                    let last = sound.posts(&thread.thread_id).await?.pop();
                    risen.push((last.map(|post| post.created_at), thread));
                }
                risen.sort_by_key(|(last, _)| Reverse(*last));
                page.items = risen.into_iter().map(|(_, thread)| thread).collect();
                Ok(page)
            })
        })),
    ),
    (
        "counts_follow_a_thread",
        "a forum counts deleted threads",
        Plant::Forums(Twist::Instead(|sound, question| {
            Box::pin(counting(sound, question, |state| state != State::AwaitingApproval))
        })),
    ),
    (
        "a_restored_thread_brings_no_deleted_reply_back",
        "a thread is restored with all that was deleted in it",
        Plant::Restore(Twist::Instead(|sound, question| {
            Box::pin(async {
                let (post,) = &question.it;
                sound.set(sound.stage.restore(post)).await?;
                let thread = sound.thread_of(post).await?;
                for post in sound.posts(&thread).await? {
                    if post.state == State::Deleted {
                        sound.set(sound.stage.restore(&post.post_id)).await?;
                    }
                }
                Ok(())
            })
        })),
    ),
    (
        "a_profile_counts_what_is_there",
        "a profile counts what was deleted",
        Plant::Profile(Twist::Instead(|sound, question| {
            Box::pin(async {
                let user = question.it.0.clone();
                let mut profile = sound.board.profile(&question.by, user).await?;
                let posts = sound.posts(&1.into()).await.unwrap_or_default().into_iter();
                let deleted = posts.filter(|post| post.state == State::Deleted);
                let by = deleted.filter_map(|post| post.author);
                let own = by.filter(|author| author.user_id == profile.user_id);
                profile.post_count += own.count() as u64;
                Ok(profile)
            })
        })),
    ),
];
