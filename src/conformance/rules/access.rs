//! Access is looked up for every request.

use super::*;
use crate::host::{Access, Authorizer, BoxError, RequestInfo};
use crate::runtime::SeededRandom;
use crate::scope::{Scope, Surface};
use crate::store::TokenStore;
use crate::token::{Lookup, TokenRequest, issue_token};
use std::sync::Arc;

board_rules! {
    mod access, __rules_access;

    /// A forum that is hidden between two requests is not found by the second one, and is found again once it is shown.
    async fn revoked_access_is_effective_at_once(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let seen = alice.fetch_thread(&thread).await?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        alice.get_thread(&thread).await.expect_path_not_found()?;
        alice.first_page(&thread).await.expect_path_not_found()?;
        alice.reply(&thread, "Some words").await.expect_path_not_found()?;
        check_eq!(alice.fetch_forums().await?, [])?;
        suite.fixture.set_readers(&forum, Audience::Guests).await?;
        check_eq!(alice.fetch_thread(&thread).await?, seen)
    }

    /// The guest's access is looked up for every request.
    async fn a_guests_access_is_checked_on_each_request(suite: &Suite) -> TestResult {
        let guest = suite.guest()?;
        suite.require(Capability::HiddenForums)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        guest.fetch_thread(&thread).await?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        guest.get_thread(&thread).await.expect_path_not_found()?;
        check_eq!(guest.fetch_forums().await?, [])
    }

    /// A write checks visibility in its own transaction: a forum that was hidden after the request began is not found.
    async fn a_write_in_progress_is_rejected_if_its_forum_becomes_hidden(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let sam = suite.staff("sam").await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let cached = alice.cache_access().await?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        let before = sam.fetch_thread(&thread).await?;
        cached.reply(&thread, "Some words").await.expect_path_not_found()?;
        cached.start_thread(&forum, "x", "x").await.expect_path_not_found()?;
        check_eq!(sam.fetch_thread(&thread).await?, before)
    }

    /// A write checks its author's account in its own transaction: for a member who was banned after the request began
    /// it returns `Forbidden` or `PathNotFound`, and writes nothing.
    async fn a_write_in_progress_is_rejected_if_its_author_is_banned(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let bob = suite.member("bob").await?;
        let thread = suite.thread(&bob, &forum).await?.thread_id;
        let cached = suite.ban_during_request(&alice).await?;
        let before = bob.fetch_thread(&thread).await?;
        cached.reply(&thread, "Some words").await.expect_denied()?;
        check_eq!(bob.fetch_thread(&thread).await?, before)
    }

    /// `member_access` returns `None` for a banned account until the ban is lifted.
    async fn a_banned_account_has_no_access(suite: &Suite) -> TestResult {
        suite.require(Capability::Bans)?;
        suite.require(Capability::BansRevokeAccess)?;
        let alice = suite.member("alice").await?;
        for banned in [false, true, false] {
            suite.fixture.set_banned(&alice.id(), banned).await?;
            check_eq!(alice.access().await?.is_some(), !banned, "access after set_banned({banned})")?;
        }
        Ok(())
    }

    /// A write of a banned member returns `Forbidden` or `PathNotFound`, even with access from before the ban, or on a
    /// board on which banned members can read.
    async fn a_banned_member_writes_nothing(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let bob = suite.member("bob").await?;
        let thread = suite.thread(&bob, &forum).await?.thread_id;
        let cached = suite.ban_during_request(&alice).await?;
        let before = bob.fetch_threads(&forum).await?;
        let reader = alice.access().await?.map(|_| alice);
        for banned in [Some(cached), reader].into_iter().flatten() {
            banned.reply(&thread, "Some words").await.expect_denied()?;
            banned.start_thread(&forum, "x", "x").await.expect_denied()?;
        }
        check_eq!(bob.fetch_threads(&forum).await?, before)
    }

    /// `member_access` returns `None` for an id without a member. Tokens of removed accounts have such owners.
    async fn an_unknown_account_has_no_access(suite: &Suite) -> TestResult {
        suite.member("alice").await?;
        let ids = ["0", "-1", "007", "9223372036854775807", "no-such_member"];
        for id in ids {
            let unknown = UserId::parse(id)?;
            let access = suite.access_of(&unknown).await?;
            check!(access.is_none(), "{unknown:?} has no access")?;
        }
        Ok(())
    }

    /// `load_token` returns the same token as the store, and the same access of the owner as `member_access`.
    async fn a_loaded_token_has_its_current_state_and_owner(suite: &Suite) -> TestResult {
        suite.require(Capability::TokenLoading)?;
        let fixture = LoaderFixture {
            suite,
            tokens: suite.fixture.stores()?.tokens,
            authorizer: suite.fixture.board().authorizer,
            random: SeededRandom::default(),
        };
        let forums = suite.two_forums().await?;
        let owners = [suite.member("alice").await?, suite.staff("sam").await?, suite.admin("ada").await?];
        let [alice, sam, ada] = owners.map(|owner| owner.id());
        let unknown = ["0", "-1", "007", "9223372036854775807", "no-such_member"].map(str::to_owned);
        let similar = [format!("0{alice}"), format!("{alice}x")];
        let unknown = unknown.iter().chain(&similar).flat_map(|id| UserId::parse(id));
        let mut tokens = Vec::new();
        for owner in [alice.clone(), sam.clone(), ada].into_iter().chain(unknown) {
            tokens.push((fixture.issue_token(&owner).await?, owner));
        }
        fixture.check(&tokens, &forums).await?;
        if suite.require(Capability::HiddenForums).is_ok() {
            suite.fixture.set_readers(&forums[0], Audience::Staff).await?;
            fixture.check(&tokens, &forums).await?;
        }
        if suite.require(Capability::Offline).is_ok() {
            suite.fixture.set_offline(true).await?;
            fixture.check(&tokens, &forums).await?;
        }
        if suite.require(Capability::Bans).is_ok() {
            suite.fixture.set_banned(&alice, true).await?;
            fixture.check(&tokens, &forums).await?;
        }
        if suite.require(Capability::AccountRemoval).is_ok() {
            suite.fixture.remove_account(&sam).await?;
            fixture.check(&tokens, &forums).await?;
        }
        for (lookup, _) in &tokens {
            fixture.tokens.revoke(lookup, suite.now(), &audit_entry()).await?;
        }
        fixture.check(&tokens, &forums).await?;
        let absent = fixture.authorizer.load_token(&Lookup::DUMMY).await?;
        check!(absent.is_none(), "no token has the lookup {}", Lookup::DUMMY)
    }

    /// `access_of_members` returns the access that `member_access` returns for each of the members, also after a change.
    /// Members without access are omitted.
    async fn the_access_of_several_members_is_that_of_each(suite: &Suite) -> TestResult {
        suite.require(Capability::BatchAccess)?;
        let forums = suite.two_forums().await?;
        let members = [suite.member("alice").await?, suite.staff("sam").await?, suite.member("bob").await?];
        let owners = members.map(|member| member.id());
        check_batch(suite, &owners, &forums).await?;
        if suite.require(Capability::HiddenForums).is_ok() {
            suite.fixture.set_readers(&forums[0], Audience::Staff).await?;
        }
        if suite.require(Capability::Bans).is_ok() {
            suite.fixture.set_banned(&owners[0], true).await?;
        }
        check_batch(suite, &owners, &forums).await
    }

    /// `member_access` returns `None` for a removed account, and its profile is not found. Its posts remain without an
    /// author.
    async fn posts_of_a_removed_account_remain(suite: &Suite) -> TestResult {
        suite.require(Capability::AccountRemoval)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let bob = suite.member("bob").await?;
        let path = suite.thread(&alice, &forum).await?;
        suite.fixture.remove_account(&alice.id()).await?;
        check!(alice.access().await?.is_none())?;
        let seen = bob.fetch_thread(&path.thread_id).await?;
        check_eq!(seen.author, None)?;
        check_eq!(seen.last_post.and_then(|last| last.author), None)?;
        check_eq!(bob.fetch_post(&path).await?.author, None)?;
        bob.get_member(&alice.id_ref()).await.expect_path_not_found()?;
        bob.get_member(&alice.name_ref()).await.expect_path_not_found()
    }

    /// While the board is offline, the access of all callers except administrators has `board_offline(true)`.
    async fn only_administrators_have_access_while_offline(suite: &Suite) -> TestResult {
        suite.require(Capability::Offline)?;
        let callers = [
            (suite.member("alice").await?, true),
            (suite.staff("sam").await?, true),
            (suite.admin("ada").await?, false),
        ];
        let guest = suite.guest().ok().map(|guest| (guest, true));
        for (caller, can_be_denied) in callers.into_iter().chain(guest) {
            for offline in [false, true, false] {
                suite.fixture.set_offline(offline).await?;
                let locked_out = caller.access().await?.map(|access| access.board_offline);
                check_eq!(locked_out, Some(offline && can_be_denied), "{caller:?} while offline is {offline}")?;
            }
        }
        Ok(())
    }

    /// A moderator moderates one forum until the role is removed.
    async fn a_moderator_moderates_only_their_forum(suite: &Suite) -> TestResult {
        suite.require(Capability::Moderators)?;
        let [here, elsewhere] = suite.two_forums().await?;
        let alice = suite.member("alice").await?;
        let max = suite.moderator("max", &here).await?;
        expect_moderation(suite, &alice, &max, &here, true).await?;
        expect_moderation(suite, &alice, &max, &elsewhere, false).await?;
        suite.fixture.set_moderator(&here, &max.id(), false).await?;
        expect_moderation(suite, &alice, &max, &here, false).await
    }

    /// A moderator of a forum does not moderate its sub-forums.
    async fn moderators_do_not_moderate_sub_forums(suite: &Suite) -> TestResult {
        suite.require(Capability::Moderators)?;
        let (above, alice) = suite.forum_and_member().await?;
        let below = suite.sub_forum(&above, Audience::Guests).await?;
        let max = suite.moderator("max", &above).await?;
        expect_moderation(suite, &alice, &max, &below, false).await
    }
}

/// Compares `access_of_members` with `member_access`.
async fn check_batch(suite: &Suite, owners: &[UserId], forums: &[ForumId]) -> TestResult {
    let request = RequestInfo::background(suite.now());
    let authorizer = suite.fixture.board().authorizer;
    let mut found = authorizer
        .access_of_members(owners, &request)
        .await?
        .ok_or(BoxError::from("`access_of_members` returned `None`"))?;
    for owner in owners {
        let access = [found.remove(owner), suite.access_of(owner).await?];
        let [access, expected] = access.map(|access| summary(access, forums));
        check_eq!(access, expected, "the access of {owner}")?;
    }
    check!(found.is_empty(), "the result has the given members only")
}

/// A board that loads tokens with their owners.
struct LoaderFixture<'a> {
    suite: &'a Suite,
    tokens: Arc<dyn TokenStore>,
    authorizer: Arc<dyn Authorizer>,
    random: SeededRandom,
}

impl LoaderFixture<'_> {
    async fn issue_token(&self, owner: &UserId) -> TestResult<Lookup> {
        let request = TokenRequest::new(owner, &[Scope::FORUMS_READ]).label("a label");
        let now = self.suite.now();
        let issued = issue_token(&*self.tokens, &self.random, Surface::Full, request, now).await;
        Ok(issued.map_err(BoxError::from)?.1.lookup)
    }

    /// Compares `load_token` with the separate calls.
    async fn check(&self, tokens: &[(Lookup, UserId)], forums: &[ForumId]) -> TestResult {
        for (lookup, owner) in tokens {
            let loaded = self.authorizer.load_token(lookup).await?;
            let record = loaded.as_ref().map(|loaded| &loaded.record);
            let stored = self.tokens.find(lookup).await?;
            check_eq!(record, stored.as_ref(), "the token of {owner}")?;
            let request = RequestInfo::new(self.suite.now()).with_token_lookup(*lookup);
            let Some(loaded) = loaded else {
                continue;
            };
            let access = (loaded.owner_access)(&request);
            let expected = self.suite.access_of(owner).await?;
            let [access, expected] = [access, expected].map(|access| summary(access, forums));
            check_eq!(access, expected, "the access of {owner}")?;
        }
        Ok(())
    }
}

/// Returns the visible forums among `forums`, and `true` if the caller is denied while the board is offline; `None`
/// without access.
fn summary(access: Option<Access>, forums: &[ForumId]) -> Option<(Vec<&ForumId>, bool)> {
    let access = access?;
    let is_visible = |forum: &&ForumId| access.visible_forums.contains(forum);
    let visible = forums.iter().filter(is_visible);
    Some((visible.collect(), access.board_offline))
}

/// Checks whether `caller` can delete a reply of `author` in the forum.
async fn expect_moderation(
    suite: &Suite,
    author: &TestCaller,
    caller: &TestCaller,
    forum: &ForumId,
    permitted: bool,
) -> TestResult {
    let thread = suite.thread(author, forum).await?.thread_id;
    let reply = suite.post(author, &thread).await?;
    caller.delete_post(&reply).await.expect_ok_if(permitted)
}
