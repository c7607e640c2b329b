//! Posts: listed and written.

use std::sync::LazyLock;

use forum_api::host::{In, Refusal, Result};
use forum_api::model::{BodyFormat, ForumId, ListPosts, Page, Post, PostId, Reply, State};
use rusqlite::{Connection, Savepoint, named_params};

use super::actor::Actor;
use super::events::{Event, Events};
use super::insert::{self, NewPost};
use super::row::Columns;
use super::settings::BODY_MAX;
use super::sight::{Sight, sees_post, sees_thread};
use super::texts::Texts;
use super::{flood, place, position, rules};

const COLUMNS: &str = "
    post.id, post.thread_id, post.number, author.id, author.username, author.avatar_url,
    post.state, post.created_at, post.edited_at, editor.id, editor.username, editor.avatar_url,
    iif(:source, post.body, NULL), iif(:html, post.body_html, NULL), post.version";

const PEOPLE: &str = "
    LEFT JOIN member AS author ON author.id = post.author_id
    LEFT JOIN member AS editor ON editor.id = post.edited_by";

/// A row for each post, or a single one for a thread without posts to show; none for a thread that the caller does
/// not see. The page begins after the later of two places: where the caller says, and before the post `:from`.
pub(super) static PAGE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH start (time, id) AS (
            SELECT :time, :id
            UNION ALL
            SELECT created_at, id - 1 FROM post WHERE id = :from AND thread_id = :thread
            ORDER BY 1 DESC, 2 DESC LIMIT 1
        )
        SELECT
            thread.forum_id,
            :from IS NULL OR EXISTS (
                SELECT 1 FROM post AS first WHERE first.id = :from AND first.thread_id = thread.id AND {}
            ),
            {COLUMNS}
        FROM thread
        LEFT JOIN post
            ON post.thread_id = thread.id AND {}
            AND (post.created_at, post.id) > (SELECT time, id FROM start)
        {PEOPLE}
        WHERE thread.id = :thread AND {}
        ORDER BY post.created_at, post.id LIMIT :rows",
        sees_post("first"),
        sees_post("post"),
        sees_thread(),
    )
});

/// A page of a thread's posts, oldest first.
pub fn list(
    connection: &Connection,
    actor: &Actor,
    thread: i64,
    list: &ListPosts,
) -> Result<In<Page<Post>>> {
    let since = list.since.map(|time| (time.as_millis(), i64::MAX));
    let start = position::read(list.after.as_ref())?.max(since);
    let (time, id) = start.unwrap_or((i64::MIN, i64::MIN));
    let from = list
        .from
        .as_ref()
        .map(|from| from.number().unwrap_or(NO_POST));
    let sight = Sight::of(actor);
    let parameters = named_params! {
        ":thread": thread,
        ":time": time,
        ":id": id,
        ":from": from,
        ":source": list.body != BodyFormat::Html,
        ":html": list.body != BodyFormat::Source,
        ":rows": position::rows(list.limit),
    };
    let mut query = connection.prepare_cached(&PAGE)?;
    let mut rows = query.query(&*sight.with(parameters))?;
    let (mut forum, mut posts) = (None, Vec::new());
    while let Some(row) = rows.next()? {
        let mut columns = Columns::of(row);
        forum = Some(columns.id()?);
        let from_is_seen: bool = columns.value()?;
        if !from_is_seen {
            return Err(Refusal::Unusable("from", "a post of this thread"));
        }
        posts.extend(read(&mut columns)?);
    }
    let page = Page::cut(posts, list.limit, |last: &Post| {
        position::of(last.created_at, &last.post_id)
    });
    Ok(In::new(forum.ok_or(Refusal::Absent)?, page))
}

/// Writes a reply, without following the thread. It is never older than what it follows, whatever the clock says, so
/// that it stands behind the place up to which somebody has read.
pub fn reply(
    tx: &Savepoint<'_>,
    events: &mut Events,
    actor: &Actor,
    thread: i64,
    reply: &Reply,
    say: &Texts,
) -> Result<In<Post>> {
    let spot = place::find(tx, actor, thread, None)?;
    let access = actor.access(spot.forum);
    if let Some(obstacle) = rules::obstacle(access, spot.state, spot.locked) {
        return Err(Refusal::Forbidden(obstacle(say).into()));
    }
    rules::body(&reply.body, BODY_MAX.get(tx)?, say)?;
    flood::check(tx, actor, events.now, say)?;
    let new = NewPost {
        author: actor.member,
        body: &reply.body,
        state: rules::first_state(actor.groups),
        at: events.now.max(spot.last_activity_at),
        counts: access.counts,
    };
    let post = insert::reply(tx, thread, new)?;
    if new.state == State::Visible {
        let forum = spot.forum;
        events.note(Event::PostCreated {
            forum,
            thread,
            post,
        });
    }
    Ok(In::new(ForumId::from(spot.forum), one(tx, post)?))
}

fn one(connection: &Connection, post: i64) -> Result<Post> {
    static QUERY: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {COLUMNS} FROM post {PEOPLE} WHERE post.id = :post"));
    let mut query = connection.prepare_cached(&QUERY)?;
    let parameters = named_params! { ":post": post, ":source": true, ":html": true };
    let post = query.query_row(parameters, |row| read(&mut Columns::of(row)))?;
    post.ok_or(Refusal::Absent)
}

/// `None` when the row has no post.
fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Option<Post>> {
    let Some(post_id) = columns.maybe_id::<PostId>()? else {
        return Ok(None);
    };
    Ok(Some(Post {
        post_id,
        thread_id: columns.id()?,
        number: columns.count()?,
        author: columns.author()?,
        state: columns.state()?,
        created_at: columns.value()?,
        edited_at: columns.value()?,
        edited_by: columns.author()?,
        body: columns.value()?,
        body_html: columns.value()?,
        version: columns.value()?,
        can_edit: false,
        can_delete: false,
    }))
}

/// Ids begin at 1.
const NO_POST: i64 = 0;
