//! The standing is asked anew on every request, and nothing of it outlives that.

use super::sanitizing::{reply, start};
use super::thread_fixture::{no_posts, posts};
use super::{Audience, Part, Role, Suite, Verdict, equal, holds};
use crate::model::{ForumId, UserId};

board_rules!(
    mod access;

    /// What is hidden from somebody between two requests is gone with the second, and comes back.
    async fn sight_that_is_taken_away_is_gone_at_once(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let forum = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        let seen = alice.thread(&thread).await?.granted()?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        alice.thread(&thread).await?.absent()?;
        no_posts(&alice, &thread).await?;
        alice.reply(&thread, &reply("Some words")).await?.absent()?;
        let found = alice.forums().await?.granted()?;
        equal("the forums that are left", found, Vec::new())?;
        suite.stage.set_readers(&forum, Audience::Guests).await?;
        let found = alice.thread(&thread).await?.granted()?;
        equal("the thread afterwards", found, seen)
    }

    /// The guest's sight is asked anew as well.
    async fn a_guests_sight_is_asked_anew(suite: &Suite) -> Verdict {
        let guest = suite.guest()?;
        suite.needs(Part::HiddenForums)?;
        let forum = suite.forum(Audience::Guests).await?;
        let alice = suite.member("alice").await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        guest.thread(&thread).await?.granted()?;
        suite.stage.set_readers(&forum, Audience::Members).await?;
        guest.thread(&thread).await?.absent()?;
        let found = guest.forums().await?.granted()?;
        equal("the forums that are left", found, Vec::new())
    }

    /// A write decides inside its own transaction: what was hidden since the request began is absent.
    async fn a_write_under_way_loses_what_is_hidden_meanwhile(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, sam) = (
            suite.member("alice").await?,
            suite.join("sam", Role::Staff).await?,
        );
        let thread = suite.thread(&alice, &forum).await?.thread;
        let waiting = alice.hold().await?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        let before = sam.thread(&thread).await?.granted()?;
        waiting
            .reply(&thread, &reply("Some words"))
            .await?
            .absent()?;
        let new = start("x", "x");
        waiting.start_thread(&forum, &new).await?.absent()?;
        let found = sam.thread(&thread).await?.granted()?;
        equal("the thread afterwards", found, before)
    }

    /// A write of one who was banned since the request began is not carried out.
    async fn a_write_under_way_ends_with_a_ban(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        let thread = suite.thread(&bob, &forum).await?.thread;
        let waiting = alice.hold().await?;
        suite.stage.set_banned(&alice.id(), true).await?;
        let before = bob.thread(&thread).await?.granted()?;
        waiting
            .reply(&thread, &reply("Some words"))
            .await?
            .barred()?;
        let found = bob.thread(&thread).await?.granted()?;
        equal("the thread afterwards", found, before)
    }

    /// An account that is banned has no standing, until the ban is taken back.
    async fn a_banned_account_has_no_standing(suite: &Suite) -> Verdict {
        suite.needs(Part::Bans)?;
        let alice = suite.member("alice").await?;
        for banned in [false, true, false] {
            suite.stage.set_banned(&alice.id(), banned).await?;
            let stands = alice.standing().await?.is_some();
            equal(
                format_args!("whether alice stands, banned: {banned}"),
                stands,
                !banned,
            )?;
        }
        Ok(())
    }

    /// An id that no member has, has no standing: a token outlives its owner's account.
    async fn nobody_has_no_standing(suite: &Suite) -> Verdict {
        suite.member("alice").await?;
        for id in ["0", "-1", "007", "9223372036854775807", "no-such_member"] {
            let Some(nobody) = UserId::new(id) else {
                continue;
            };
            let standing = suite.standing_of(&nobody).await?;
            holds(format_args!("{id:?} has no standing"), standing.is_none())?;
        }
        Ok(())
    }

    /// An account that was removed has no standing, and what it wrote is nobody's.
    async fn a_removed_account_leaves_what_it_wrote(suite: &Suite) -> Verdict {
        suite.needs(Part::Removal)?;
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        let thread = suite.thread(&alice, &forum).await?.thread;
        suite.stage.remove_account(&alice.id()).await?;
        holds(
            "a removed account has no standing",
            alice.standing().await?.is_none(),
        )?;
        let seen = bob.thread(&thread).await?.granted()?;
        let last = seen.last_post.and_then(|last| last.author);
        let what = "the authors of the thread and its last post";
        let found = (seen.author, last);
        equal(what, found, (None, None))?;
        let items = posts(&bob, &thread).await?;
        let authors: Vec<_> = items.into_iter().map(|post| post.author).collect();
        equal("the authors of its posts", authors, vec![None])?;
        bob.profile(&alice.by_id()).await?.absent()?;
        bob.profile(&alice.by_name()).await?.absent()
    }

    /// While the board is offline, everybody but administrators is locked out.
    async fn offline_is_for_administrators(suite: &Suite) -> Verdict {
        suite.needs(Part::Offline)?;
        let everybody = [
            (suite.member("alice").await?, true),
            (suite.join("sam", Role::Staff).await?, true),
            (suite.join("ada", Role::Administrator).await?, false),
        ];
        let guest = suite.guest().ok().map(|guest| (guest, true));
        for (someone, shut) in everybody.into_iter().chain(guest) {
            for offline in [false, true, false] {
                suite.stage.set_offline(offline).await?;
                let locked_out = someone
                    .standing()
                    .await?
                    .map(|standing| standing.locked_out);
                let what = format!(
                    "whether {} is locked out, offline: {offline}",
                    someone.name()
                );
                equal(what, locked_out, Some(offline && shut))?;
            }
        }
        Ok(())
    }

    /// A moderator moderates the one forum, and no longer than they are one.
    async fn a_moderator_is_one_of_one_forum_while_it_lasts(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let (here, elsewhere) = (
            suite.forum(Audience::Guests).await?,
            suite.forum(Audience::Guests).await?,
        );
        let (alice, max) = (
            suite.member("alice").await?,
            suite.moderator("max", &here).await?,
        );
        for (forum, moderates) in [(&here, true), (&elsewhere, false)] {
            may_reply_in_locked(suite, &alice, &max, forum, moderates).await?;
        }
        suite.stage.set_moderator(&here, &max.id(), false).await?;
        may_reply_in_locked(suite, &alice, &max, &here, false).await
    }

    /// A moderator of a forum is none of those below it.
    async fn a_moderator_is_none_of_the_sub_forums(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let above = suite.forum(Audience::Guests).await?;
        let below = suite.sub_forum(&above, Audience::Guests).await?;
        let (alice, max) = (
            suite.member("alice").await?,
            suite.moderator("max", &above).await?,
        );
        may_reply_in_locked(suite, &alice, &max, &below, false).await
    }
);

async fn may_reply_in_locked(
    suite: &Suite,
    author: &super::Someone,
    someone: &super::Someone,
    forum: &ForumId,
    may: bool,
) -> Verdict {
    let thread = suite.thread(author, forum).await?.thread;
    suite.stage.set_locked(&thread, true).await?;
    let replied = someone.reply(&thread, &reply("Some words")).await?;
    replied.granted_if(may)
}
