//! The board in its own schema, and its fixture for the conformance suite.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::conformance::{
    Audience, BoardFactory, BoardFixture, Capability, FixtureResult, NewForum, Role,
};
use forum_api::host::Host;
use forum_api::model::{ForumId, NewThread, PostId, ThreadId, UserId};
use forum_api::operation::Operation;
use forum_api::runtime::ManualClock;
use forum_api::store::{Stores, WebhookStores};
use forum_test_support::postgres;
use tokio_postgres::types::ToSql;

use crate::added::events;
use crate::before::{Club, connect};

pub use forum_test_support::postgres::run_with_postgres;

/// Returns an empty board whose members have to wait for `pause` between two entries.
pub async fn club(pause: Duration) -> Club {
    let pool = connect(&postgres::schema().await).unwrap();
    Club::open(pool, pause).await.unwrap()
}

/// Creates the operations that the board has in addition to those of the API.
pub type CreateOperations = fn(&Arc<Club>) -> Vec<Operation>;

pub struct ClubFactory {
    pub operations: CreateOperations,
}

#[async_trait]
impl BoardFactory for ClubFactory {
    async fn create(&self, _: Arc<ManualClock>) -> FixtureResult<Box<dyn BoardFixture>> {
        Ok(Box::new(ClubFixture(club(Duration::ZERO).await, self.operations)))
    }

    fn unsupported(&self) -> &[Capability] {
        use Capability::*;
        &[
            AccountRemoval,
            Approval,
            BatchAccess,
            Deletion,
            EditWindow,
            Editing,
            IgnoreLists,
            InReplyTo,
            InjectedClock,
            Messages,
            Moderators,
            Offline,
            Pinning,
            Polls,
            ReadOnlyForums,
            Receipts,
            Reputation,
            Search,
            StartingThreads,
            SubForums,
            Subscriptions,
            Versions,
        ]
    }
}

struct ClubFixture(Club, CreateOperations);

#[async_trait]
impl BoardFixture for ClubFixture {
    fn board(&self) -> Host {
        Arc::new(self.0.clone()).into()
    }

    async fn add_member(&self, name: &str, role: Role) -> FixtureResult<UserId> {
        let rank: i16 = match role {
            Role::Member | Role::Newcomer => 1,
            Role::Staff => 2,
            Role::Administrator => 3,
        };
        let member = "INSERT INTO member (name, rank) VALUES ($1, $2) RETURNING id";
        Ok(insert(&self.0, member, &[&name, &rank]).await?.into())
    }

    async fn add_forum(&self, new: &NewForum) -> FixtureResult<ForumId> {
        let section = "INSERT INTO section (title, rank) VALUES ($1, $2) RETURNING id";
        let added = insert(&self.0, section, &[&new.title, &rank(new.readers)]).await?;
        Ok(added.into())
    }

    async fn set_readers(&self, forum: &ForumId, readers: Audience) -> FixtureResult<()> {
        let update = "UPDATE section SET rank = $2 WHERE id = $1";
        change(&self.0, update, &[&number(forum)?, &rank(readers)]).await
    }

    async fn set_banned(&self, member: &UserId, banned: bool) -> FixtureResult<()> {
        let update = "UPDATE member SET banned = $2 WHERE id = $1";
        change(&self.0, update, &[&number(member)?, &banned]).await
    }

    async fn set_locked(&self, thread: &ThreadId, locked: bool) -> FixtureResult<()> {
        Ok(events::lock_topic(&self.0, number(thread)?, locked).await?)
    }

    fn operations(&self) -> Vec<Operation> {
        self.1(&Arc::new(self.0.clone()))
    }

    /// Lets the caller of `accept` be the author of the post.
    async fn prepare_operation(
        &self,
        id: &str,
        caller: &UserId,
        variables: &mut BTreeMap<&'static str, String>,
    ) -> FixtureResult<()> {
        match variables.get("postId") {
            Some(post) if id == "accept" => {
                let update = "UPDATE entry SET writer = $2 WHERE id = $1";
                change(&self.0, update, &[&number(post)?, &number(caller)?]).await
            }
            _ => Ok(()),
        }
    }

    async fn add_thread_without_post(&self, forum: &ForumId) -> FixtureResult<Option<ThreadId>> {
        let sql = "INSERT INTO topic (section, subject) VALUES ($1, 'Empty') RETURNING id";
        let topic = insert(&self.0, sql, &[&number(forum)?]).await?;
        Ok(Some(topic.into()))
    }

    fn webhooks(&self) -> Option<WebhookStores> {
        Some(WebhookStores::in_postgres(&self.0.pool))
    }

    fn stores(&self) -> FixtureResult<Stores> {
        Ok(Stores::in_postgres(&self.0.pool))
    }

    async fn write_thread(
        &self,
        author: &UserId,
        forum: &ForumId,
        new: NewThread,
    ) -> FixtureResult<(ThreadId, PostId)> {
        let insert_topic =
            "INSERT INTO topic (section, subject, entries) VALUES ($1, $2, 1) RETURNING id";
        let topic = insert(&self.0, insert_topic, &[&number(forum)?, &new.title]).await?;
        let insert_entry = "
            INSERT INTO entry (topic, number, writer, body, written_at)
            SELECT id, 1, $2, $3, active_at FROM topic WHERE id = $1 RETURNING id";
        let entry = insert(&self.0, insert_entry, &[&topic, &number(author)?, &new.body]).await?;
        Ok((topic.into(), entry.into()))
    }
}

async fn insert(club: &Club, statement: &str, row: &[&(dyn ToSql + Sync)]) -> FixtureResult<i64> {
    let client = club.pool.get().await?;
    Ok(client.query_one(statement, row).await?.get(0))
}

/// Executes SQL in the board's database.
pub async fn change(club: &Club, sql: &str, values: &[&(dyn ToSql + Sync)]) -> FixtureResult<()> {
    let client = club.pool.get().await?;
    client.execute(sql, values).await?;
    Ok(())
}

fn number(id: &impl ToString) -> FixtureResult<i64> {
    Ok(id.to_string().parse()?)
}

fn rank(readers: Audience) -> i16 {
    match readers {
        Audience::Guests => 0,
        Audience::Members => 1,
        Audience::Staff => 2,
    }
}
