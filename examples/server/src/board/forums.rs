//! Lists and adds forums, and adds their moderators.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow::Continue;
use std::sync::{Arc, LazyLock};

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{Forum, ForumId, is_blank, is_single_line};

use super::access::actor::Actor;
use super::access::groups::Groups;
use super::access::permissions::AccessLists;
use super::db::{Connection, Row, Transaction, bind};
use super::{forum_count, locks};

static LIST: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT
            forum.id, parent_id, title, description, position, {},
            (
                SELECT last_activity_at FROM thread WHERE forum_id = forum.id AND state = 'visible'
                ORDER BY last_activity_at DESC LIMIT 1
            ) AS last_activity_at
        FROM forum",
        forum_count::COLUMNS,
    )
});

/// Lists the visible forums by position, parents before their children.
pub async fn list(connection: &Connection<'_>, actor: Arc<Actor>) -> BoardResult<Vec<Forum>> {
    let mut children = BTreeMap::<Option<i64>, Vec<(i64, Forum)>>::new();
    let mut read = |row: &Row<'_>| {
        let id = row.value("id")?;
        let parent = row.value("parent_id")?;
        let mut forum = Forum::new(ForumId::from(id), row.value::<String>("title")?);
        forum.description = row.value("description")?;
        forum.position = row.count("position")?;
        forum.thread_count = row.count("thread_count")?;
        forum.post_count = row.count("post_count")?;
        forum.last_activity_at = row.value("last_activity_at")?;
        forum.can_start_thread = actor.access(id).start;
        children.entry(parent).or_default().push((id, forum));
        Ok(Continue(()))
    };
    connection.each_row(&LIST, &[], &mut read).await?;
    for siblings in children.values_mut() {
        siblings.sort_by_key(|(_, forum)| Reverse(forum.position));
    }
    let mut visible = Vec::new();
    let mut next = children.remove(&None).unwrap_or_default();
    while let Some((id, forum)) = next.pop() {
        let is_visible = actor.access(id).read;
        let nearest = if is_visible { Some(&forum.forum_id) } else { forum.parent_id.as_ref() };
        for (id, mut child) in children.remove(&Some(id)).into_iter().flatten() {
            child.parent_id = nearest.cloned();
            next.push((id, child));
        }
        if is_visible {
            visible.push(forum);
        }
    }
    Ok(visible)
}

#[derive(Clone, Debug, Default)]
pub struct ForumInsert {
    pub title: String,
    pub description: String,
    pub parent: Option<i64>,
    /// `None` inherits the list of the parent.
    pub lists: AccessLists<Option<Groups>>,
}

/// Adds a forum as the last of its siblings and returns its id.
pub async fn add(tx: &Transaction<'_>, new: ForumInsert) -> BoardResult<i64> {
    if is_blank(&new.title) || !is_single_line(&new.title) {
        let rule = "the title must not be blank, and must be one line without control characters";
        return Err(BoardError::validation("title", rule));
    }
    locks::forum_tree(tx).await?;
    if let Some(parent) = new.parent {
        check_exists(tx, parent).await?;
    }
    let insert = "
        INSERT INTO forum (parent_id, position, title, description, read_groups, start_groups, reply_groups)
        VALUES (
            :parent,
            (SELECT coalesce(max(position), 0) + 1 FROM forum WHERE parent_id IS NOT DISTINCT FROM :parent),
            :title, :description, :read, :start, :reply
        ) RETURNING id";
    let parameters = bind! {
        ":parent": new.parent, ":title": new.title.trim(), ":description": new.description,
        ":read": stored(new.lists.read), ":start": stored(new.lists.start),
        ":reply": stored(new.lists.reply),
    };
    tx.insert(insert, parameters).await
}

fn stored(groups: Option<Groups>) -> Option<String> {
    groups.map(|groups| groups.to_string())
}

/// Makes a member a moderator of a forum. The member must be able to read the forum.
/// Returns `false` if the member is a moderator of the forum already.
pub async fn add_moderator(tx: &Transaction<'_>, forum: i64, member: i64) -> BoardResult<bool> {
    locks::members(tx, &[member]).await?;
    check_exists(tx, forum).await?;
    let actor = Actor::load(tx, Some(member)).await?;
    if !actor.is_some_and(|actor| actor.access(forum).read) {
        let reason = format!(
            "the member cannot read forum \"{forum}\"; moderators must be able to read their forum"
        );
        return Err(BoardError::validation("member", reason));
    }
    let insert =
        "INSERT INTO forum_moderator (forum_id, member_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    Ok(tx.execute(insert, bind![forum, member]).await? > 0)
}

/// # Errors
/// [`BoardError::NotFound`] if no forum has this id.
pub async fn check_exists(connection: &Connection<'_>, forum: i64) -> BoardResult<()> {
    if !connection.any("SELECT 1 FROM forum WHERE id = ?1", bind![forum]).await? {
        return Err(BoardError::not_found(format!("unknown forum \"{forum}\"")));
    }
    Ok(())
}
