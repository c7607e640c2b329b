//! What is visible is shown, and what is hidden is not there.

use super::{Audience, Role, Stop, Suite, Verdict, equal, holds};
use crate::model::{ForumId, ListPosts, ListThreads, Reply, StartThread};

/// A forum that guests see, every member sees as well.
pub async fn what_guests_see_every_member_sees(suite: &Suite) -> Verdict {
    let forum = suite.forum(Audience::Guests).await?;
    for someone in [suite.guest()?, suite.member("alice").await?] {
        let forums = someone.forums().await?.granted()?;
        let seen = forums.iter().any(|seen| seen.forum_id == forum);
        holds(
            format_args!("{} sees what guests see", someone.name()),
            seen,
        )?;
    }
    Ok(())
}

/// A forum is in the list of those who see it, and in no other.
pub async fn a_hidden_forum_is_in_no_list(suite: &Suite) -> Verdict {
    let staff = suite.forum(Audience::Staff).await?;
    for (someone, sees) in [
        (suite.guest()?, false),
        (suite.member("alice").await?, false),
        (suite.join("sam", Role::Staff).await?, true),
    ] {
        let forums = someone.forums().await?.granted()?;
        let listed = forums.iter().any(|forum| forum.forum_id == staff);
        equal(
            format_args!("whether {} sees it", someone.name()),
            listed,
            sees,
        )?;
    }
    Ok(())
}

/// A thread of a hidden forum is absent in every way.
pub async fn a_hidden_thread_is_absent(suite: &Suite) -> Verdict {
    let (forum, sam) = hidden(suite).await?;
    let thread = suite.thread(&sam, &forum).await?.thread;
    sam.thread(&thread).await?.granted()?;
    for someone in [suite.guest()?, suite.member("alice").await?] {
        someone.thread(&thread).await?.absent()?;
        someone
            .posts(&thread, &ListPosts::default())
            .await?
            .absent()?;
        someone
            .threads(&forum, &ListThreads::default())
            .await?
            .absent()?;
    }
    Ok(())
}

/// Nobody starts a thread or replies where they see nothing: it is absent, not forbidden.
pub async fn nobody_writes_where_they_see_nothing(suite: &Suite) -> Verdict {
    let (forum, sam) = hidden(suite).await?;
    let alice = suite.member("alice").await?;
    let new = StartThread {
        title: "x".into(),
        body: "x".into(),
        ..StartThread::default()
    };
    alice.start_thread(&forum, &new).await?.absent()?;
    let thread = suite.thread(&sam, &forum).await?.thread;
    let reply = Reply {
        body: "x".into(),
        ..Reply::default()
    };
    alice.reply(&thread, &reply).await?.absent()
}

async fn hidden(suite: &Suite) -> Result<(ForumId, super::Someone), Stop> {
    Ok((
        suite.forum(Audience::Staff).await?,
        suite.join("sam", Role::Staff).await?,
    ))
}
