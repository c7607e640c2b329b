//! Threads: listed, read and started.

use std::sync::LazyLock;

use forum_api::host::{Refusal, Result};
use forum_api::model::{
    LastPost, ListThreads, Page, PostId, StartThread, State, TargetKind, Thread, Timestamp,
};

use super::actor::Actor;
use super::db::{self, Columns, Connection, Transaction, bind};
use super::events::{Around, Events, Happening, STARTED};
use super::insert::{self, NewPost};
use super::settings::{BODY_MAX, TITLE_MAX, Values};
use super::sight::{Sight, sees_thread};
use super::texts::Texts;
use super::{flood, polls, position, rules, subscriptions};

/// What a thread is read from.
pub(super) const COLUMNS: &str = "
    thread.forum_id, thread.id, thread.title, starter.id, starter.username, starter.avatar_url,
    thread.state, thread.created_at, thread.last_activity_at,
    last_post.id, last_author.id, last_author.username, last_author.avatar_url, last_post.created_at,
    thread.reply_count, thread.pinned, thread.locked, thread.first_post_id, poll.id, thread.version";

/// What stands in these columns beside the thread's own row.
pub(super) const OTHERS: &str = "
    LEFT JOIN member AS starter ON starter.id = thread.author_id
    LEFT JOIN post AS last_post ON last_post.id = thread.last_post_id
    LEFT JOIN member AS last_author ON last_author.id = last_post.author_id
    LEFT JOIN poll ON poll.thread_id = thread.id";

/// Walks the index by activity from the place where the page begins.
pub static LIST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM thread {OTHERS}
        WHERE thread.forum_id = :forum AND {}
            AND (thread.last_activity_at, thread.id) < (:time, :id) AND thread.last_activity_at > :since
        ORDER BY thread.last_activity_at DESC, thread.id DESC LIMIT :rows",
        sees_thread(),
    )
});

/// A thread, unless the caller does not see it.
pub static ONE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {COLUMNS} FROM thread {OTHERS} WHERE thread.id = :thread AND {}",
        sees_thread()
    )
});

/// A page of a forum's threads, newest activity first.
pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    forum: i64,
    list: &ListThreads,
) -> Result<Page<Thread>> {
    let (time, id) = position::read(list.after.as_ref())?.unwrap_or((i64::MAX, i64::MAX));
    let sight = Sight::of(actor);
    let parameters = bind! {
        ":forum": forum,
        ":time": time,
        ":id": id,
        ":since": list.since.map_or(i64::MIN, Timestamp::as_millis),
        ":rows": position::rows(list.limit),
    };
    let threads = connection
        .all(&LIST, &sight.with(parameters), |columns| {
            read(columns, actor)
        })
        .await?;
    Ok(Page::cut(threads, list.limit, |last| {
        position::of(last.last_activity_at, &last.thread_id)
    }))
}

/// One thread.
pub async fn one(connection: &Connection<'_>, actor: &Actor, thread: i64) -> Result<Thread> {
    let sight = Sight::of(actor);
    let parameters = bind! { ":thread": thread };
    let thread = connection
        .first(&ONE, &sight.with(parameters), |columns| {
            read(columns, actor)
        })
        .await;
    thread?.ok_or(Refusal::Absent)
}

/// Starts a thread, with its poll.
pub async fn start(
    tx: &Transaction<'_>,
    events: &mut Events,
    actor: &Actor,
    forum: i64,
    new: &StartThread,
    say: &Texts,
) -> Result<Thread> {
    let access = actor.access(forum);
    rules::start(access, say)?;
    let settings = Values::now(tx).await?;
    let title = rules::title(&new.title, settings.of(&TITLE_MAX), say)?;
    rules::body(&new.body, settings.of(&BODY_MAX), say)?;
    let poll = match &new.poll {
        Some(poll) => Some(polls::draft(tx, poll, events.now, say).await?),
        None => None,
    };
    flood::check(tx, actor, &settings, events.now, say).await?;
    let first = NewPost {
        author: actor.member,
        body: &new.body,
        state: rules::first_state(actor.groups),
        at: events.now,
        counts: access.counts,
    };
    let (thread, post) = insert::thread(tx, forum, title, first).await?;
    if let Some(poll) = &poll {
        polls::add(tx, thread, poll).await?;
    }
    if new.subscribe {
        subscriptions::put(tx, actor, forum, (TargetKind::Thread, thread), events.now).await?;
    }
    let around = Around::load(tx, thread, Some(post), actor.member).await?;
    let thread = seen(around.thread.clone(), actor);
    if first.state == State::Visible {
        events.note(Happening::Post(STARTED, around.into()));
    }
    Ok(thread)
}

fn read(columns: &mut Columns<'_>, actor: &Actor) -> db::Result<Thread> {
    Ok(seen(fields(columns)?, actor))
}

/// A thread as `actor` sees it, who is known to.
fn seen(mut thread: Thread, actor: &Actor) -> Thread {
    let access = thread.forum_id.number().map(|forum| actor.access(forum));
    let obstacle = rules::obstacle(access.unwrap_or_default(), thread.state, thread.locked);
    thread.can_reply = obstacle.is_none();
    thread
}

/// A thread as it is for everybody.
pub(super) fn fields(columns: &mut Columns<'_>) -> db::Result<Thread> {
    Ok(Thread {
        forum_id: columns.id()?,
        thread_id: columns.id()?,
        title: columns.value()?,
        author: columns.author()?,
        state: columns.state()?,
        created_at: columns.value()?,
        last_activity_at: columns.value()?,
        last_post: last_post(columns)?,
        reply_count: columns.count()?,
        pinned: columns.value()?,
        locked: columns.value()?,
        first_post_id: columns.id()?,
        poll_id: columns.maybe_id()?,
        version: columns.value()?,
        can_reply: false,
    })
}

fn last_post(columns: &mut Columns<'_>) -> db::Result<Option<LastPost>> {
    let post_id: Option<PostId> = columns.maybe_id()?;
    let author = columns.author()?;
    let created_at: Option<Timestamp> = columns.value()?;
    let whole = post_id.zip(created_at);
    Ok(whole.map(|(post_id, created_at)| LastPost {
        post_id,
        author,
        created_at,
    }))
}
