//! Subscriptions to forums and threads.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult, CreateOutcome};
use forum_api::model::{
    List, Page, PageKey, Subscription, SubscriptionFilter, SubscriptionTarget,
    SubscriptionTargetKind, Timestamp,
};

use super::access::actor::Actor;
use super::access::visibility::{self, ContentRef, OrderedRows, is_visible};
use super::db::{Connection, Dialects, Row, bind};
use super::events::Command;

const COLUMNS: &str = "
    subscription.id, subscription.target = 'thread' AS is_thread, subscription.target_id, subscription.forum_id,
    coalesce(thread.title, forum.title) AS title, subscription.created_at";

const JOINS: &str = "
    JOIN forum ON forum.id = subscription.forum_id
    LEFT JOIN thread ON subscription.target = 'thread' AND thread.id = subscription.target_id";

/// Maximum number of subscriptions that are read for a page. The page ends early if it skips many hidden targets.
const MAX_READ: usize = 128;

/// Conditions on the target of a list of one target, or of both if `:target` is null.
const TARGETS: [&str; 2] = [
    "target = (SELECT 'forum') AND coalesce(CAST(:target AS TEXT), 'forum') = 'forum'",
    "target = (SELECT 'thread') AND coalesce(CAST(:target AS TEXT), 'thread') = 'thread'",
];

/// Query of a list: merges ranges of the index by target and time from the page key on. Returns the subscriptions of a page,
/// also those to hidden targets, and the first that may not be read.
static LIST: LazyLock<Dialects<String>> = LazyLock::new(|| {
    let rows = |range| OrderedRows {
        columns: "*",
        table: "subscription",
        key: "member_id",
        range,
        order: "created_at DESC, id DESC",
        limit: "129",
    };
    let parts = |member| TARGETS.map(|target| (member, target));
    let of_sqlite = rows("(created_at, id) < (:time, :id)").of(&parts(":member"));
    // As in the list of threads, values in subqueries do not affect the estimates of the planner.
    let of_postgres =
        rows("(created_at, id) < ((SELECT CAST(:time AS BIGINT)), (SELECT CAST(:id AS BIGINT)))")
            .of_limited(&parts("(SELECT CAST(:member AS BIGINT))"));
    Dialects { sqlite: of_sqlite, postgres: of_postgres }.map(|read| {
        format!(
            "WITH listed AS MATERIALIZED ({read})
            SELECT {COLUMNS}, thread.state, coalesce(thread.author_id = :member, FALSE) AS is_own
            FROM listed AS subscription {JOINS}
            ORDER BY subscription.created_at DESC, subscription.id DESC"
        )
    })
});

/// Lists the subscriptions to content that the member sees, newest first.
pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    list: &List<SubscriptionFilter>,
) -> BoardResult<Page<Subscription>> {
    let [time, id] = list.after_or([i64::MAX; 2])?;
    let parameters = bind! {
        ":member": actor.member, ":target": list.filter.target.map(target_name), ":time": time,
        ":id": id,
    };
    let mut next = None;
    let mut items = Vec::with_capacity(list.limit.get());
    let mut last_id = 0;
    let mut bytes = 0;
    let mut rows = 0;
    let mut read = |row: &Row<'_>| {
        if rows == MAX_READ {
            // The next page begins with this row.
            let created_at: Timestamp = row.value("created_at")?;
            let row_id: i64 = row.value("id")?;
            next = Some(PageKey::from_time_and_id(created_at, row_id + 1));
            return Ok(Break(()));
        }
        rows += 1;
        if !is_target_visible(row, actor)? {
            return Ok(Continue(()));
        }
        if items.len() == list.limit.get() || bytes > list.max_bytes {
            let last: Option<&Subscription> = items.last();
            next = last.map(|last| PageKey::from_time_and_id(last.created_at, last_id));
            return Ok(Break(()));
        }
        let (id, subscription) = read(row)?;
        last_id = id;
        bytes += list.json_size(&subscription.title);
        items.push(subscription);
        Ok(Continue(()))
    };
    connection.each_row(connection.on(&LIST), parameters, &mut read).await?;
    Ok(Page { items, next })
}

/// Returns whether the member sees the target of the subscription in a row of [`LIST`]. A condition in SQL would search all
/// forums of the member for the forum of each row.
fn is_target_visible(row: &Row<'_>, actor: &Actor) -> BackendResult<bool> {
    let access = actor.access(row.value("forum_id")?);
    if !row.value::<bool>("is_thread")? {
        return Ok(access.read);
    }
    let is_own = row.value("is_own")?;
    let state = row.maybe_state("state")?;
    Ok(state.is_some_and(|state| is_visible(access, state, is_own)))
}

pub async fn subscribe(
    Command { tx, events, actor, texts }: Command<'_>,
    subscription_target: SubscriptionTarget,
) -> BoardResult<CreateOutcome<Subscription>> {
    let absent = || BoardError::not_found(texts.unknown_target).with_field("targetId");
    let key = TargetKey::of(&subscription_target).ok_or_else(absent)?;
    let forum = containing_forum(tx, actor, key).await?.ok_or_else(absent)?;
    let insert = "
        INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
        VALUES (:member, :forum, :target, :id, :now) ON CONFLICT DO NOTHING";
    let parameters = bind! {
        ":member": actor.member, ":forum": forum, ":target": key.target(), ":id": key.id,
        ":now": events.now,
    };
    let added = tx.execute(insert, parameters).await?;
    let subscription = load(tx, actor, key).await?;
    Ok(if added > 0 {
        CreateOutcome::Created(subscription)
    } else {
        CreateOutcome::Existing(subscription)
    })
}

/// Subscribes the author of a new post to its thread.
pub const ADD_THREAD: &str = "
    INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
    VALUES (:author, :forum, 'thread', :thread, :written_at) ON CONFLICT DO NOTHING";

/// Removes a subscription, also of hidden content.
pub async fn unsubscribe(
    Command { tx, actor, texts, .. }: Command<'_>,
    subscription_target: SubscriptionTarget,
) -> BoardResult<()> {
    let not_subscribed = || BoardError::not_found(texts.not_subscribed);
    let key = TargetKey::of(&subscription_target).ok_or_else(not_subscribed)?;
    let deleted = tx
        .execute(
            "DELETE FROM subscription WHERE member_id = ?1 AND target = ?2 AND target_id = ?3",
            bind![actor.member, key.target(), key.id],
        )
        .await?;
    if deleted == 0 {
        return Err(not_subscribed());
    }
    Ok(())
}

async fn load(
    connection: &Connection<'_>,
    actor: &Actor,
    key: TargetKey,
) -> BoardResult<Subscription> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {COLUMNS} FROM subscription {JOINS}
            WHERE subscription.member_id = :member AND subscription.target = :target
                AND subscription.target_id = :id"
        )
    });
    let parameters = bind! { ":member": actor.member, ":target": key.target(), ":id": key.id };
    let (_, subscription) = connection.one(&QUERY, parameters, read).await?;
    Ok(subscription)
}

/// Reads a subscription and its id.
fn read(row: &Row<'_>) -> BackendResult<(i64, Subscription)> {
    let target = if row.value("is_thread")? {
        SubscriptionTarget::Thread(row.id("target_id")?)
    } else {
        SubscriptionTarget::Forum(row.id("target_id")?)
    };
    let subscription = Subscription::new(
        target,
        row.id("forum_id")?,
        row.value::<String>("title")?,
        row.value("created_at")?,
    );
    Ok((row.value("id")?, subscription))
}

/// Returns the forum of a visible target.
async fn containing_forum(
    connection: &Connection<'_>,
    actor: &Actor,
    key: TargetKey,
) -> BoardResult<Option<i64>> {
    if key.kind == SubscriptionTargetKind::Forum {
        return Ok(actor.access(key.id).read.then_some(key.id));
    }
    let content = ContentRef { thread: Some(key.id), ..ContentRef::default() };
    match visibility::forum(connection, actor, content).await {
        Ok(forum) => Ok(Some(forum)),
        Err(BoardError::PathNotFound) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Target of a subscription as the database stores it.
#[derive(Clone, Copy)]
struct TargetKey {
    kind: SubscriptionTargetKind,
    id: i64,
}

impl TargetKey {
    /// Returns `None` if the id is invalid.
    fn of(target: &SubscriptionTarget) -> Option<Self> {
        let id = match target {
            SubscriptionTarget::Thread(id) => id.to_i64(),
            SubscriptionTarget::Forum(id) => id.to_i64(),
        };
        Some(Self { kind: target.kind(), id: id.ok()? })
    }

    /// Returns the value of the column `target`.
    const fn target(self) -> &'static str {
        target_name(self.kind)
    }
}

const fn target_name(target: SubscriptionTargetKind) -> &'static str {
    match target {
        SubscriptionTargetKind::Thread => "thread",
        SubscriptionTargetKind::Forum => "forum",
    }
}
