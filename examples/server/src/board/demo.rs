//! Content of a new board: its administrator, and the forums, members, threads and messages of `demo.json`.

use std::collections::HashMap;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::Timestamp;
use serde::Deserialize;

use super::access::actor::Actor;
use super::access::groups::Groups;
use super::access::permissions::AccessLists;
use super::db::{Connection, Transaction, bind};
use super::forums::{self, ForumInsert};
use super::messages::{self, MessageInsert};
use super::polls::poll_rules::{PollChoice, PollDraft};
use super::posts::post_insert::{self, PostInsert, PostSlot};
use super::rules::{self, DAY, HOUR};
use super::{accounts, markdown, polls, settings};

/// Owner of the token for the example calls on a new board.
#[derive(Clone, Copy, Debug)]
pub struct ExampleCaller {
    pub member: i64,
    pub name: &'static str,
    /// A thread that guests may read, and in which the member may post.
    pub thread: i64,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct Content {
    /// The first member is the administrator, whom an empty board has as well.
    members: Vec<DemoMember>,
    banned: Vec<&'static str>,
    /// Pairs of a member and another member whom the first one ignores.
    ignored: Vec<(&'static str, &'static str)>,
    /// Parents precede their children.
    forums: Vec<DemoForum>,
    poll: DemoPoll,
    message: DemoMessage,
    token: DemoToken,
}

#[derive(Deserialize)]
struct DemoMember {
    name: &'static str,
    groups: &'static str,
    days_ago: u32,
}

#[derive(Deserialize)]
struct DemoForum {
    title: &'static str,
    description: &'static str,
    parent: Option<&'static str>,
    read: Option<&'static str>,
    start: Option<&'static str>,
    reply: Option<&'static str>,
    moderators: Vec<&'static str>,
    threads: Vec<DemoThread>,
}

#[derive(Deserialize)]
struct DemoThread {
    title: &'static str,
    days_ago: u32,
    posts: Vec<DemoPost>,
}

/// The author, the hours since the previous post, and the source markup.
type DemoPost = (&'static str, u32, String);

#[derive(Deserialize)]
struct DemoPoll {
    thread: &'static str,
    question: &'static str,
    options: Vec<&'static str>,
}

#[derive(Deserialize)]
struct DemoMessage {
    from: &'static str,
    to: &'static str,
    days_ago: u32,
    subject: &'static str,
    body: String,
}

#[derive(Deserialize)]
struct DemoToken {
    owner: &'static str,
    thread: &'static str,
}

fn parse_content() -> BoardResult<Content> {
    serde_json::from_str(include_str!("demo.json")).map_err(BoardError::internal)
}

/// Creates the content of a new board: the administrator with this password hash, and, unless `empty`, all other content.
pub async fn begin(
    tx: &Transaction<'_>,
    hash: &str,
    empty: bool,
    now: Timestamp,
) -> BoardResult<Option<ExampleCaller>> {
    settings::set_board_id(tx).await?;
    let content = parse_content()?;
    let mut writer = DemoWriter::new(tx, now);
    let count = if empty { 1 } else { content.members.len() };
    for member in content.members.iter().take(count) {
        let days_ago = if empty { 0 } else { member.days_ago };
        let joined = now.saturating_sub(DAY * days_ago);
        let id = accounts::add(tx, member.name, member.groups.parse()?, joined).await?;
        if writer.members.is_empty() {
            accounts::set_password(tx, id, hash).await?;
        }
        writer.members.insert(member.name, id);
    }
    if empty {
        return Ok(None);
    }
    for forum in &content.forums {
        writer.add_forum(forum).await?;
        writer.add_moderators(forum).await?;
    }
    writer.write_posts(&content.forums).await?;
    writer.add_poll(&content.poll).await?;
    for name in content.banned {
        accounts::set_banned(tx, find(&writer.members, name)?, true).await?;
    }
    for (name, ignored) in content.ignored {
        let member = find(&writer.members, name)?;
        let ignored = find(&writer.members, ignored)?;
        accounts::ignore(tx, member, ignored).await?;
    }
    writer.send(&content.message).await?;
    Ok(Some(ExampleCaller {
        member: find(&writer.members, content.token.owner)?,
        name: content.token.owner,
        thread: find(&writer.threads, content.token.thread)?,
    }))
}

/// Adds the demo forums with these titles to a board without forums. Adds no moderators and no threads.
pub async fn add_forums(tx: &Transaction<'_>, titles: &[&str], now: Timestamp) -> BoardResult<()> {
    let content = parse_content()?;
    let mut writer = DemoWriter::new(tx, now);
    for forum in content.forums.iter().filter(|forum| titles.contains(&forum.title)) {
        writer.add_forum(forum).await?;
    }
    Ok(())
}

/// Returns whether the board contains exactly the forums, members, posts and messages of the demo content, and no
/// ratings. Compares the largest id of a member as well: it is larger if a member was erased and another member was
/// added.
pub async fn is_fresh(connection: &Connection<'_>) -> BoardResult<bool> {
    let content = parse_content()?;
    let threads = content.forums.iter().flat_map(|forum| &forum.threads);
    let posts: usize = threads.map(|thread| thread.posts.len()).sum();
    let compare = "
        SELECT (SELECT count(*) FROM forum) = ?1 AND (SELECT count(*) FROM member) = ?2
            AND (SELECT max(id) FROM member) = ?2 AND (SELECT count(*) FROM post) = ?3
            AND (SELECT count(*) FROM message) = 1 AND NOT EXISTS (SELECT 1 FROM rating) AS is_fresh";
    let parameters = bind![content.forums.len() as i64, content.members.len() as i64, posts as i64];
    connection.one(compare, parameters, |row| row.value("is_fresh")).await
}

/// Writes the demo content and tracks the written ids by name or title.
struct DemoWriter<'a> {
    tx: &'a Transaction<'a>,
    now: Timestamp,
    members: HashMap<&'static str, i64>,
    forums: HashMap<&'static str, i64>,
    threads: HashMap<&'static str, i64>,
}

impl<'a> DemoWriter<'a> {
    fn new(tx: &'a Transaction<'a>, now: Timestamp) -> Self {
        Self { tx, now, members: HashMap::new(), forums: HashMap::new(), threads: HashMap::new() }
    }

    async fn add_forum(&mut self, forum: &DemoForum) -> BoardResult<()> {
        let parent = forum.parent.map(|title| find(&self.forums, title)).transpose()?;
        let groups = |text: Option<&str>| text.map(str::parse::<Groups>).transpose();
        let new = ForumInsert {
            title: forum.title.into(),
            description: forum.description.into(),
            parent,
            lists: AccessLists {
                read: groups(forum.read)?,
                start: groups(forum.start)?,
                reply: groups(forum.reply)?,
            },
        };
        let id = forums::add(self.tx, new).await?;
        self.forums.insert(forum.title, id);
        Ok(())
    }

    async fn add_moderators(&self, forum: &DemoForum) -> BoardResult<()> {
        let id = find(&self.forums, forum.title)?;
        for name in &forum.moderators {
            forums::add_moderator(self.tx, id, find(&self.members, name)?).await?;
        }
        Ok(())
    }

    /// Writes the posts of all forums, the oldest first, so that ids follow time.
    async fn write_posts(&mut self, forums: &[DemoForum]) -> BoardResult<()> {
        let mut posts = Vec::new();
        for forum in forums {
            for thread in &forum.threads {
                let mut at = self.now.saturating_sub(DAY * thread.days_ago);
                for post in &thread.posts {
                    at = at.saturating_add(HOUR * post.1);
                    posts.push((at, forum.title, thread.title, post));
                }
            }
        }
        posts.sort_by_key(|(at, ..)| *at);
        for (at, forum, thread, post) in posts {
            self.write_post(at, forum, thread, post).await?;
        }
        Ok(())
    }

    async fn write_post(
        &mut self,
        at: Timestamp,
        forum: &str,
        title: &'static str,
        (name, _, body): &DemoPost,
    ) -> BoardResult<()> {
        let author = find(&self.members, name)?;
        let forum = find(&self.forums, forum)?;
        let actor = Actor::load(self.tx, Some(author)).await?.ok_or(BoardError::PathNotFound)?;
        let new = PostInsert {
            author: Some(author),
            body,
            html: &markdown::render_blocking(body),
            state: rules::first_state(actor.groups),
            at,
            counts: actor.access(forum).counts,
            in_reply_to: None,
            subscribe: false,
        };
        if let Some(thread) = self.threads.get(title) {
            let slot = PostSlot::next(self.tx, *thread).await?;
            post_insert::insert_reply(self.tx, forum, &slot, new, None).await?;
        } else {
            let thread = post_insert::insert_thread(self.tx, forum, title, new).await?.thread;
            self.threads.insert(title, thread);
        }
        Ok(())
    }

    async fn add_poll(&self, poll: &DemoPoll) -> BoardResult<()> {
        let options = poll.options.iter().map(|text| PollChoice { id: None, text });
        let draft = PollDraft {
            question: poll.question,
            options: Some(options.collect()),
            max_choices: 1,
            can_change_vote: false,
            closes_at: None,
        };
        polls::add(self.tx, find(&self.threads, poll.thread)?, &draft).await.map(drop)
    }

    async fn send(&self, message: &DemoMessage) -> BoardResult<()> {
        let new = MessageInsert {
            sender: find(&self.members, message.from)?,
            subject: message.subject,
            body: &message.body,
            html: &markdown::render_blocking(&message.body),
            receipt_requested: true,
            at: self.now.saturating_sub(DAY * message.days_ago),
        };
        let to = find(&self.members, message.to)?;
        messages::deliver(self.tx, new, &[to], false).await?;
        Ok(())
    }
}

fn find(ids: &HashMap<&'static str, i64>, name: &str) -> BoardResult<i64> {
    ids.get(name)
        .copied()
        .ok_or_else(|| BoardError::internal(format!("the demo board has no {name:?}")))
}
