//! Lists, reads and starts threads.

use std::sync::LazyLock;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{
    ContentState, LastPost, List, NewThread, Page, PageKey, PostId, Thread, ThreadFilter, Timestamp,
};

use super::access::actor::Actor;
use super::access::visibility::{Visibility, sees_thread, sees_thread_of};
use super::db::{self, Connection, RowReader, Transaction, bind};
use super::events::{DomainEvent, EventScope, STARTED};
use super::markdown::BodyHtml;
use super::posts::post_insert::{self, PostInsert, PostTimes};
use super::reference_board::Command;
use super::settings::{BODY_MAX, SettingValues, TITLE_MAX};
use super::{polls, rules, search, subscriptions};

/// Columns of a thread.
pub(super) const COLUMNS: &str = "
    thread.id, thread.forum_id, thread.title, thread.state, thread.first_post_id, thread.created_at,
    starter.id, starter.username, starter.avatar_url, thread.last_activity_at,
    thread.last_post_id, last_author.id, last_author.username, last_author.avatar_url,
    thread.reply_count, thread.pinned, thread.locked, poll.id, thread.version";

/// The joins that [`COLUMNS`] needs.
pub(super) const JOINS: &str = "
    LEFT JOIN member AS starter ON starter.id = thread.author_id
    LEFT JOIN member AS last_author ON last_author.id = thread.last_author_id
    LEFT JOIN poll ON poll.thread_id = thread.id";

/// Query of a list: scans the index by activity from the page key on.
static LIST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM thread {JOINS}
        WHERE thread.forum_id = :forum AND {}
            AND (thread.last_activity_at, thread.id) < (:time, :id) AND thread.last_activity_at >= :since
        ORDER BY thread.last_activity_at DESC, thread.id DESC LIMIT :rows",
        sees_thread_of(":forum"),
    )
});

pub static ONE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM thread {JOINS} WHERE thread.id = :thread AND {}",
        sees_thread()
    )
});

/// A page of a forum's threads, newest activity first.
pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    forum: i64,
    list: &List<ThreadFilter>,
) -> BoardResult<Page<Thread>> {
    let [time, id] = list.after_or([i64::MAX; 2])?;
    let visibility = Visibility::of(actor);
    let parameters = bind! {
        ":forum": forum, ":time": time, ":id": id,
        ":since": list.filter.since.map_or(i64::MIN, Timestamp::as_millis),
        ":rows": list.limit.plus_one(),
    };
    let threads = connection
        .all(&LIST, &visibility.with(parameters), |row| read(row, actor))
        .await?;
    Ok(Page::from_overfetch(threads, list.limit, |last| {
        PageKey::from_time_and_id(last.last_activity_at, &last.thread_id)
    }))
}

pub async fn load(connection: &Connection<'_>, actor: &Actor, thread: i64) -> BoardResult<Thread> {
    let visibility = Visibility::of(actor);
    let parameters = bind! { ":thread": thread };
    let thread = connection
        .first(&ONE, &visibility.with(parameters), |row| read(row, actor))
        .await;
    thread?.ok_or(BoardError::PathNotFound)
}

/// Starts a thread, with its poll.
pub async fn start(
    (tx, events, actor, texts): Command<'_>,
    forum: i64,
    new: NewThread,
    html: BodyHtml,
) -> BoardResult<Thread> {
    let access = actor.access(forum);
    rules::check_start(access, texts)?;
    let settings = SettingValues::load(tx).await?;
    let title = rules::check_title(&new.title, settings.of(&TITLE_MAX), texts)?;
    rules::check_body(&new.body, settings.of(&BODY_MAX), texts)?;
    let poll = match &new.poll {
        Some(poll) => Some(polls::draft(tx, poll, events.now, texts).await?),
        None => None,
    };
    let times = PostTimes::load(tx, actor.member, events.now).await?;
    times.check(actor, &settings, events.now, texts)?;
    let first = PostInsert {
        author: actor.member,
        body: &new.body,
        html: html.as_str(texts)?,
        state: rules::first_state(actor.groups),
        at: events.now,
        counts: access.counts,
        in_reply_to: None,
    };
    let (thread, post) = post_insert::thread(tx, forum, title, first).await?;
    if let Some(poll) = &poll {
        polls::add(tx, thread, poll).await?;
    }
    if new.subscribe {
        subscriptions::add_thread(tx, actor, forum, thread, events.now).await?;
    }
    let scope = EventScope::load(tx, thread, Some(post), actor.member).await?;
    let thread = thread_for(scope.thread.clone(), actor);
    if first.state == ContentState::Visible {
        events.now = scope.thread.created_at;
        events.record(DomainEvent::Post(STARTED, scope.into()));
    }
    Ok(thread)
}

/// Changes the title of a thread. A trigger updates the search index.
pub(super) async fn rename(tx: &Transaction<'_>, thread: i64, title: &str) -> db::DbResult<()> {
    let update = "
        UPDATE thread SET title = :title, title_words = :words, version = version + 1 WHERE id = :thread";
    let words = search::fold_words(title);
    let parameters = bind! { ":thread": thread, ":title": title, ":words": words };
    tx.execute(update, parameters).await?;
    Ok(())
}

fn read(row: &mut RowReader<'_>, actor: &Actor) -> db::DbResult<Thread> {
    Ok(thread_for(read_thread(row)?, actor))
}

/// Returns a thread as `actor` sees it.
fn thread_for(mut thread: Thread, actor: &Actor) -> Thread {
    let access = thread.forum_id.to_i64().map(|forum| actor.access(forum));
    let denial = rules::reply_denial(access.unwrap_or_default(), thread.state, thread.locked);
    thread.can_reply = denial.is_none();
    thread
}

/// Reads a thread without permissions.
pub(super) fn read_thread(row: &mut RowReader<'_>) -> db::DbResult<Thread> {
    let mut thread = Thread::new(
        row.id()?,
        row.id()?,
        row.value::<String>()?,
        row.state()?,
        row.id()?,
        row.value()?,
    );
    thread.author = row.author()?;
    thread.last_activity_at = row.value()?;
    thread.last_post = last_post(row, thread.last_activity_at)?;
    thread.reply_count = row.count()?;
    thread.pinned = row.value()?;
    thread.locked = row.value()?;
    thread.poll_id = row.maybe_id()?;
    thread.version = row.value()?;
    Ok(thread)
}

/// Reads the last post, which was created at the last activity of its thread.
fn last_post(row: &mut RowReader<'_>, created_at: Timestamp) -> db::DbResult<Option<LastPost>> {
    let post_id: Option<PostId> = row.maybe_id()?;
    let author = row.author()?;
    Ok(post_id.map(|post_id| {
        let mut last = LastPost::new(post_id, created_at);
        last.author = author;
        last
    }))
}
