//! The pages: statements of the board with their parameters and results.

use forum_api::model;
use forum_api::model::{Forum, LastPost, Post};
use serde::Serialize;

use super::Row;
use crate::board::db::Bound;
use crate::board::{forums, posts, threads};

/// The public forums of the demo board.
const SEEN: &str = ",1,2,3,";

/// The moderated forums: none.
const MODERATED: &str = ",";

const GUEST: Option<i64> = None;

/// A page of a list, with the position after it.
#[derive(Serialize)]
pub struct Page<T> {
    items: Vec<T>,
    next: Option<String>,
}

/// Query of a page.
pub trait Query: Send + Sync + 'static {
    /// Value of a row.
    type Item: Send;
    /// Body of the response.
    type Wire: Serialize + Send + 'static;

    fn sql(&self) -> &'static str;
    fn bound(&self) -> Vec<Bound<'_>>;
    fn read<R: Row>(row: &R) -> Self::Item;
    fn wire(&self, items: Vec<Self::Item>) -> Self::Wire;
}

pub struct Forums {
    /// Selects SQLite's order of forums.
    pub depth_first: bool,
}

pub struct Threads {
    pub forum: i64,
    pub rows: i64,
}

pub struct Thread {
    pub thread: i64,
}

pub struct Posts {
    pub thread: i64,
    pub rows: i64,
}

#[derive(Serialize)]
pub struct List<T> {
    items: Vec<T>,
}

impl Query for Forums {
    type Item = Forum;
    type Wire = List<Forum>;

    fn sql(&self) -> &'static str {
        if self.depth_first {
            forums::DEPTH_FIRST
        } else {
            forums::BY_PATH
        }
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        vec![]
    }

    fn read<R: Row>(row: &R) -> Forum {
        Forum {
            forum_id: row.id(0),
            parent_id: row.maybe_id(1),
            title: row.value(2),
            description: row.value(3),
            position: row.count(4),
            thread_count: row.count(5),
            post_count: row.count(6),
            last_activity_at: row.value(7),
            can_start_thread: false,
            extra: None,
        }
    }

    fn wire(&self, items: Vec<Forum>) -> List<Forum> {
        List { items }
    }
}

impl Query for Threads {
    type Item = model::Thread;
    type Wire = Page<model::Thread>;

    fn sql(&self) -> &'static str {
        &threads::LIST
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        bind_guest([
            (":forum", &self.forum),
            (":time", &i64::MAX),
            (":id", &i64::MAX),
            (":since", &i64::MIN),
            (":rows", &self.rows),
        ])
    }

    fn read<R: Row>(row: &R) -> model::Thread {
        thread(row)
    }

    fn wire(&self, mut items: Vec<model::Thread>) -> Page<model::Thread> {
        let last = take_page_end(&mut items, self.rows);
        let next = last.map(|last| page_position(last.last_activity_at, &last.thread_id));
        Page { items, next }
    }
}

impl Query for Thread {
    type Item = model::Thread;
    type Wire = model::Thread;

    fn sql(&self) -> &'static str {
        &threads::ONE
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        bind_guest([(":thread", &self.thread)])
    }

    fn read<R: Row>(row: &R) -> model::Thread {
        thread(row)
    }

    fn wire(&self, mut items: Vec<model::Thread>) -> model::Thread {
        items.remove(0)
    }
}

impl Query for Posts {
    type Item = Post;
    type Wire = Page<Post>;

    fn sql(&self) -> &'static str {
        &posts::PAGE
    }

    fn bound(&self) -> Vec<Bound<'_>> {
        bind_guest([
            (":thread", &self.thread),
            (":time", &i64::MIN),
            (":id", &i64::MIN),
            (":since", &i64::MIN),
            (":from", &GUEST),
            (":source", &true),
            (":html", &true),
            (":rows", &self.rows),
            (":window", &"post.edit_window_minutes"),
        ])
    }

    fn read<R: Row>(row: &R) -> Post {
        Post {
            post_id: row.id(7),
            thread_id: row.id(8),
            number: row.count(9),
            in_reply_to: row.maybe_id(22),
            author: row.author(10),
            state: row.state(13),
            created_at: row.value(14),
            edited_at: row.value(15),
            edited_by: row.author(16),
            body: row.value(19),
            body_html: row.value(20),
            version: row.value(21),
            can_edit: false,
            can_delete: false,
            extra: None,
        }
    }

    fn wire(&self, mut items: Vec<Post>) -> Page<Post> {
        let last = take_page_end(&mut items, self.rows);
        let next = last.map(|last| page_position(last.created_at, &last.post_id));
        Page { items, next }
    }
}

/// Adds the parameters for a guest's visibility.
fn bind_guest<'a, const N: usize>(bound: [Bound<'a>; N]) -> Vec<Bound<'a>> {
    let visibility: [Bound<'a>; 3] = [
        (":sees", &SEEN),
        (":moderates", &MODERATED),
        (":member", &GUEST),
    ];
    visibility.into_iter().chain(bound).collect()
}

fn thread(row: &impl Row) -> model::Thread {
    let last_post: Option<_> = row.maybe_id(9);
    model::Thread {
        forum_id: row.id(0),
        thread_id: row.id(1),
        title: row.value(2),
        author: row.author(3),
        state: row.state(6),
        created_at: row.value(7),
        last_activity_at: row.value(8),
        last_post: last_post.map(|post_id| LastPost {
            post_id,
            author: row.author(10),
            created_at: row.value(13),
        }),
        reply_count: row.count(14),
        pinned: row.value(15),
        locked: row.value(16),
        first_post_id: row.id(17),
        poll_id: row.maybe_id(18),
        version: row.value(19),
        can_reply: false,
        extra: None,
    }
}

/// Removes the extra row that signals a further page; then returns the last item.
fn take_page_end<T>(items: &mut Vec<T>, rows: i64) -> Option<&T> {
    let more = items.len() == rows as usize;
    items.truncate(rows as usize - 1);
    items.last().filter(|_| more)
}

fn page_position(time: model::Timestamp, id: impl std::fmt::Display) -> String {
    format!("{}.{id}", time.as_millis())
}
