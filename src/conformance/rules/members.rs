//! Members, as others and as they themselves see them.

use super::{Audience, Part, Role, Suite, Verdict, equal};
use crate::model::{UserId, UserRef};

board_rules!(
    mod members;

    /// A member is found by id and by name, and is the same for every caller.
    async fn a_profile_is_found_by_id_and_by_name(suite: &Suite) -> Verdict {
        suite.forum(Audience::Guests).await?;
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        let profile = bob.profile(&alice.by_id()).await?.granted()?;
        equal(
            "whose it is",
            (&profile.user_id, &*profile.username),
            (&alice.id(), "alice"),
        )?;
        equal("how much they wrote", profile.post_count, 0)?;
        for someone in [Some(bob), suite.guest().ok()].into_iter().flatten() {
            for user in [alice.by_id(), alice.by_name()] {
                let found = someone.profile(&user).await?.granted()?;
                equal(
                    format_args!("{user} as {} sees them", someone.name()),
                    found,
                    profile.clone(),
                )?;
            }
        }
        Ok(())
    }

    /// Whom nobody is, by id or by name, is absent.
    async fn who_is_nobody_is_absent(suite: &Suite) -> Verdict {
        let alice = suite.member("alice").await?;
        for name in ["nobody", "ALICE alice", "' OR 1=1 --", "%", "*", "älice"] {
            alice.profile(&UserRef::Name(name.into())).await?.absent()?;
        }
        for id in [
            "0",
            "-1",
            "007",
            "9223372036854775808",
            "alice",
            "no-such_member",
        ] {
            if let Some(id) = UserId::new(id) {
                alice.profile(&UserRef::Id(id)).await?.absent()?;
            }
        }
        Ok(())
    }

    /// The profile of one who was banned stays.
    async fn a_banned_members_profile_stays(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        let before = bob.profile(&alice.by_id()).await?.granted()?;
        suite.stage.set_banned(&alice.id(), true).await?;
        for user in [alice.by_id(), alice.by_name()] {
            let found = bob.profile(&user).await?.granted()?;
            equal("the profile", found, before.clone())?;
        }
        Ok(())
    }

    /// Posts count on a profile where every member may read: a count says nothing of hidden forums.
    async fn posts_count_where_every_member_may_read(suite: &Suite) -> Verdict {
        let sam = suite.join("sam", Role::Staff).await?;
        let (alice, ada) = (
            suite.member("alice").await?,
            suite.join("ada", Role::Administrator).await?,
        );
        for (readers, posts) in [
            (Audience::Guests, 2),
            (Audience::Members, 4),
            (Audience::Staff, 4),
        ] {
            let forum = suite.forum(readers).await?;
            let thread = suite.thread(&sam, &forum).await?.thread;
            suite.post(&sam, &thread).await?;
            for someone in [&alice, &sam, &ada] {
                let count = someone.profile(&sam.by_id()).await?.granted()?.post_count;
                equal(
                    format_args!("how much sam wrote, as {} sees it", someone.name()),
                    count,
                    posts,
                )?;
            }
        }
        Ok(())
    }

    /// The caller's own account is what others see of them.
    async fn an_account_is_the_callers_own(suite: &Suite) -> Verdict {
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        for someone in [&alice, &bob] {
            let account = someone.me().await?.granted()?;
            let found = account.owner.user_id.clone();
            equal("the account's owner", found, someone.id())?;
            let (one, other) = (
                account.owner,
                alice.profile(&someone.by_id()).await?.granted()?,
            );
            let found = (one.username, one.joined_at);
            equal("the account", found, (other.username, other.joined_at))?;
        }
        Ok(())
    }

    /// How much is unread is told by a board with messages, and null on one without.
    async fn what_is_unread_is_told_where_there_are_messages(suite: &Suite) -> Verdict {
        let alice = suite.member("alice").await?;
        let unread = alice.me().await?.granted()?.unread_messages;
        equal(
            "what is unread",
            unread,
            suite.needs(Part::Messages).is_ok().then_some(0),
        )
    }
);
