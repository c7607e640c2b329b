//! Added: converts sections to forums, topics to threads, entries to posts and writers to authors.

use forum_api::model::{
    Author, BodyFormat, ContentState, Forum, LastPost, Member, Post, Thread, Timestamp,
    saturating_u64,
};
use tokio_postgres::Row;

use crate::before::pages;
use crate::before::topics::{Entry, Topic, Writer};

pub fn forum(row: &Row) -> Forum {
    let (topics, entries): (i64, i64) = (row.get("topics"), row.get("entries"));
    let active_at: Option<i64> = row.get("active_at");
    let id: i64 = row.get("id");
    let mut forum = Forum::new(id.into(), row.get::<_, String>("title"));
    forum.thread_count = saturating_u64(topics);
    forum.post_count = saturating_u64(entries);
    forum.last_activity_at = active_at.map(Timestamp::from_millis);
    forum
}

/// Converts a topic for a caller of this rank.
pub fn thread(topic: &Topic, rank: i16) -> Thread {
    let active_at = Timestamp::from_millis(topic.active_at);
    let mut last_post = LastPost::new(topic.last.into(), active_at);
    last_post.author = Some(author(&topic.last_writer));
    let mut thread = Thread::new(
        topic.id.into(),
        topic.section.into(),
        &topic.subject,
        ContentState::Visible,
        topic.first.into(),
        Timestamp::from_millis(topic.started_at),
    );
    thread.author = Some(author(&topic.writer));
    thread.last_activity_at = active_at;
    thread.last_post = Some(last_post);
    thread.reply_count = saturating_u64(topic.entries - 1);
    thread.locked = topic.locked;
    thread.can_reply = topic.accepts_entries_of(rank);
    thread
}

/// Converts an entry, with its body in these formats.
pub fn post(entry: &Entry, format: BodyFormat) -> Post {
    let mut post = Post::new(
        entry.id.into(),
        entry.topic.into(),
        saturating_u64(entry.number),
        ContentState::Visible,
        Timestamp::from_millis(entry.written_at),
    );
    post.author = Some(author(&entry.writer));
    post.body = format.has_source().then(|| entry.body.clone());
    post.body_html = format.has_html().then(|| pages::html(&entry.body));
    post
}

pub fn member(row: &Row) -> Member {
    let (id, entries): (i64, i64) = (row.get("id"), row.get("entries"));
    let joined_at = Timestamp::from_millis(row.get("joined_at"));
    let mut member = Member::new(id.into(), row.get::<_, String>("name"), joined_at);
    member.post_count = saturating_u64(entries);
    member
}

pub fn author(writer: &Writer) -> Author {
    Author::new(writer.id.into(), &writer.name)
}
