//! Subscriptions to forums and threads.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult, CreateOutcome};
use forum_api::model::{
    List, Page, PageKey, Subscription, SubscriptionFilter, SubscriptionTarget,
    SubscriptionTargetKind,
};

use super::access::actor::Actor;
use super::access::visibility::{self, ContentRef, Visibility, sees_forum, sees_thread};
use super::db::{Connection, Row, bind};
use super::events::Command;

const SELECT: &str = "
    SELECT
        subscription.id, subscription.target = 'thread' AS is_thread, subscription.target_id, subscription.forum_id,
        coalesce(thread.title, forum.title) AS title, subscription.created_at
    FROM subscription
    JOIN forum ON forum.id = subscription.forum_id
    LEFT JOIN thread ON subscription.target = 'thread' AND thread.id = subscription.target_id
    WHERE subscription.member_id = :member";

/// Query of a list: scans an index by time from the page key on, and skips hidden items.
fn list_query(condition: &str) -> String {
    format!(
        "{SELECT} AND {condition}
            AND (subscription.created_at, subscription.id) < (:time, :id)
            AND {} AND (subscription.target = 'forum' OR {})
        ORDER BY subscription.created_at DESC, subscription.id DESC LIMIT :rows",
        sees_forum("subscription.forum_id"),
        sees_thread(),
    )
}

static ALL: LazyLock<String> = LazyLock::new(|| list_query("CAST(:target AS TEXT) IS NULL"));

static OF_TARGET: LazyLock<String> = LazyLock::new(|| list_query("subscription.target = :target"));

/// Lists the subscriptions to content that the member sees, newest first.
pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    list: &List<SubscriptionFilter>,
) -> BoardResult<Page<Subscription>> {
    let [time, id] = list.after_or([i64::MAX; 2])?;
    let visibility = Visibility::of(actor);
    let parameters = bind! {
        ":target": list.filter.target.map(target_name), ":time": time, ":id": id,
        ":rows": list.limit.plus_one(),
    };
    let query = match list.filter.target {
        Some(_) => &*OF_TARGET,
        None => &*ALL,
    };
    let rows = connection.all(query, &visibility.with(parameters), read).await?;
    let page = Page::from_overfetch(rows, list.limit, |(id, last): &(i64, Subscription)| {
        PageKey::from_time_and_id(last.created_at, id)
    });
    Ok(page.map(|(_, subscription)| subscription))
}

pub async fn subscribe(
    (tx, events, actor, texts): Command<'_>,
    subscription_target: SubscriptionTarget,
) -> BoardResult<CreateOutcome<Subscription>> {
    let absent = || BoardError::not_found(texts.unknown_target);
    let key = target_key(&subscription_target).ok_or_else(absent)?;
    let forum = containing_forum(tx, actor, key).await?.ok_or_else(absent)?;
    let (target, id) = key;
    let insert = "
        INSERT INTO subscription (member_id, forum_id, target, target_id, created_at)
        VALUES (:member, :forum, :target, :id, :now) ON CONFLICT DO NOTHING";
    let parameters = bind! {
        ":member": actor.member, ":forum": forum, ":target": target_name(target), ":id": id,
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
    (tx, _, actor, texts): Command<'_>,
    subscription_target: SubscriptionTarget,
) -> BoardResult<()> {
    let not_subscribed = || BoardError::not_found(texts.not_subscribed);
    let (target, id) = target_key(&subscription_target).ok_or_else(not_subscribed)?;
    let deleted = tx
        .execute(
            "DELETE FROM subscription WHERE member_id = ?1 AND target = ?2 AND target_id = ?3",
            bind![actor.member, target_name(target), id],
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
    (target, id): (SubscriptionTargetKind, i64),
) -> BoardResult<Subscription> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!("{SELECT} AND subscription.target = :target AND subscription.target_id = :id")
    });
    let parameters = bind! { ":member": actor.member, ":target": target_name(target), ":id": id };
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
        &target,
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
    (target, id): (SubscriptionTargetKind, i64),
) -> BoardResult<Option<i64>> {
    if target == SubscriptionTargetKind::Forum {
        return Ok(actor.access(id).read.then_some(id));
    }
    let content = ContentRef { thread: Some(id), ..ContentRef::default() };
    match visibility::forum(connection, actor, content).await {
        Ok(forum) => Ok(Some(forum)),
        Err(BoardError::PathNotFound) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Returns the kind and the id of a target; `None` if the id is invalid.
fn target_key(subscription_target: &SubscriptionTarget) -> Option<(SubscriptionTargetKind, i64)> {
    let id = subscription_target.id().to_i64().ok()?;
    Some((subscription_target.kind(), id))
}

const fn target_name(target: SubscriptionTargetKind) -> &'static str {
    match target {
        SubscriptionTargetKind::Thread => "thread",
        SubscriptionTargetKind::Forum => "forum",
    }
}
