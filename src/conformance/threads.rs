//! Threads: listed, read and started.

use std::time::Duration;

use super::walk::{Walk, once};
use super::{Audience, Part, Someone, Suite, Verdict, equal, holds};
use crate::model::{ForumId, ListThreads, Position, Reply, StartThread, ThreadId};

/// The newest activity comes first; a reply brings its thread to the top, and an opened one stays where it is.
pub async fn newest_activity_comes_first(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let threads = written(suite, &alice, &forum, 3).await?;
    equal(
        "the threads",
        ids(&alice, &forum).await?,
        reversed(&threads),
    )?;
    let Some(oldest) = threads.first() else {
        return Ok(());
    };
    alice.thread(oldest).await?.granted()?;
    equal(
        "the threads after one was read",
        ids(&alice, &forum).await?,
        reversed(&threads),
    )?;
    suite.post(&alice, oldest).await?;
    let top = ids(&alice, &forum).await?.into_iter().next();
    equal(
        "the thread with the newest reply",
        top.as_ref(),
        Some(oldest),
    )
}

/// Pages of any size meet without gap or overlap, and `next` is null exactly when nothing follows.
pub async fn pages_of_any_size_meet(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let newest = reversed(&written(suite, &alice, &forum, 6).await?);
    for limit in [1, 2, 3, 5, 6, 7, 100] {
        let mut walk = Walk::of(limit);
        while walk.goes_on() {
            let list = ListThreads {
                limit: walk.limit,
                after: walk.after.clone(),
                since: None,
            };
            walk.take(alice.threads(&forum, &list).await?.granted()?)?;
        }
        equal(
            format_args!("a walk by {limit}"),
            walk.ids(|thread| thread.thread_id.clone()),
            newest.clone(),
        )?;
        equal(
            format_args!("the pages of {limit}"),
            walk.pages(),
            newest.len().div_ceil(limit.into()),
        )?;
    }
    Ok(())
}

/// Threads of the same moment are walked once each, too.
pub async fn threads_of_one_moment_are_walked_once(suite: &Suite) -> Verdict {
    let forum = suite.forum(Audience::Guests).await?;
    let (mut there, mut reader) = (Vec::new(), suite.member("reader").await?);
    suite.wait(Duration::from_secs(60));
    for name in ["ann", "ben", "cem", "dan", "eve"] {
        reader = suite.member(name).await?;
        let new = StartThread {
            title: name.into(),
            body: name.into(),
            ..StartThread::default()
        };
        suite.needs(Part::Threads)?;
        there.push(suite.stage.write_thread(&reader.id(), &forum, new).await?.0);
    }
    let mut walk = Walk::of(2);
    while walk.goes_on() {
        let list = ListThreads {
            limit: walk.limit,
            after: walk.after.clone(),
            since: None,
        };
        walk.take(reader.threads(&forum, &list).await?.granted()?)?;
    }
    let walked = walk.ids(|thread| thread.thread_id.clone());
    equal("how many were walked", walked.len(), there.len())?;
    once(&walked, &there)
}

/// A walk meets each thread that was there all along once, however much is written meanwhile.
pub async fn a_walk_meets_each_thread_once_while_others_write(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let mut quiet = written(suite, &alice, &forum, 9).await?;
    let busy = quiet.remove(4);
    let mut walk = Walk::of(2);
    while walk.goes_on() {
        let list = ListThreads {
            limit: walk.limit,
            after: walk.after.clone(),
            since: None,
        };
        walk.take(alice.threads(&forum, &list).await?.granted()?)?;
        suite.thread(&alice, &forum).await?;
        suite.post(&alice, &busy).await?;
    }
    once(&walk.ids(|thread| thread.thread_id.clone()), &quiet)
}

/// `since` takes what was active later than that moment, and not at it.
pub async fn since_takes_what_was_active_later(suite: &Suite) -> Verdict {
    suite.needs(Part::SuiteClock)?;
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let newest = reversed(&written(suite, &alice, &forum, 4).await?);
    let all = alice
        .threads(&forum, &ListThreads::default())
        .await?
        .granted()?
        .items;
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
pub async fn a_list_is_of_one_forum(suite: &Suite) -> Verdict {
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
pub async fn a_forged_place_is_no_failure(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    written(suite, &alice, &forum, 1).await?;
    for place in [
        "",
        ".",
        "x",
        "1",
        "1.2.3",
        "9999999999999999999999.1",
        "-1.-1",
        "';--",
        "ä\u{0}",
    ] {
        let list = ListThreads {
            after: Some(Position::new(place)),
            ..ListThreads::default()
        };
        let (what, reply) = alice.threads(&forum, &list).await?.reply();
        let fine = matches!(
            reply,
            Ok(_) | Err(crate::host::Refusal::Unusable("after", _))
        );
        holds(
            format_args!("{what}: {reply:?} is a page, or `after` is unusable"),
            fine,
        )?;
    }
    Ok(())
}

/// A thread is started with its first post, as its author told it.
pub async fn a_thread_is_started_with_its_first_post(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let new = StartThread {
        title: "Kettles".into(),
        body: "Which one?".into(),
        ..StartThread::default()
    };
    let thread = alice.start_thread(&forum, &new).await?.granted()?;
    let author = thread.author.as_ref().map(|author| author.user_id.clone());
    equal(
        "its title and author",
        (&*thread.title, author),
        ("Kettles", Some(alice.id())),
    )?;
    equal(
        "its forum and replies",
        (&thread.forum_id, thread.reply_count),
        (&forum, 0),
    )?;
    equal(
        "whether it is locked, or pinned",
        (thread.locked, thread.pinned),
        (false, false),
    )?;
    let last = thread.last_post.as_ref().map(|last| last.post_id.clone());
    equal("its last post", last, Some(thread.first_post_id.clone()))?;
    if suite.needs(Part::SuiteClock).is_ok() {
        equal(
            "when",
            (thread.created_at, thread.last_activity_at),
            (suite.now(), suite.now()),
        )?;
    }
    equal(
        "the same, read",
        alice.thread(&thread.thread_id).await?.granted()?,
        thread.clone(),
    )?;
    equal(
        "the list",
        ids(&alice, &forum).await?,
        vec![thread.thread_id],
    )
}

/// An empty title or body is invalid, with a text that names the field, and nothing is left behind.
pub async fn an_empty_title_or_body_is_invalid(suite: &Suite) -> Verdict {
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let before = alice.forums().await?.granted()?;
    for (title, body, field) in [
        ("", "x", "title"),
        (" \n\t", "x", "title"),
        ("x", "", "body"),
        ("x", " \n\t", "body"),
    ] {
        let new = StartThread {
            title: title.into(),
            body: body.into(),
            ..StartThread::default()
        };
        alice.start_thread(&forum, &new).await?.invalid(field)?;
    }
    equal(
        "the forums afterwards",
        alice.forums().await?.granted()?,
        before,
    )?;
    equal(
        "the threads afterwards",
        ids(&alice, &forum).await?,
        Vec::new(),
    )
}

/// A locked thread takes replies of moderators alone, and tells each whether they may.
pub async fn a_locked_thread_takes_replies_of_moderators_alone(suite: &Suite) -> Verdict {
    suite.needs(Part::Locking)?;
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let max = suite.moderator("max", &forum).await?;
    let thread = suite.thread(&alice, &forum).await?.thread;
    let words = Reply {
        body: "Some words".into(),
        ..Reply::default()
    };
    for locked in [true, false] {
        suite.stage.set_locked(&thread, locked).await?;
        for (someone, may) in [(&alice, !locked), (&max, true)] {
            let seen = someone.thread(&thread).await?.granted()?;
            let told = (seen.locked, seen.can_reply);
            equal(
                format_args!("locked and canReply for {}", someone.name()),
                told,
                (locked, may),
            )?;
            match may {
                true => drop(someone.reply(&thread, &words).await?.granted()?),
                false => someone.reply(&thread, &words).await?.forbidden()?,
            }
        }
    }
    Ok(())
}

/// A pinned thread says so, and is not lifted in the list.
pub async fn a_pinned_thread_is_not_lifted(suite: &Suite) -> Verdict {
    suite.needs(Part::Pinning)?;
    let (forum, alice) = (
        suite.forum(Audience::Guests).await?,
        suite.member("alice").await?,
    );
    let threads = written(suite, &alice, &forum, 3).await?;
    let Some(oldest) = threads.first() else {
        return Ok(());
    };
    suite.stage.set_pinned(oldest, true).await?;
    equal(
        "whether it is pinned",
        alice.thread(oldest).await?.granted()?.pinned,
        true,
    )?;
    equal(
        "the threads",
        ids(&alice, &forum).await?,
        reversed(&threads),
    )
}

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

async fn ids(someone: &Someone, forum: &ForumId) -> Verdict<Vec<ThreadId>> {
    let page = someone
        .threads(forum, &ListThreads::default())
        .await?
        .granted()?;
    Ok(page
        .items
        .into_iter()
        .map(|thread| thread.thread_id)
        .collect())
}

fn reversed(threads: &[ThreadId]) -> Vec<ThreadId> {
    threads.iter().rev().cloned().collect()
}
