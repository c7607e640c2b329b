//! Lists and adds forums, and adds their moderators.

use std::collections::HashMap;

use forum_api::host::{BoardError, BoardResult};
use forum_api::model::{Forum, ForumId, is_single_line};

use super::access::actor::Actor;
use super::access::groups::Groups;
use super::access::permissions::AccessLists;
use super::db::{Connection, Transaction, bind};
use super::locks;
use super::rules::is_blank;

/// Order of the recursion on SQLite: depth first.
pub const DEPTH_FIRST: &str = "
    WITH RECURSIVE tree (id, depth, position) AS (
        SELECT id, 0, position FROM forum WHERE parent_id IS NULL
        UNION ALL
        SELECT forum.id, tree.depth + 1, forum.position FROM tree CROSS JOIN forum ON forum.parent_id = tree.id
        ORDER BY 2 DESC, 3
    )
    SELECT forum.id, forum.parent_id, forum.title, forum.description, forum.position,
        forum.thread_count, forum.post_count, forum.last_activity_at
    FROM tree CROSS JOIN forum ON forum.id = tree.id";

/// Order of the recursion on Postgres: by the path as an array.
pub const BY_PATH: &str = "
    WITH RECURSIVE tree (id, path) AS (
        SELECT id, ARRAY[position] FROM forum WHERE parent_id IS NULL
        UNION ALL
        SELECT forum.id, tree.path || forum.position FROM tree JOIN forum ON forum.parent_id = tree.id
    )
    SELECT forum.id, forum.parent_id, forum.title, forum.description, forum.position,
        forum.thread_count, forum.post_count, forum.last_activity_at
    FROM tree JOIN forum ON forum.id = tree.id
    ORDER BY tree.path";

/// Lists the visible forums by position, parents before their children.
pub async fn list(connection: &Connection<'_>, actor: &Actor) -> BoardResult<Vec<Forum>> {
    let mut above = VisibleAncestors::default();
    let forums = connection.all(connection.dialect(DEPTH_FIRST, BY_PATH), &[], |row| {
        let id: i64 = row.value()?;
        let access = actor.access(id);
        let forum = Forum {
            forum_id: id.into(),
            parent_id: above.nearest(id, row.value()?, actor).map(ForumId::from),
            title: row.value()?,
            description: row.value()?,
            position: row.count()?,
            thread_count: row.count()?,
            post_count: row.count()?,
            last_activity_at: row.value()?,
            can_start_thread: access.start,
            extra: None,
        };
        Ok(access.read.then_some(forum))
    });
    Ok(forums.await?.into_iter().flatten().collect())
}

/// Nearest visible ancestor of each forum read so far. Parents precede their children.
#[derive(Default)]
struct VisibleAncestors(HashMap<i64, Option<i64>>);

impl VisibleAncestors {
    fn nearest(&mut self, forum: i64, parent: Option<i64>, actor: &Actor) -> Option<i64> {
        let parent = parent?;
        let nearest = match actor.access(parent).read {
            true => Some(parent),
            false => self.0.get(&parent).copied().flatten(),
        };
        self.0.insert(forum, nearest);
        nearest
    }
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
pub async fn add(tx: &Transaction<'_>, new: &ForumInsert) -> BoardResult<i64> {
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
    let insert = tx.insert(insert, parameters).await;
    Ok(insert?)
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
        return Err(BoardError::validation(
            "member",
            format!(
                "the member cannot read forum \"{forum}\"; moderators must be able to read their forum"
            ),
        ));
    }
    let insert =
        "INSERT INTO forum_moderator (forum_id, member_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    Ok(tx.execute(insert, bind![forum, member]).await? > 0)
}

/// # Errors
/// [`BoardError::NotFound`] if no forum has this id.
pub async fn check_exists(connection: &Connection<'_>, forum: i64) -> BoardResult<()> {
    let find = "SELECT 1 FROM forum WHERE id = ?1";
    let found = connection.any(find, bind![forum]).await?;
    let absent = || BoardError::not_found(format!("unknown forum \"{forum}\""));
    found.then_some(()).ok_or_else(absent)
}
