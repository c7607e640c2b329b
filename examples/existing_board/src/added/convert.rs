//! Added: converts sections to forums, topics to threads, entries to posts and writers to authors.

use forum_api::model::{
    Author, BodyFormat, ContentState, Forum, ForumId, LastPost, Member, Post, Thread, ThreadId,
    Timestamp, saturating_u64,
};
use tokio_postgres::Row;

use crate::before::pages;
use crate::before::topics::{Entry, Topic, Writer};

pub fn forum((position, row): (u32, &Row)) -> Forum {
    let (topics, entries): (i64, i64) = (row.get("topics"), row.get("entries"));
    let active_at: Option<i64> = row.get("active_at");
    Forum {
        forum_id: ForumId::from(row.get::<_, i64>("id")),
        parent_id: None,
        title: row.get("title"),
        description: String::new(),
        position,
        thread_count: saturating_u64(topics),
        post_count: saturating_u64(entries),
        last_activity_at: active_at.map(Timestamp::from_millis),
        can_start_thread: false,
        extra: None,
    }
}

/// Converts a topic for a caller of this rank.
pub fn thread(topic: &Topic, rank: i16) -> Thread {
    let active_at = Timestamp::from_millis(topic.active_at);
    Thread {
        thread_id: topic.id.into(),
        forum_id: topic.section.into(),
        title: topic.subject.clone(),
        author: Some(author(&topic.writer)),
        state: ContentState::Visible,
        created_at: Timestamp::from_millis(topic.started_at),
        last_activity_at: active_at,
        last_post: Some(LastPost {
            post_id: topic.last.into(),
            author: Some(author(&topic.last_writer)),
            created_at: active_at,
        }),
        reply_count: saturating_u64(topic.entries - 1),
        pinned: false,
        locked: topic.locked,
        first_post_id: topic.first.into(),
        poll_id: None,
        can_reply: topic.accepts_entries_of(rank),
        version: 1,
        extra: None,
    }
}

/// Converts an entry, with its body in these formats.
pub fn post(entry: &Entry, format: BodyFormat) -> Post {
    Post {
        post_id: entry.id.into(),
        thread_id: ThreadId::from(entry.topic),
        number: saturating_u64(entry.number),
        in_reply_to: None,
        author: Some(author(&entry.writer)),
        state: ContentState::Visible,
        created_at: Timestamp::from_millis(entry.written_at),
        edited_at: None,
        edited_by: None,
        body: format.has_source().then(|| entry.body.clone()),
        body_html: format.has_html().then(|| pages::html(&entry.body)),
        can_edit: false,
        can_delete: false,
        version: 1,
        extra: None,
        can_read_deleted: false,
    }
}

pub fn member(row: &Row) -> Member {
    let entries: i64 = row.get("entries");
    Member {
        user_id: row.get::<_, i64>("id").into(),
        username: row.get("name"),
        title: None,
        avatar_url: None,
        joined_at: Timestamp::from_millis(row.get("joined_at")),
        last_seen_at: None,
        post_count: saturating_u64(entries),
        reputation: 0,
        extra: None,
    }
}

pub fn author(writer: &Writer) -> Author {
    Author {
        user_id: writer.id.into(),
        username: writer.name.clone(),
        avatar_url: None,
    }
}
