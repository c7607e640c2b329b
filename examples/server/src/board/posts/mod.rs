//! Lists, writes, edits and deletes posts.

pub mod edit_limit;
pub mod moderation;
pub mod post_events;
pub mod post_insert;
pub mod post_row;
pub mod public_post;
mod thread_view;
pub mod waiting_replies;

use std::ops::ControlFlow::{Break, Continue};
use std::sync::LazyLock;

use forum_api::host::{BoardError, BoardResult, InForum};
use forum_api::model::{
    Author, ContentState, ForumId, List, NewPost, Page, PageKey, Post, PostFilter, PostId,
    PostSort, PostUpdate, Timestamp,
};

use crate::board::access::actor::Actor;
use crate::board::access::visibility::{
    self, OrderedRows, Visibility, is_visible, sees_post, sees_thread,
};
use crate::board::db::{Connection, Dialects, Row, Transaction, bind};
use crate::board::events::{Command, EventRecorder};
use crate::board::markdown::BodyHtml;
use crate::board::settings::{BODY_MAX, EDITS_PER_HOUR, POSTS_PER_HOUR, TITLE_MAX};
use crate::board::texts::Texts;
use crate::board::{rules, search, thread_row};
use edit_limit::OLDEST;
use post_events::{EDITED, EventScope, REPLIED, THREAD_UPDATED};
use post_insert::{PostInsert, PostSlot, PostTimes, TIMES, TimesParams};
use post_row::PostRow;
use public_post::{AnsweredPost, COLUMNS, JOINS, PublicPost};
use thread_view::{PostChange, ThreadView};

/// Statements that select a row for each post of a page, one row for a page without posts, and none for a hidden thread.
#[derive(Debug)]
pub struct PageQueries {
    pub oldest: Dialects<String>,
    newest: Dialects<String>,
}

impl PageQueries {
    fn new(parts: &[(&str, &str)]) -> Self {
        Self { oldest: page_query(&OLDEST_FIRST, parts), newest: page_query(&NEWEST_FIRST, parts) }
    }
}

pub static PAGE: LazyLock<PageQueries> = LazyLock::new(|| {
    PageQueries::new(&[(":thread", visibility::VISIBLE), (":thread", visibility::OWN_WAITING)])
});

/// Selects a page as [`PAGE`] does for callers who moderate a forum.
static PAGE_OF_MODERATOR: LazyLock<PageQueries> = LazyLock::new(|| {
    let moderated = "(SELECT moderated FROM place)";
    PageQueries::new(&[
        (":thread", visibility::VISIBLE),
        ("(SELECT unmoderated FROM place)", visibility::OWN_WAITING),
        (moderated, visibility::WAITING),
        (moderated, visibility::DELETED),
    ])
});

/// The terms of a page's statement that differ between its orders. The page begins after the last of the positions in
/// `start`: that of the page key, that of `since` in ascending order, and the one before the post `:from`.
struct PageOrder {
    /// The columns of a row of `start` for `since`; in descending order a page has no post before it.
    since: &'static str,
    /// The id of the position before the post `:from`.
    before_from: &'static str,
    /// The last position of `start`.
    last: &'static str,
    range: &'static str,
    order: &'static str,
    /// The same order, of the columns of `post`.
    order_of_posts: &'static str,
}

const OLDEST_FIRST: PageOrder = PageOrder {
    since: "UNION ALL SELECT :since, 0",
    before_from: "id - 1",
    last: "ORDER BY 1 DESC, 2 DESC LIMIT 1",
    range: "(created_at, id) > (SELECT time, id FROM start)",
    order: "created_at, id",
    order_of_posts: "post.created_at, post.id",
};

const NEWEST_FIRST: PageOrder = PageOrder {
    since: "",
    before_from: "id + 1",
    last: "ORDER BY 1, 2 LIMIT 1",
    range: "(created_at, id) < (SELECT time, id FROM start) AND created_at >= :since",
    order: "created_at DESC, id DESC",
    order_of_posts: "post.created_at DESC, post.id DESC",
};

/// SQLite reads the posts in the order of the page, and each of them only when its row is read. Postgres reads them while
/// it merges the parts: it does not estimate how many rows the parameter `:rows` allows, and would choose other joins for
/// more than the 101 rows of the largest page. It omits the rows that follow a page with long texts, except the first one:
/// the sizes of texts are known without reading them.
fn page_query(page_order: &PageOrder, parts: &[(&str, &str)]) -> Dialects<String> {
    let PageOrder { since, before_from, last, range, order, order_of_posts } = page_order;
    let rows = |columns, limit| OrderedRows {
        columns,
        table: "post",
        key: "thread_id",
        range,
        order,
        limit,
    };
    let of_sqlite = rows("created_at, id", ":rows").of(parts);
    let of_postgres = rows("*", "101").of_limited(parts);
    Dialects {
        sqlite: (format!("({of_sqlite}) AS page ON TRUE LEFT JOIN post ON post.id = page.id"), String::new()),
        postgres: (
            format!(
                "(
                    SELECT * FROM (
                        SELECT *, sum(
                            CASE WHEN :source THEN octet_length(body) ELSE 0 END
                                + CASE WHEN :html THEN octet_length(body_html) ELSE 0 END
                        ) OVER (ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes
                        FROM (
                            SELECT * FROM ({of_postgres}) AS page
                            ORDER BY {order} LIMIT (SELECT CAST(:rows AS BIGINT))
                        ) AS page
                    ) AS page
                    WHERE bytes IS NULL OR bytes <= CAST(:max_bytes AS BIGINT)
                ) AS post ON TRUE"
            ),
            format!("ORDER BY {order_of_posts}"),
        ),
    }
    .map(|(posts, order)| {
        format!(
            "WITH start (time, id) AS (
                SELECT created_at, {before_from} FROM post WHERE id = :from AND thread_id + 0 = :thread
                UNION ALL SELECT :time, :id
                {since}
                {last}
            ),
            place (moderated, unmoderated) AS (
                SELECT CASE WHEN {moderates} THEN id END, CASE WHEN {moderates} THEN NULL ELSE id END
                FROM thread WHERE id = :thread
            )
            SELECT
                {thread},
                CASE WHEN :from IS NOT NULL THEN EXISTS (
                    SELECT 1 FROM post AS first
                    WHERE first.id = :from AND first.thread_id + 0 = thread.id AND {}
                ) ELSE TRUE END AS sees_from,
                {COLUMNS}
            FROM thread
            LEFT JOIN {posts}
            {JOINS}
            WHERE thread.id = :thread AND {}
            {order}",
            sees_post("first"),
            sees_thread(),
            thread = ThreadView::COLUMNS,
            moderates = visibility::moderates("forum_id"),
        )
    })
}

pub async fn list(
    connection: &Connection<'_>,
    actor: &Actor,
    thread: i64,
    list: &List<PostFilter>,
    now: Timestamp,
) -> BoardResult<InForum<Page<Post>>> {
    let queries = match actor.moderated_forums().next() {
        Some(_) => &PAGE_OF_MODERATOR,
        None => &PAGE,
    };
    let (query, start) = match list.filter.sort {
        PostSort::Oldest => (&queries.oldest, i64::MIN),
        PostSort::Newest => (&queries.newest, i64::MAX),
    };
    let [time, id] = list.after_or([start; 2])?;
    let since = list.filter.since.map_or(i64::MIN, Timestamp::as_millis);
    let from = list.filter.from.as_ref().map(|from| from.to_i64().unwrap_or(NO_POST));
    let visibility = Visibility::of(actor);
    let parameters: &[_] = bind! {
        ":thread": thread, ":time": time, ":id": id, ":since": since, ":from": from,
        ":source": list.filter.body.has_source(), ":html": list.filter.body.has_html(),
        ":rows": list.limit.plus_one(),
    };
    let of_postgres: &[_] = bind! { ":max_bytes": list.max_bytes as i64 };
    let all = [parameters, connection.dialect(&[], of_postgres)].concat();
    let mut view = None;
    let mut sees_from = false;
    let mut items = Vec::with_capacity(list.limit.get());
    let mut bytes = 0;
    let mut has_more = false;
    let mut read = |row: &Row<'_>| {
        if items.len() == list.limit.get() || bytes > list.max_bytes {
            has_more = true;
            return Ok(Break(()));
        }
        let view = match &mut view {
            Some(view) => view,
            none => {
                sees_from = row.value("sees_from")?;
                none.insert(ThreadView::read(row, actor, now)?)
            }
        };
        if let Some(post) = PublicPost::maybe_read(row)? {
            let post = view.show(post);
            let texts = [&post.body, &post.body_html].into_iter().flatten();
            bytes += texts.map(|text| list.json_size(text)).sum::<usize>();
            items.push(post);
        }
        Ok(Continue(()))
    };
    connection.each_row(connection.on(query), &visibility.with(&all), &mut read).await?;
    let view = view.ok_or(BoardError::PathNotFound)?;
    if !sees_from {
        return Err(BoardError::invalid_parameter("from", "a post of this thread"));
    }
    let last = items.last().filter(|_| has_more);
    let next = last.map(|post| PageKey::from_time_and_id(post.created_at, &post.post_id));
    Ok(InForum::new(view.forum.into(), Page { items, next }))
}

/// An id that no post has, because ids begin at 1.
const NO_POST: i64 = 0;

/// The rows that a reply depends on.
#[derive(Debug)]
pub struct ReplyContext {
    scope: EventScope,
    slot: PostSlot,
    times: PostTimes,
    /// The post of the thread that the reply answers, in any state.
    answered: Option<AnsweredPost>,
}

/// Loads what a reply in `thread` to the post `answered` depends on. Returns `None` if the thread does not exist.
pub async fn load_for_reply(
    tx: &Transaction<'_>,
    actor: &Actor,
    thread: i64,
    answered: Option<&PostId>,
    now: Timestamp,
) -> BoardResult<Option<ReplyContext>> {
    static QUERIES: LazyLock<Dialects<String>> = LazyLock::new(|| {
        PostSlot::POST_ID.map(|post_id| {
            format!(
                "SELECT
                    {}, {}, {post_id}, {}, times.*,
                    answered.id AS answered_id, answered.state AS answered_state,
                    answered.author_id AS answered_author_id
                FROM thread {} {} CROSS JOIN ({TIMES}) AS times
                LEFT JOIN post AS answered ON answered.id = :answered AND answered.thread_id + 0 = thread.id
                WHERE thread.id = :thread",
                thread_row::COLUMNS,
                EventScope::COLUMNS,
                PostSlot::columns(),
                thread_row::JOINS,
                EventScope::JOINS,
            )
        })
    });
    let times = TimesParams::new(actor, &POSTS_PER_HOUR, now);
    let answered = answered.map(|post| post.to_i64().unwrap_or(NO_POST));
    let parameters = bind! { ":thread": thread, ":actor": actor.member, ":answered": answered };
    tx.first(tx.on(&QUERIES), &times.with(parameters), |row| {
        Ok(ReplyContext {
            scope: EventScope::read(row)?,
            slot: PostSlot::read(row)?,
            times: PostTimes::read(row)?,
            answered: AnsweredPost::read(row)?,
        })
    })
    .await
}

/// Writes a reply. It is later than all posts of its thread, even if a clock was ahead.
pub async fn reply(
    Command { tx, events, actor, texts }: Command<'_>,
    context: Option<ReplyContext>,
    reply: NewPost,
    html: BodyHtml,
) -> BoardResult<InForum<Post>> {
    let now = events.now;
    let ReplyContext { mut scope, slot, times, answered } =
        context.ok_or(BoardError::PathNotFound)?;
    let thread = &scope.thread;
    let view = ThreadView::of(thread, actor, now)?;
    let is_own = view.is_caller(thread.author.as_ref().map(|author| &author.user_id));
    if !is_visible(view.access, thread.state, is_own) {
        return Err(BoardError::PathNotFound);
    }
    if let Some(denial) = rules::reply_denial(view.access, thread.state, thread.locked) {
        return Err(denial.error(texts));
    }
    rules::check_body(&reply.body, actor.settings.of(&BODY_MAX), texts)?;
    let answered = answered.filter(|answered| view.sees(answered));
    if reply.in_reply_to.is_some() && answered.is_none() {
        return Err(BoardError::not_found(texts.unknown_post).with_field("inReplyTo"));
    }
    times.check(actor, now, texts)?;
    let in_reply_to = answered.as_ref().map(|answered| answered.post_id.to_i64());
    let new = PostInsert {
        author: actor.member,
        body: &reply.body,
        html: html.as_str(texts)?,
        state: rules::first_state(actor.groups),
        at: now,
        counts: view.access.counts,
        in_reply_to: in_reply_to.transpose()?,
        subscribe: reply.subscribe,
    };
    let post = PublicPost::new(new_post(&slot, scope.actor.clone(), new)?, answered);
    let seen = view.show(post.clone());
    if new.state == ContentState::Visible {
        events.now = post.post.created_at;
        scope.add_reply(&post.post);
        scope.record(events, REPLIED, &post.post)?;
    }
    post_insert::insert_reply(tx, view.forum, &slot, new, Some(events)).await?;
    Ok(InForum::new(ForumId::from(view.forum), seen))
}

/// Returns a new post as [`PublicPost::read`] reads it.
pub fn new_post(slot: &PostSlot, author: Option<Author>, new: PostInsert<'_>) -> BoardResult<Post> {
    let mut post = Post::new(
        slot.post.into(),
        slot.thread.into(),
        slot.number()?,
        new.state,
        slot.created_at(new.at),
    );
    post.author = author;
    post.body = Some(new.body.into());
    post.body_html = Some(new.html.into());
    Ok(post)
}

/// The texts of an edit that differ from the current ones.
struct ChangedTexts<'a> {
    title: Option<&'a str>,
    body: Option<&'a String>,
}

/// A post that a member changes, with the rows that the change depends on.
struct ChangedPost {
    item: PostRow,
    post: PublicPost,
    scope: EventScope,
    oldest_edit: Option<Timestamp>,
    view: ThreadView,
}

impl ChangedPost {
    /// Loads a post that `actor` sees and may change.
    async fn load(
        tx: &Transaction<'_>,
        actor: &Actor,
        thread: i64,
        post: i64,
        change: PostChange,
        now: Timestamp,
        texts: &Texts,
    ) -> BoardResult<Self> {
        static QUERY: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {}, {OLDEST}, {} AND post.thread_id = thread.id",
                PostRow::COLUMNS,
                EventScope::with_post(),
            )
        });
        let times = TimesParams::new(actor, &EDITS_PER_HOUR, now);
        let parameters = times.with(bind! {
            ":thread": thread, ":post": post, ":actor": actor.member, ":source": true, ":html": true,
        });
        let found = tx
            .first(&QUERY, &parameters, |row| {
                let scope = EventScope::read(row)?;
                Ok(Self {
                    item: PostRow::read(row)?,
                    post: PublicPost::read(row)?,
                    oldest_edit: row.value("oldest_edit")?,
                    view: ThreadView::of(&scope.thread, actor, now)?,
                    scope,
                })
            })
            .await?
            .filter(|found| found.item.is_visible_to(actor))
            .ok_or(BoardError::PathNotFound)?;
        match found.view.denial(change, &found.post.post) {
            Some(denial) => Err(denial.error(texts)),
            None => Ok(found),
        }
    }

    /// Checks an edit, and returns the texts that it changes.
    fn changed_texts<'a>(
        &self,
        edit: &'a PostUpdate,
        actor: &Actor,
        texts: &Texts,
    ) -> BoardResult<ChangedTexts<'a>> {
        rules::check_version(edit.expected_version, self.post.post.version, texts)?;
        if edit.title.is_some() && !self.item.first {
            let error = BoardError::validation("title", texts.title_of_reply);
            return Err(error.with_reason("not_first_post"));
        }
        if let Some(reason) = &edit.reason {
            rules::check_reason(reason, actor.settings.of(&TITLE_MAX), texts)?;
        }
        let title = edit
            .title
            .as_ref()
            .filter(|title| !rules::is_unchanged(title, &self.scope.thread.title))
            .map(|title| rules::check_title(title, actor.settings.of(&TITLE_MAX), texts))
            .transpose()?;
        let current_body = self.post.post.body.as_ref();
        let body = edit.body.as_ref().filter(|body| current_body != Some(*body));
        if let Some(body) = body {
            rules::check_body(body, actor.settings.of(&BODY_MAX), texts)?;
        }
        Ok(ChangedTexts { title, body })
    }

    /// Changes the values that were loaded as the statements of an edit at the time `now` change the rows. `html` is that of
    /// a new body.
    fn set_edited(
        &mut self,
        ChangedTexts { title, body }: &ChangedTexts<'_>,
        html: Option<&str>,
        state: ContentState,
        now: Timestamp,
    ) {
        if let Some(title) = *title {
            self.scope.thread.title = title.into();
            self.scope.thread.version += 1;
        }
        let post = &mut self.post.post;
        post.state = state;
        post.version += 1;
        post.edited_at = Some(now);
        post.edited_by = self.scope.actor.clone();
        if let Some(body) = *body {
            post.body = Some(body.clone());
            post.body_html = html.map(str::to_owned);
        }
    }

    fn record_edit(
        &self,
        events: &mut EventRecorder,
        changed: &ChangedTexts<'_>,
    ) -> BoardResult<()> {
        let Self { item, post, scope, .. } = self;
        if item.is_public() && changed.title.is_some() {
            scope.record(events, THREAD_UPDATED, &post.post)?;
        }
        if item.is_public() && changed.body.is_some() {
            scope.record(events, EDITED, &post.post)?;
        }
        Ok(())
    }

    /// Returns the post as its member sees it, in its forum.
    fn into_seen(self) -> InForum<Post> {
        InForum::new(ForumId::from(self.item.forum), self.view.show(self.post))
    }
}

/// Changes the body of a post, and the title of its thread. The post awaits approval if posts by its editor await approval.
/// An edit with the current values changes nothing.
pub async fn edit(
    Command { tx, events, actor, texts }: Command<'_>,
    thread: i64,
    post: i64,
    edit: PostUpdate,
    html: Option<BodyHtml>,
) -> BoardResult<InForum<Post>> {
    let now = events.now;
    let mut edited =
        ChangedPost::load(tx, actor, thread, post, PostChange::Edit, now, texts).await?;
    let changed = edited.changed_texts(&edit, actor, texts)?;
    let ChangedTexts { title, body } = changed;
    if title.is_none() && body.is_none() {
        return Ok(edited.into_seen());
    }
    let html =
        html.as_ref().filter(|_| body.is_some()).map(|html| html.as_str(texts)).transpose()?;
    let item = &mut edited.item;
    let state = rules::edited_state(item.state, actor.groups);
    edit_limit::check(actor, edited.oldest_edit, now, texts)?;
    item.publish_earlier_changes(tx, events).await?;
    if title.is_some() || item.first && state != item.state {
        let parameters = bind! {
            ":thread": item.thread, ":title": title, ":title_words": title.map(search::title_words),
            ":state": state.as_str(),
        };
        tx.execute(EDIT_THREAD, parameters).await?;
    }
    let parameters = bind! {
        ":post": item.post, ":state": state.as_str(), ":body": body,
        ":html": html, ":words": body.map(|body| search::body_words(body)),
        ":now": now, ":editor": actor.member, ":reason": edit.reason,
        ":in_hidden": !item.has_events_at_once(),
    };
    edit_limit::run_counted(tx, actor, now, vec![EDIT], parameters.to_vec()).await?;
    item.count_state(tx, state, edited.view.access.counts).await?;
    edited.set_edited(&changed, html, state, now);
    edited.record_edit(events, &changed)?;
    Ok(edited.into_seen())
}

const EDIT: &str = "
    UPDATE post SET
        body = coalesce(:body, body), body_html = coalesce(:html, body_html),
        body_words = coalesce(:words, body_words), version = version + 1,
        edited_at = :now, edited_by = :editor, edit_reason = :reason, state = :state,
        edit_waits = edit_waits OR :in_hidden OR :state <> 'visible', update_waits = update_waits OR :in_hidden
    WHERE id = :post";

/// Changes the thread of a first post, which has the state of the post. It precedes [`EDIT`], whose trigger adds the title
/// and the body of the post to the search index.
const EDIT_THREAD: &str = "
    UPDATE thread SET
        title = coalesce(:title, title), title_words = coalesce(:title_words, title_words), state = :state,
        update_waits = update_waits OR :state = 'awaiting_approval' AND :title IS NOT NULL, version = version + 1
    WHERE id = :thread";

/// Soft-deletes a post, or the whole thread with its first post.
pub async fn delete(
    Command { tx, events, actor, texts }: Command<'_>,
    thread: i64,
    post: i64,
) -> BoardResult<()> {
    let mut deleted =
        ChangedPost::load(tx, actor, thread, post, PostChange::Delete, events.now, texts).await?;
    let on_profiles = deleted.view.access.counts;
    deleted.item.change_state(tx, events, ContentState::Deleted, on_profiles).await
}
