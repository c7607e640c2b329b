//! What is visible is shown, and what is hidden is not there.

use super::sanitizing::{reply, start};
use super::thread_fixture::{no_posts, posts, threads};
use super::{Audience, Role, Someone, Suite, Verdict, equal, holds};
use crate::model::{ForumId, ListPosts, ListThreads, State};

board_rules!(
    mod visibility;

    /// What guests see, every member sees as well.
    async fn what_guests_see_every_member_sees(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        for someone in [suite.guest()?, suite.member("bob").await?, alice] {
            let who = someone.name();
            let forums = someone.forums().await?.granted()?;
            let listed = forums.iter().any(|seen| seen.forum_id == forum);
            holds(format_args!("{who} sees the forum of guests"), listed)?;
            let threads = threads(&someone, &forum).await?;
            let listed = threads.iter().any(|seen| seen.thread_id == thread);
            holds(format_args!("{who} sees the thread of guests"), listed)?;
            someone.thread(&thread).await?.granted()?;
            posts(&someone, &thread).await?;
        }
        Ok(())
    }

    /// What members see is hidden from guests, and what staff sees from members.
    async fn each_audience_sees_its_forums_and_no_other(suite: &Suite) -> Verdict {
        let mut forums = Vec::new();
        for readers in [Audience::Guests, Audience::Members, Audience::Staff] {
            forums.push(suite.forum(readers).await?);
        }
        for (someone, sees) in [
            (suite.guest()?, 1),
            (suite.member("alice").await?, 2),
            (suite.join("sam", Role::Staff).await?, 3),
            (suite.join("ada", Role::Administrator).await?, 3),
        ] {
            let listed = someone.forums().await?.granted()?;
            let listed: Vec<_> = listed.into_iter().map(|forum| forum.forum_id).collect();
            let seen: Vec<_> = forums.iter().take(sees).cloned().collect();
            equal(
                format_args!("the forums that {} sees", someone.name()),
                listed,
                seen,
            )?;
        }
        Ok(())
    }

    /// A thread of a hidden forum is absent, in whatever way it is asked for.
    async fn a_hidden_thread_is_absent(suite: &Suite) -> Verdict {
        let (forum, sam) = hidden(suite).await?;
        let thread = suite.thread(&sam, &forum).await?.thread;
        sam.thread(&thread).await?.granted()?;
        let alice = suite.member("alice").await?;
        is_absent(&alice, &forum, &thread).await
    }

    /// A thread of a hidden forum is absent for the guest, too.
    async fn a_hidden_thread_is_absent_for_the_guest(suite: &Suite) -> Verdict {
        let guest = suite.guest()?;
        let forum = suite.forum(Audience::Members).await?;
        let alice = suite.member("alice").await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        is_absent(&guest, &forum, &thread).await
    }

    /// Nobody writes where they see nothing: the place is absent, not forbidden, and nothing is written.
    async fn nobody_writes_where_they_see_nothing(suite: &Suite) -> Verdict {
        let (forum, sam) = hidden(suite).await?;
        let thread = suite.thread(&sam, &forum).await?.thread;
        let before = sam.forums().await?.granted()?;
        let alice = suite.member("alice").await?;
        alice
            .start_thread(&forum, &start("A title", "Some words"))
            .await?
            .absent()?;
        alice.reply(&thread, &reply("Some words")).await?.absent()?;
        let found = sam.forums().await?.granted()?;
        equal("the forums after both", found, before)
    }

    /// What an unwritten id names is absent, whatever the id looks like.
    async fn what_no_id_names_is_absent(suite: &Suite) -> Verdict {
        let alice = suite.member("alice").await?;
        let longest = "x".repeat(64);
        for id in [
            "0",
            "-1",
            "007",
            "9223372036854775807",
            "9223372036854775808",
            "no-such_thing",
            &longest,
        ] {
            let id = id.to_owned();
            let Some(thread) = crate::model::ThreadId::new(&id) else {
                continue;
            };
            alice.thread(&thread).await?.absent()?;
            no_posts(&alice, &thread).await?;
            alice.reply(&thread, &reply("Some words")).await?.absent()?;
        }
        Ok(())
    }

    /// A reply that awaits approval is there for its author and for moderators.
    async fn a_waiting_reply_is_for_its_author_and_moderators(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, nina) = (suite.member("alice").await?, suite.newcomer("nina").await?);
        let thread = suite.thread(&alice, &forum).await?.thread;
        let post = nina
            .reply(&thread, &reply("Some words"))
            .await?
            .granted()?
            .it;
        let found = post.state;
        let expected = State::AwaitingApproval;
        equal("the state of a newcomer's post", found, expected)?;
        for (someone, sees) in audience_of_waiting(suite, &forum, alice, nina).await? {
            let posts = posts(&someone, &thread).await?;
            let seen = posts.iter().any(|seen| seen.post_id == post.post_id);
            equal(
                format_args!("whether {} sees what awaits approval", someone.name()),
                seen,
                sees,
            )?;
            let from = ListPosts {
                from: Some(post.post_id.clone()),
                ..ListPosts::default()
            };
            match (sees, someone.posts(&thread, &from).await?) {
                (true, asked) => drop(asked.granted()?),
                (false, asked) => asked.unusable("from")?,
            }
        }
        Ok(())
    }

    /// A thread that awaits approval is there for its author and for moderators.
    async fn a_waiting_thread_is_for_its_author_and_moderators(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, nina) = (suite.member("alice").await?, suite.newcomer("nina").await?);
        let thread = nina
            .start_thread(&forum, &start("A title", "Some words"))
            .await?
            .granted()?;
        let found = thread.state;
        let expected = State::AwaitingApproval;
        equal("the state of a newcomer's thread", found, expected)?;
        for (someone, sees) in audience_of_waiting(suite, &forum, alice, nina).await? {
            let threads = threads(&someone, &forum).await?;
            let mut listed = threads.iter();
            let listed = listed.any(|seen| seen.thread_id == thread.thread_id);
            equal(
                format_args!("whether {} sees what awaits approval", someone.name()),
                listed,
                sees,
            )?;
            let (one, posts) = (
                someone.thread(&thread.thread_id).await?,
                someone
                    .posts(&thread.thread_id, &ListPosts::default())
                    .await?,
            );
            match sees {
                true => drop((one.granted()?, posts.granted()?)),
                false => drop((one.absent()?, posts.absent()?)),
            }
        }
        Ok(())
    }

    /// Nobody replies to a thread that awaits approval: its author is forbidden, for others it is absent.
    async fn a_waiting_thread_takes_no_replies(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, nina) = (suite.member("alice").await?, suite.newcomer("nina").await?);
        let thread = nina
            .start_thread(&forum, &start("A title", "Some words"))
            .await?
            .granted()?
            .thread_id;
        alice.reply(&thread, &reply("Some words")).await?.absent()?;
        nina.reply(&thread, &reply("Some words")).await?.forbidden()
    }
);

async fn is_absent(someone: &Someone, forum: &ForumId, thread: &crate::model::ThreadId) -> Verdict {
    someone.thread(thread).await?.absent()?;
    no_posts(someone, thread).await?;
    someone
        .threads(forum, &ListThreads::default())
        .await?
        .absent()
}

/// Everybody, and whether they see what `author` wrote and what awaits approval.
async fn audience_of_waiting(
    suite: &Suite,
    forum: &ForumId,
    other: Someone,
    author: Someone,
) -> Verdict<Vec<(Someone, bool)>> {
    let ada = suite.join("ada", Role::Administrator).await?;
    let mut all = vec![(other, false), (author, true), (ada, true)];
    all.extend(suite.guest().ok().map(|guest| (guest, false)));
    if let Ok(moderator) = suite.moderator("max", forum).await {
        all.push((moderator, true));
    }
    Ok(all)
}

async fn hidden(suite: &Suite) -> Verdict<(ForumId, Someone)> {
    Ok((
        suite.forum(Audience::Staff).await?,
        suite.join("sam", Role::Staff).await?,
    ))
}
