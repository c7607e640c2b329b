//! Forums: listed, nested and counted.

use super::{
    Audience, NewForum, Part, Role, Someone, Suite, Verdict, equal, holds, thread_fixture,
};
use crate::model::ForumId;

board_rules!(
    mod forums;

    /// Parents stand before their children, and siblings in the order of their positions, from 1.
    async fn parents_stand_before_children_by_position(suite: &Suite) -> Verdict {
        let (first, second) = (
            suite.forum(Audience::Guests).await?,
            suite.forum(Audience::Guests).await?,
        );
        let last = suite.sub_forum(&second, Audience::Guests).await?;
        let (inner, other) = (
            suite.sub_forum(&first, Audience::Guests).await?,
            suite.sub_forum(&first, Audience::Guests).await?,
        );
        let deepest = suite.sub_forum(&inner, Audience::Guests).await?;
        let forums = suite.member("alice").await?.forums().await?.granted()?;
        for (forum, parent, position) in [
            (&first, None, 1),
            (&second, None, 2),
            (&last, Some(&second), 1),
            (&inner, Some(&first), 1),
            (&other, Some(&first), 2),
            (&deepest, Some(&inner), 1),
        ] {
            let found = forums.iter().find(|found| found.forum_id == *forum);
            let place = found.map(|found| (found.parent_id.as_ref(), found.position));
            equal(
                format_args!("parent and position of {forum:?}"),
                place,
                Some((parent, position)),
            )?;
        }
        let place = |id: &ForumId| forums.iter().position(|forum| forum.forum_id == *id);
        for (before, after) in [
            (&first, &second),
            (&first, &inner),
            (&inner, &other),
            (&inner, &deepest),
            (&second, &last),
        ] {
            let in_order = place(before) < place(after);
            let what = format_args!("{before:?} stands before {after:?} in {forums:?}");
            holds(what, in_order)?;
        }
        Ok(())
    }

    /// A forum below a hidden one hangs from the nearest forum above that the caller sees. A parent that is not in the list
    /// counts as none: the library takes it away.
    async fn a_parent_is_the_nearest_that_is_seen(suite: &Suite) -> Verdict {
        let top = suite.forum(Audience::Guests).await?;
        let hidden = suite.sub_forum(&top, Audience::Staff).await?;
        let seen = suite.sub_forum(&hidden, Audience::Guests).await?;
        let alone = suite.forum(Audience::Staff).await?;
        let orphan = suite.sub_forum(&alone, Audience::Guests).await?;
        let (alice, sam) = (
            suite.member("alice").await?,
            suite.join("sam", Role::Staff).await?,
        );
        for (someone, forum, above) in [
            (&sam, &seen, Some(&hidden)),
            (&sam, &orphan, Some(&alone)),
            (&alice, &seen, Some(&top)),
            (&alice, &orphan, None),
        ] {
            let forums = someone.forums().await?.granted()?;
            let is_listed = |id: &ForumId| forums.iter().any(|forum| forum.forum_id == *id);
            let found = forums.iter().find(|found| found.forum_id == *forum);
            let parent = found.and_then(|found| found.parent_id.clone());
            equal(
                format_args!("the parent of {forum:?} as {} sees it", someone.name()),
                parent.filter(is_listed).as_ref(),
                above,
            )?;
        }
        Ok(())
    }

    /// A forum goes by the title that it was given.
    async fn a_forum_tells_its_title(suite: &Suite) -> Verdict {
        let new = NewForum {
            title: "Tea & Kettles".into(),
            parent: None,
            readers: Audience::Guests,
            writers: Audience::Guests,
        };
        let id = suite.stage.add_forum(&new).await?;
        let forum = thread_fixture::forum(&suite.member("alice").await?, &id).await?;
        equal("its title", forum.title, new.title)
    }

    /// A forum without threads has counts of nothing, and no activity.
    async fn an_empty_forum_counts_nothing(suite: &Suite) -> Verdict {
        let id = suite.forum(Audience::Guests).await?;
        let forum = thread_fixture::forum(&suite.member("alice").await?, &id).await?;
        let found = (forum.thread_count, forum.post_count, forum.last_activity_at);
        equal("threads, posts and last activity", found, (0, 0, None))
    }

    /// A thread and a reply count at once, in their own forum alone.
    async fn what_is_posted_counts_in_its_forum_alone(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let above = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let untouched = thread_fixture::forum(&alice, &above).await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        suite.post(&alice, &thread).await?;
        suite.post(&alice, &thread).await?;
        let (found, thread) = (
            thread_fixture::forum(&alice, &forum).await?,
            alice.thread(&thread).await?.granted()?,
        );
        equal(
            "threads, posts and last activity",
            (found.thread_count, found.post_count, found.last_activity_at),
            (1, 3, Some(thread.last_activity_at)),
        )?;
        equal(
            "the other forum",
            thread_fixture::forum(&alice, &above).await?,
            untouched,
        )
    }

    /// A forum's counts are without its sub-forums.
    async fn a_forum_does_not_count_what_is_below_it(suite: &Suite) -> Verdict {
        let above = suite.forum(Audience::Guests).await?;
        let below = suite.sub_forum(&above, Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let before = thread_fixture::forum(&alice, &above).await?;
        suite.thread(&alice, &below).await?;
        equal(
            "the forum above",
            thread_fixture::forum(&alice, &above).await?,
            before,
        )
    }

    /// What awaits approval changes nothing that others are told of the forum.
    async fn what_awaits_approval_counts_nowhere(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, nina) = (suite.member("alice").await?, suite.newcomer("nina").await?);
        let thread = suite.thread(&alice, &forum).await?.thread;
        let before = told(suite, &alice, &nina, &thread).await?;
        suite.thread(&nina, &forum).await?;
        suite.post(&nina, &thread).await?;
        let found = told(suite, &alice, &nina, &thread).await?;
        equal("all that is told", found, before)
    }

    /// What is written in a hidden forum changes nothing that others are told.
    async fn what_is_hidden_counts_nowhere(suite: &Suite) -> Verdict {
        let (forum, hidden) = (
            suite.forum(Audience::Guests).await?,
            suite.forum(Audience::Staff).await?,
        );
        let (alice, sam) = (
            suite.member("alice").await?,
            suite.join("sam", Role::Staff).await?,
        );
        let thread = suite.thread(&alice, &forum).await?.thread;
        let before = told(suite, &alice, &sam, &thread).await?;
        let secret = suite.thread(&sam, &hidden).await?.thread;
        suite.post(&sam, &secret).await?;
        let found = told(suite, &alice, &sam, &thread).await?;
        equal("all that is told", found, before)
    }
);

/// All that `alice` and the guest are told of the forums, a thread, and how much a member wrote.
async fn told(
    suite: &Suite,
    alice: &Someone,
    writer: &Someone,
    thread: &crate::model::ThreadId,
) -> Verdict<String> {
    let mut told = Vec::new();
    for someone in [Some(alice.clone()), suite.guest().ok()]
        .into_iter()
        .flatten()
    {
        let (forums, thread) = (
            someone.forums().await?.granted()?,
            someone.thread(thread).await?.granted()?,
        );
        let writes = match suite.needs(Part::Profiles) {
            Ok(()) => Some(
                someone
                    .profile(&writer.by_id())
                    .await?
                    .granted()?
                    .post_count,
            ),
            Err(_) => None,
        };
        told.push((forums, thread, writes));
    }
    Ok(format!("{told:?}"))
}
