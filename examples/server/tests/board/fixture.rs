//! The reference board as a fixture of the conformance suite.

use forum_api::audit::{AuditAction, AuditActor};
use forum_api::conformance::{self, Audience, Capability, NewForum, Role};
use forum_api::host::WebUrls;
use forum_api::model::{ForumId, PostId, ThreadId};
use forum_api::runtime::OsRandom;
use forum_api::store::WebhookStores;

use crate::board::access::permissions::AccessLists;
use crate::board::db::TransactionFuture;
use crate::board::forums;
use crate::board::posts::moderation::ThreadFlag;
use crate::prelude::*;

/// Recounts posts on profiles after the readers of a forum changed. No command of the reference board
/// changes the readers.
const RECOUNT: &str = "
    DELETE FROM thread_recount;
    UPDATE thread_author SET counted = CASE
        WHEN EXISTS (
            SELECT 1 FROM thread JOIN forum ON forum.id = thread.forum_id
            WHERE thread.id = thread_author.thread_id AND thread.state = 'visible'
                AND (instr(forum.read_groups, 'guests') > 0 OR instr(forum.read_groups, 'members') > 0)
        )
        THEN post_count ELSE 0
    END;
    UPDATE member SET post_count = (
        SELECT coalesce(sum(counted), 0) FROM thread_author WHERE author_id = member.id
    )";

/// A board without content, and its storage.
pub struct ReferenceBoardFixture {
    /// The board as the rules call it.
    pub host: Host,
    board: Arc<ReferenceBoard>,
    storage: Storage,
}

impl Backend {
    /// Creates a board with these settings.
    pub async fn create_with_settings(
        self,
        clock: Arc<ManualClock>,
        settings: &'static [(&'static str, &'static str)],
    ) -> FixtureResult<Box<dyn conformance::BoardFixture>> {
        let fixture = self.create_storage().await.fixture(clock).await;
        for (key, value) in settings {
            let setting = settings::find(key).unwrap();
            fixture
                .change(move |tx| {
                    Box::pin(async move {
                        setting.set(tx, value).await?.unwrap();
                        Ok(())
                    })
                })
                .await?;
        }
        Ok(Box::new(fixture))
    }
}

impl Storage {
    /// Creates a board that writes events.
    pub async fn fixture(self, clock: Arc<ManualClock>) -> ReferenceBoardFixture {
        self.fixture_with_pages(clock, &WebUrls::default()).await
    }

    /// Creates a board that writes events with these URLs.
    async fn fixture_with_pages(
        self,
        clock: Arc<ManualClock>,
        pages: &WebUrls,
    ) -> ReferenceBoardFixture {
        self.add_endpoint().await;
        let board = Arc::new(self.board(clock, Language::English).with_web_urls(pages));
        ReferenceBoardFixture { host: board.clone().into(), board, storage: self }
    }
}

#[async_trait]
impl BoardFactory for Backend {
    async fn create(
        &self,
        clock: Arc<ManualClock>,
    ) -> FixtureResult<Box<dyn conformance::BoardFixture>> {
        let pages = WebUrls::new(|page| Some(format!("https://board.example/{page:?}")));
        Ok(Box::new(self.create_storage().await.fixture_with_pages(clock, &pages).await))
    }

    fn unsupported(&self) -> &[Capability] {
        &[]
    }
}

#[async_trait]
impl conformance::BoardFixture for ReferenceBoardFixture {
    fn board(&self) -> Host {
        self.host.clone()
    }

    async fn add_member(&self, name: &str, role: Role) -> FixtureResult<UserId> {
        let name = name.to_owned();
        let member = self
            .board
            .write(move |tx, events| {
                Box::pin(async move { accounts::add(tx, &name, groups(role), events.now).await })
            })
            .await?;
        Ok(member.into())
    }

    async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId> {
        let readers = Some(audience(new.readers));
        let writers = Some(audience(new.writers));
        let forum = forums::ForumInsert {
            title: new.title.clone(),
            parent: new.parent_id.as_ref().map(ForumId::to_i64).transpose()?,
            lists: AccessLists { read: readers, start: writers, reply: writers },
            ..forums::ForumInsert::default()
        };
        Ok(self.board.write(move |tx, _| Box::pin(forums::add(tx, forum))).await?.into())
    }

    async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
        let forum = forum.to_i64()?;
        let readers = audience(readers);
        self.change(move |tx| {
            Box::pin(async move {
                let set = "UPDATE forum SET read_groups = ?2 WHERE id = ?1";
                tx.execute(set, bind![forum, readers.to_string()]).await?;
                tx.execute_batch(RECOUNT).await
            })
        })
        .await
    }

    async fn set_moderator(
        &self,
        forum: &ForumId,
        member: &UserId,
        is_one: bool,
    ) -> FixtureResult<()> {
        let forum = forum.to_i64()?;
        let member = member.to_i64()?;
        self.change(move |tx| {
            Box::pin(async move {
                if is_one {
                    return forums::add_moderator(tx, forum, member).await;
                }
                let delete = "DELETE FROM forum_moderator WHERE (forum_id, member_id) = (?1, ?2)";
                Ok(tx.execute(delete, bind![forum, member]).await? > 0)
            })
        })
        .await
    }

    async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
        let member = member.to_i64()?;
        self.change(move |tx| Box::pin(accounts::set_banned(tx, member, banned))).await
    }

    async fn set_offline(&self, offline: bool) -> FixtureResult<()> {
        self.change(move |tx| Box::pin(settings::set_offline(tx, offline, None))).await
    }

    async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
        self.mark(thread, ThreadFlag::Locked, locked).await
    }

    async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> FixtureResult<()> {
        self.mark(thread, ThreadFlag::Pinned, pinned).await
    }

    async fn approve(&self, post: &PostId) -> FixtureResult<()> {
        let post = post.to_i64()?;
        Ok(self
            .board
            .write(move |tx, events| Box::pin(moderation::approve(tx, events, post)))
            .await?)
    }

    async fn restore(&self, post: &PostId) -> FixtureResult<()> {
        let post = post.to_i64()?;
        Ok(self
            .board
            .write(move |tx, events| Box::pin(moderation::restore(tx, events, post)))
            .await?)
    }

    async fn ignore(&self, member: &UserId, ignored: &UserId) -> FixtureResult<()> {
        let member = member.to_i64()?;
        let ignored = ignored.to_i64()?;
        self.change(move |tx| Box::pin(accounts::ignore(tx, member, ignored))).await
    }

    fn webhooks(&self) -> Option<WebhookStores> {
        Some(self.storage.database.webhooks())
    }

    fn stores(&self) -> FixtureResult<Stores> {
        Ok(self.board.database.stores())
    }

    async fn remove_account(&self, member: &UserId) -> FixtureResult<()> {
        let action = AuditAction::from_static("member.erased");
        let now = SystemClock.now();
        let entry = AuditActor::command_line(None).entry(&OsRandom, now, action, member)?;
        Ok(self.board.erase(member.to_i64()?, false, entry).await?)
    }
}

impl ReferenceBoardFixture {
    async fn mark(&self, thread: &ThreadId, mark: ThreadFlag, on: bool) -> FixtureResult<()> {
        let thread = thread.to_i64()?;
        let change = self
            .board
            .write(move |tx, events| Box::pin(moderation::set_flag(tx, events, thread, mark, on)));
        change.await?;
        Ok(())
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>) -> TransactionFuture<'a, T>
        + Clone
        + Send
        + 'static,
    ) -> FixtureResult<()> {
        self.board.write(move |tx, _| change(tx)).await?;
        Ok(())
    }
}

fn groups(role: Role) -> Groups {
    match role {
        Role::Member => Groups::of([Group::Members]),
        Role::Newcomer => Groups::of([Group::Members, Group::Newcomers]),
        Role::Staff => Groups::of([Group::Members, Group::Staff]),
        Role::Administrator => Groups::of([Group::Members, Group::Staff, Group::Administrators]),
    }
}

fn audience(audience: Audience) -> Groups {
    match audience {
        Audience::Guests => Groups::of([Group::Guests]),
        Audience::Members => Groups::of([Group::Members]),
        Audience::Staff => Groups::of([Group::Staff]),
    }
}
