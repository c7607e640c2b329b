//! Threads: started.

use super::sanitizing::{NOT_SINGLE_LINE, start};
use super::threads::ids;
use super::{Part, Suite, Verdict, equal};

board_rules!(
    mod thread_creation;

    /// A thread is started with its first post, as its author told it.
    async fn a_thread_is_started_with_its_first_post(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let new = start("Kettles", "Which one?");
        let thread = alice.start_thread(&forum, &new).await?.granted()?;
        let author = thread.author.as_ref().map(|author| author.user_id.clone());
        let found = (&*thread.title, author);
        equal("its title and author", found, ("Kettles", Some(alice.id())))?;
        let found = (&thread.forum_id, thread.reply_count);
        equal("its forum and replies", found, (&forum, 0))?;
        equal("its version", thread.version, 1)?;
        let found = (thread.locked, thread.pinned);
        equal("whether it is locked, or pinned", found, (false, false))?;
        let last = thread.last_post.as_ref().map(|last| last.post_id.clone());
        equal("its last post", last, Some(thread.first_post_id.clone()))?;
        if suite.needs(Part::SuiteClock).is_ok() {
            let found = (thread.created_at, thread.last_activity_at);
            equal("when", found, (suite.now(), suite.now()))?;
        }
        let found = alice.thread(&thread.thread_id).await?.granted()?;
        equal("the same, read", found, thread.clone())?;
        let found = ids(&alice, &forum).await?;
        equal("the list", found, vec![thread.thread_id])
    }

    /// Refuses an empty title or body as invalid, names the field, and leaves nothing behind.
    async fn an_empty_title_or_body_is_invalid(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let before = alice.forums().await?.granted()?;
        for (title, body, field) in [
            ("", "x", "title"),
            (" \n\t", "x", "title"),
            ("x", "", "body"),
            ("x", " \n\t", "body"),
        ] {
            let new = start(title, body);
            alice.start_thread(&forum, &new).await?.invalid(field)?;
        }
        let found = alice.forums().await?.granted()?;
        equal("the forums afterwards", found, before)?;
        let found = ids(&alice, &forum).await?;
        equal("the threads afterwards", found, Vec::new())
    }

    /// Refuses a title that is not a single-line text as invalid, and leaves nothing behind.
    async fn a_title_is_a_single_line(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        for title in NOT_SINGLE_LINE {
            let new = start(title, "x");
            alice.start_thread(&forum, &new).await?.invalid("title")?;
        }
        let found = ids(&alice, &forum).await?;
        equal("the threads afterwards", found, Vec::new())
    }
);
