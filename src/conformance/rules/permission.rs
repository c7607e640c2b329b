//! The `can` fields agree with the results of writes.

use super::*;

board_rules! {
    mod permission, __rules_permission;

    /// A new thread without permission in a visible forum is forbidden. `canStartThread` agrees.
    async fn can_start_thread_matches_permissions(suite: &Suite) -> TestResult {
        suite.require(Capability::StartingThreads)?;
        let sam = suite.staff("sam").await?;
        let alice = suite.member("alice").await?;
        let open = suite.forum(Audience::Guests).await?;
        let notices = suite.add_forum(None, Audience::Guests, Audience::Staff).await?;
        for (caller, forum, permitted) in [
            (&alice, &open, true),
            (&alice, &notices, false),
            (&sam, &open, true),
            (&sam, &notices, true),
        ] {
            let can_start = caller.fetch_forum(forum).await?.can_start_thread;
            check_eq!(can_start, permitted, "canStartThread of {forum:?} for {caller:?}")?;
            caller.start_thread(forum, "x", "x").await.expect_ok_if(permitted)?;
        }
        Ok(())
    }

    /// `canStartThread` and `canReply` are false for a guest.
    async fn can_flags_are_false_for_a_guest(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        check_eq!(guest.fetch_forum(&forum).await?.can_start_thread, false)?;
        check_eq!(guest.fetch_thread(&thread).await?.can_reply, false)
    }

    /// A reply without permission in a visible forum is forbidden, unless read-only forums restrict new threads only.
    /// `canReply` agrees.
    async fn a_caller_without_permission_is_forbidden(suite: &Suite) -> TestResult {
        let sam = suite.staff("sam").await?;
        let alice = suite.member("alice").await?;
        let notices = suite.add_forum(None, Audience::Guests, Audience::Staff).await?;
        let thread = suite.thread(&sam, &notices).await?.thread_id;
        let by_everyone = suite.require(Capability::RestrictedReplies).is_err();
        for (caller, permitted) in [(&alice, by_everyone), (&sam, true)] {
            check_eq!(caller.fetch_thread(&thread).await?.can_reply, permitted, "canReply for {caller:?}")?;
            caller.reply(&thread, "Some words").await.expect_ok_if(permitted)?;
        }
        Ok(())
    }

    /// A reply in a locked thread is forbidden except for moderators, whom the lock binds as well on some boards.
    /// `canReply` agrees.
    async fn only_moderators_reply_in_a_locked_thread(suite: &Suite) -> TestResult {
        suite.require(Capability::Locking)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let max = suite.moderator("max", &forum).await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let binds_moderators = suite.require(Capability::ModeratorsInLockedThreads).is_err();
        for locked in [true, false] {
            suite.fixture.set_locked(&thread, locked).await?;
            for (caller, permitted) in [(&alice, !locked), (&max, !locked || !binds_moderators)] {
                let seen = caller.fetch_thread(&thread).await?;
                let actual = (seen.locked, seen.can_reply);
                check_eq!(actual, (locked, permitted), "locked and canReply for {caller:?}")?;
                caller.reply(&thread, "Some words").await.expect_ok_if(permitted)?;
            }
        }
        Ok(())
    }
}
