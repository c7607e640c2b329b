//! Public profiles and the own account.

use super::*;

board_rules! {
    mod members, __rules_members;

    /// A member is found by id and by name. The result is the same for every caller.
    async fn a_member_is_found_by_id_and_by_name(suite: &Suite) -> TestResult {
        suite.forum(Audience::Guests).await?;
        let [alice, bob] = suite.members(["alice", "bob"]).await?;
        let profile = bob.fetch_member(&alice.id_ref()).await?;
        check_eq!((&profile.user_id, &*profile.username), (&alice.id(), "alice"))?;
        check_eq!(profile.post_count, 0)?;
        for caller in [Some(bob), suite.guest().ok()].into_iter().flatten() {
            for user in [alice.id_ref(), alice.name_ref()] {
                check_eq!(caller.fetch_member(&user).await?, profile, "{user} for {caller:?}")?;
            }
        }
        Ok(())
    }

    /// An id or a name without a member is not found.
    async fn an_unknown_member_is_not_found(suite: &Suite) -> TestResult {
        let alice = suite.member("alice").await?;
        let names = ["unknown", "ALICE alice", "' OR 1=1 --", "%", "*", "älice"].map(|name| UserRef::Name(name.into())).into_iter();
        let ids = ["0", "-1", "007", "9223372036854775808", "alice", "no-such_member"].into_iter().flat_map(UserId::parse).map(UserRef::Id);
        for user in names.chain(ids) {
            alice.get_member(&user).await.expect_path_not_found()?;
        }
        Ok(())
    }

    /// The profile of a banned member stays visible.
    async fn a_banned_member_is_still_found(suite: &Suite) -> TestResult {
        suite.require(Capability::Bans)?;
        let [alice, bob] = suite.members(["alice", "bob"]).await?;
        let before = bob.fetch_member(&alice.id_ref()).await?;
        suite.fixture.set_banned(&alice.id(), true).await?;
        for user in [alice.id_ref(), alice.name_ref()] {
            check_eq!(bob.fetch_member(&user).await?, before)?;
        }
        Ok(())
    }

    /// A post count covers only forums that every member sees, and so reveals nothing of hidden forums.
    async fn post_counts_exclude_hidden_forums(suite: &Suite) -> TestResult {
        suite.require(Capability::PublicPostCounts)?;
        let sam = suite.staff("sam").await?;
        let alice = suite.member("alice").await?;
        let ada = suite.admin("ada").await?;
        let mut posts = 0;
        let forums = [(Audience::Guests, true), (Audience::Members, true), (Audience::Staff, false)];
        for (readers, are_counted) in forums {
            if readers == Audience::Members && suite.require(Capability::MemberForums).is_err() {
                continue;
            }
            posts += if are_counted { 2 } else { 0 };
            let forum = suite.forum(readers).await?;
            let thread = suite.thread(&sam, &forum).await?.thread_id;
            suite.post(&sam, &thread).await?;
            for caller in [&alice, &sam, &ada] {
                let actual = caller.fetch_member(&sam.id_ref()).await?.post_count;
                check_eq!(actual, posts, "sam's postCount for {caller:?}")?;
            }
        }
        Ok(())
    }

    /// A post count is equal for every caller, whether or not the caller sees the posts.
    async fn a_post_count_is_equal_for_every_caller(suite: &Suite) -> TestResult {
        let sam = suite.staff("sam").await?;
        let alice = suite.member("alice").await?;
        let ada = suite.admin("ada").await?;
        for readers in [Audience::Guests, Audience::Staff] {
            let forum = suite.forum(readers).await?;
            suite.thread(&sam, &forum).await?;
            let expected = sam.fetch_member(&sam.id_ref()).await?.post_count;
            for caller in [&alice, &ada] {
                let actual = caller.fetch_member(&sam.id_ref()).await?.post_count;
                check_eq!(actual, expected, "sam's postCount for {caller:?}")?;
            }
        }
        Ok(())
    }

    /// `get_me` agrees with `get_member`.
    async fn own_account_agrees_with_the_public_member(suite: &Suite) -> TestResult {
        let [alice, bob] = suite.members(["alice", "bob"]).await?;
        for caller in [&alice, &bob] {
            let owner = caller.get_me().await.expect_ok()?.owner;
            let profile = alice.fetch_member(&caller.id_ref()).await?;
            check_eq!(owner.user_id, caller.id())?;
            check_eq!((owner.username, owner.joined_at), (profile.username, profile.joined_at))?;
        }
        Ok(())
    }

    /// `unreadMessages` is a count on a board with messages, and null otherwise.
    async fn unread_messages_are_reported(suite: &Suite) -> TestResult {
        let account = suite.member("alice").await?.get_me().await.expect_ok()?;
        let has_messages = suite.require(Capability::Messages).is_ok();
        if has_messages {
            suite.require_operation("listMessages", Capability::Messages)?;
        }
        let expected = has_messages.then_some(0);
        check_eq!(account.unread_messages, expected)
    }
}
