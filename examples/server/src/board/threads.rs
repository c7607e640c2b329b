//! Lists, reads and starts threads.

use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::{
    Author, ContentState, LastPost, List, NewThread, Page, PageKey, PollId, Thread, ThreadFilter,
    Timestamp,
};

use super::access::actor::Actor;
use super::access::permissions::ForumPermissions;
use super::access::visibility::{self, OrderedRows, Visibility, sees_thread};
use super::db::{Connection, Dialects, Row, Transaction, bind};
use super::events::Command;
use super::markdown::BodyHtml;
use super::polls::poll_rules;
use super::posts::post_events::{EventScope, STARTED};
use super::posts::post_insert::{self, PostInsert, PostTimes, TIMES, TimesParams};
use super::settings::{BODY_MAX, POSTS_PER_HOUR, TITLE_MAX};
use super::thread_row::{COLUMNS, JOINS, read_thread};
use super::{polls, posts, rules};

/// Query of a list: merges ranges of the index by activity from the page key on.
static LIST: LazyLock<Dialects<String>> =
    LazyLock::new(|| list_query(&[visibility::VISIBLE, visibility::OWN_WAITING]));

/// Query of a list as [`LIST`] for moderators of the forum.
static LIST_OF_MODERATOR: LazyLock<Dialects<String>> =
    LazyLock::new(|| list_query(&[visibility::VISIBLE, visibility::WAITING, visibility::DELETED]));

/// SQLite reads the threads in the order of the page.
///
/// Postgres plans a statement for the values of its parameters on each request if it expects the plan for all values to be
/// more expensive. Values in subqueries do not affect its estimates, and neither does a page of at most 101 threads, so
/// that it plans this statement once.
fn list_query(states: &[&str]) -> Dialects<String> {
    let rows = |columns, range, limit| OrderedRows {
        columns,
        table: "thread",
        key: "forum_id",
        range,
        order: "last_activity_at DESC, id DESC",
        limit,
    };
    let parts = |forum| -> Vec<_> { states.iter().map(|state| (forum, *state)).collect() };
    let of_sqlite = rows(
        "last_activity_at, id",
        "(last_activity_at, id) < (:time, :id) AND last_activity_at >= :since",
        ":rows",
    )
    .of(&parts(":forum"));
    let of_postgres = rows(
        "*",
        "(last_activity_at, id) < ((SELECT CAST(:time AS BIGINT)), (SELECT CAST(:id AS BIGINT)))
            AND last_activity_at >= (SELECT CAST(:since AS BIGINT))",
        "101",
    )
    .of_limited(&parts("(SELECT CAST(:forum AS BIGINT))"));
    Dialects {
        sqlite: format!(
            "SELECT {COLUMNS} FROM ({of_sqlite}) AS page CROSS JOIN thread ON thread.id = page.id {JOINS}"
        ),
        postgres: format!(
            "SELECT {COLUMNS} FROM ({of_postgres}) AS thread {JOINS}
            ORDER BY thread.last_activity_at DESC, thread.id DESC LIMIT (SELECT CAST(:rows AS BIGINT))"
        ),
    }
}

pub static ONE: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {COLUMNS} FROM thread {JOINS} WHERE thread.id = :thread AND {}", sees_thread())
});

/// A page of a forum's threads, newest activity first.
pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    forum: i64,
    list: &List<ThreadFilter>,
) -> BoardResult<Page<Thread>> {
    let [time, id] = list.after_or([i64::MAX; 2])?;
    let since = list.filter.since.map_or(i64::MIN, Timestamp::as_millis);
    let rows = list.limit.plus_one();
    let access = actor.access(forum);
    let of_all =
        bind! { ":forum": forum, ":time": time, ":id": id, ":since": since, ":rows": rows };
    let of_member = bind! { ":member": actor.member };
    let (query, parameters) = match access {
        ForumPermissions { read: false, .. } => {
            return Ok(Page { items: Vec::new(), next: None });
        }
        ForumPermissions { moderate: true, .. } => (&LIST_OF_MODERATOR, of_all.to_vec()),
        _ => (&LIST, [&of_all[..], of_member].concat()),
    };
    let read_sized = |row: &Row<'_>| {
        let thread = read(row, actor)?;
        let size = list.json_size(&thread.title);
        Ok((thread, size))
    };
    let key = |last: &Thread| PageKey::from_time_and_id(last.last_activity_at, &last.thread_id);
    connection.page(connection.on(query), &parameters, list, read_sized, key).await
}

pub async fn load(connection: &Connection<'_>, actor: &Actor, thread: i64) -> BoardResult<Thread> {
    let visibility = Visibility::of(actor);
    let parameters = bind! { ":thread": thread };
    connection
        .first(&ONE, &visibility.with(parameters), |row| read(row, actor))
        .await?
        .ok_or(BoardError::PathNotFound)
}

/// The rows that a new thread depends on.
struct StartContext {
    forum_title: String,
    author: Option<Author>,
    times: PostTimes,
}

async fn load_for_start(
    tx: &Transaction<'_>,
    actor: &Actor,
    forum: i64,
    now: Timestamp,
) -> BoardResult<StartContext> {
    static QUERY: LazyLock<String> = LazyLock::new(|| {
        format!(
            "SELECT {}, times.*
            FROM forum LEFT JOIN member AS actor ON actor.id = :member CROSS JOIN ({TIMES}) AS times
            WHERE forum.id = :forum",
            EventScope::COLUMNS,
        )
    });
    let times = TimesParams::new(actor, &POSTS_PER_HOUR, now);
    tx.first(&QUERY, &times.with(bind! { ":forum": forum }), |row| {
        Ok(StartContext {
            forum_title: row.value("forum_title")?,
            author: row.author(["actor_id", "actor_name", "actor_avatar"])?,
            times: PostTimes::read(row)?,
        })
    })
    .await?
    .ok_or(BoardError::PathNotFound)
}

/// Starts a thread, with its poll.
pub async fn start(
    Command { tx, events, actor, texts }: Command<'_>,
    forum: i64,
    new: NewThread,
    html: BodyHtml,
) -> BoardResult<Thread> {
    let access = actor.access(forum);
    rules::check_start(access, texts)?;
    let StartContext { forum_title, author, times } =
        load_for_start(tx, actor, forum, events.now).await?;
    let settings = &*actor.settings;
    let title = rules::check_title(&new.title, settings.of(&TITLE_MAX), texts)?;
    rules::check_body(&new.body, settings.of(&BODY_MAX), texts)?;
    let poll = match &new.poll {
        Some(poll) => Some(poll_rules::new(poll, settings, events.now, texts)?),
        None => None,
    };
    times.check(actor, events.now, texts)?;
    let first = PostInsert {
        author: actor.member,
        body: &new.body,
        html: html.as_str(texts)?,
        state: rules::first_state(actor.groups),
        at: events.now,
        counts: access.counts,
        in_reply_to: None,
        subscribe: new.subscribe,
    };
    let slot = post_insert::insert_thread(tx, forum, title, first).await?;
    let poll = match &poll {
        Some(poll) => Some(polls::add(tx, slot.thread, poll).await?),
        None => None,
    };
    let post = posts::new_post(&slot, author.clone(), first)?;
    let mut thread = Thread::new(
        slot.thread.into(),
        forum.into(),
        title,
        first.state,
        slot.post.into(),
        post.created_at,
    );
    thread.author = author.clone();
    thread.last_post = Some(LastPost::from(&post));
    thread.poll_id = poll.map(PollId::from);
    let started = thread_for(thread.clone(), actor);
    if first.state == ContentState::Visible {
        events.now = post.created_at;
        let scope = EventScope { thread, forum_title, actor: author };
        scope.record(events, STARTED, &post)?;
    }
    Ok(started)
}

fn read(row: &Row<'_>, actor: &Actor) -> BackendResult<Thread> {
    Ok(thread_for(read_thread(row)?, actor))
}

/// Returns a thread as `actor` sees it.
fn thread_for(mut thread: Thread, actor: &Actor) -> Thread {
    let access = thread.forum_id.to_i64().map(|forum| actor.access(forum));
    let denial = rules::reply_denial(access.unwrap_or_default(), thread.state, thread.locked);
    thread.can_reply = denial.is_none();
    thread
}
