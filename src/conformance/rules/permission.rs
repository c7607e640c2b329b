//! What each caller may do is told them, and is what the board then does.

use super::sanitizing::{reply, start};
use super::{Audience, Part, Role, Suite, Verdict, equal, thread_fixture};

board_rules!(
    mod permission;

    /// `canStartThread` is what the board then does.
    async fn who_may_start_a_thread_is_told(suite: &Suite) -> Verdict {
        suite.needs(Part::StartingThreads)?;
        let (sam, alice) = (
            suite.join("sam", Role::Staff).await?,
            suite.member("alice").await?,
        );
        let open = suite.forum(Audience::Guests).await?;
        let notices = suite
            .forum_of(None, Audience::Guests, Audience::Staff)
            .await?;
        for (someone, forum, may) in [
            (&alice, &open, true),
            (&alice, &notices, false),
            (&sam, &open, true),
            (&sam, &notices, true),
        ] {
            let told = thread_fixture::forum(someone, forum)
                .await?
                .can_start_thread;
            equal(
                format_args!("what {} is told of {forum:?}", someone.name()),
                told,
                may,
            )?;
            let new = start("x", "x");
            someone.start_thread(forum, &new).await?.granted_if(may)?;
        }
        Ok(())
    }

    /// A guest writes nowhere, whatever every member may.
    async fn a_guest_is_told_that_they_may_write_nowhere(suite: &Suite) -> Verdict {
        let guest = suite.guest()?;
        let forum = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        let may = (
            thread_fixture::forum(&guest, &forum)
                .await?
                .can_start_thread,
            guest.thread(&thread).await?.granted()?.can_reply,
        );
        equal(
            "whether the guest may start threads and reply",
            may,
            (false, false),
        )
    }

    /// Who may not write sees the forum, and is forbidden to reply there as well.
    async fn who_may_not_write_is_forbidden(suite: &Suite) -> Verdict {
        let (sam, alice) = (
            suite.join("sam", Role::Staff).await?,
            suite.member("alice").await?,
        );
        let notices = suite
            .forum_of(None, Audience::Guests, Audience::Staff)
            .await?;
        let thread = suite.thread(&sam, &notices).await?.thread;
        let words = reply("Some words");
        for (someone, may) in [(&alice, false), (&sam, true)] {
            let told = someone.thread(&thread).await?.granted()?.can_reply;
            equal(
                format_args!("whether {} may reply", someone.name()),
                told,
                may,
            )?;
        }
        alice.reply(&thread, &words).await?.forbidden()?;
        sam.reply(&thread, &words).await?.granted().map(drop)
    }

    /// A locked thread takes replies of moderators alone, and tells each whether they may.
    async fn a_locked_thread_takes_replies_of_moderators_alone(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let max = suite.moderator("max", &forum).await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        let words = reply("Some words");
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
                someone.reply(&thread, &words).await?.granted_if(may)?;
            }
        }
        Ok(())
    }
);
