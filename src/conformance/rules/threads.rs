//! Threads: listed and read.

use std::time::Duration;

use super::pager::{Walk, forged, once};
use super::sanitizing::start;
use super::thread_fixture::threads;
use super::{Audience, Part, Someone, Suite, Verdict, equal};
use crate::model::{ForumId, ListThreads, Thread, ThreadId};

board_rules!(
    mod threads;

    /// The newest activity comes first; a reply brings its thread to the top, and an opened one stays where it is.
    async fn newest_activity_comes_first(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let threads = written(suite, &alice, &forum, 3).await?;
        let found = ids(&alice, &forum).await?;
        equal("the threads", found, reversed(&threads))?;
        let Some(oldest) = threads.first() else {
            return Ok(());
        };
        alice.thread(oldest).await?.granted()?;
        let found = ids(&alice, &forum).await?;
        equal("the threads after one was read", found, reversed(&threads))?;
        suite.post(&alice, oldest).await?;
        let top = ids(&alice, &forum).await?.into_iter().next();
        let found = top.as_ref();
        equal("the thread with the newest reply", found, Some(oldest))
    }

    /// Pages of any size meet without gap or overlap, and `next` is null exactly when nothing follows.
    async fn pages_of_any_size_meet(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let newest = reversed(&written(suite, &alice, &forum, 6).await?);
        for limit in [1, 2, 3, 5, 6, 7, 100] {
            let mut walk = Walk::of(limit);
            while walk.goes_on() {
                walk.threads(&alice, &forum).await?;
            }
            let found = of(&walk.items);
            equal(format_args!("a walk by {limit}"), found, newest.clone())?;
            let found = walk.pages();
            let expected = newest.len().div_ceil(limit.into());
            equal(format_args!("the pages of {limit}"), found, expected)?;
        }
        Ok(())
    }

    /// Threads of the same moment are walked once each, too.
    async fn threads_of_one_moment_are_walked_once(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (mut there, mut reader) = (Vec::new(), suite.member("reader").await?);
        suite.wait(Duration::from_secs(60));
        for name in ["ann", "ben", "cem", "dan", "eve"] {
            reader = suite.member(name).await?;
            let new = start(name, name);
            suite.needs(Part::Threads)?;
            there.push(suite.stage.write_thread(&reader.id(), &forum, new).await?.0);
        }
        let mut walk = Walk::of(2);
        while walk.goes_on() {
            walk.threads(&reader, &forum).await?;
        }
        let walked = of(&walk.items);
        equal("how many were walked", walked.len(), there.len())?;
        once(&walked, &there)
    }

    /// A walk meets each thread that was there all along once, however much is written meanwhile.
    async fn a_walk_meets_each_thread_once_while_others_write(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let mut quiet = written(suite, &alice, &forum, 9).await?;
        let busy = quiet.remove(4);
        let mut walk = Walk::of(2);
        while walk.goes_on() {
            walk.threads(&alice, &forum).await?;
            suite.thread(&alice, &forum).await?;
            suite.post(&alice, &busy).await?;
        }
        once(&of(&walk.items), &quiet)
    }

    /// `since` takes what was active later than that moment, and not at it.
    async fn since_takes_what_was_active_later(suite: &Suite) -> Verdict {
        suite.needs(Part::SuiteClock)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let newest = reversed(&written(suite, &alice, &forum, 4).await?);
        let all = threads(&alice, &forum).await?;
        for (place, thread) in all.iter().enumerate() {
            let list = ListThreads {
                since: Some(thread.last_activity_at),
                ..ListThreads::default()
            };
            let later = alice.threads(&forum, &list).await?.granted()?;
            let found: Vec<_> = later
                .items
                .into_iter()
                .map(|thread| thread.thread_id)
                .collect();
            let expected: Vec<_> = newest.iter().take(place).cloned().collect();
            equal(
                "what was active later",
                (found, later.next),
                (expected, None),
            )?;
        }
        Ok(())
    }

    /// A list holds the threads of its own forum alone.
    async fn a_list_is_of_one_forum(suite: &Suite) -> Verdict {
        let (one, other) = (
            suite.forum(Audience::Guests).await?,
            suite.forum(Audience::Guests).await?,
        );
        let alice = suite.member("alice").await?;
        let here = written(suite, &alice, &one, 2).await?;
        written(suite, &alice, &other, 2).await?;
        equal("the threads", ids(&alice, &one).await?, reversed(&here))
    }

    /// A cursor is the client's word: a place that no list gave is no failure.
    async fn a_forged_place_is_no_failure(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        written(suite, &alice, &forum, 1).await?;
        for place in forged() {
            let list = ListThreads {
                after: Some(place),
                ..ListThreads::default()
            };
            alice.threads(&forum, &list).await?.page_or_unusable()?;
        }
        Ok(())
    }

    /// A pinned thread says so, and is not lifted in the list.
    async fn a_pinned_thread_is_not_lifted(suite: &Suite) -> Verdict {
        suite.needs(Part::Pinning)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let threads = written(suite, &alice, &forum, 3).await?;
        let Some(oldest) = threads.first() else {
            return Ok(());
        };
        suite.stage.set_pinned(oldest, true).await?;
        let found = alice.thread(oldest).await?.granted()?.pinned;
        equal("whether it is pinned", found, true)?;
        let found = ids(&alice, &forum).await?;
        equal("the threads", found, reversed(&threads))
    }
);

/// So many new threads, the oldest first.
async fn written(
    suite: &Suite,
    author: &Someone,
    forum: &ForumId,
    threads: usize,
) -> Verdict<Vec<ThreadId>> {
    let mut written = Vec::new();
    for _ in 0..threads {
        written.push(suite.thread(author, forum).await?.thread);
    }
    Ok(written)
}

pub(crate) async fn ids(someone: &Someone, forum: &ForumId) -> Verdict<Vec<ThreadId>> {
    Ok(of(&threads(someone, forum).await?))
}

fn reversed(threads: &[ThreadId]) -> Vec<ThreadId> {
    threads.iter().rev().cloned().collect()
}

fn of(threads: &[Thread]) -> Vec<ThreadId> {
    let ids = threads.iter().map(|thread| thread.thread_id.clone());
    ids.collect()
}
