//! The caller and the caller's permissions, loaded from the database.

use std::collections::HashMap;

use forum_api::host::{self, BoardError};
use forum_api::model::Timestamp;

use super::db::{Connection, DbResult, RowReader, Transaction, bind};
use super::groups::{Group, Groups};
use super::permissions::{AccessLists, ForumPermissions, ForumRules, resolve};
use super::texts::Texts;

/// A guest, or a member who is not banned.
#[derive(Clone, Debug)]
pub struct Actor {
    /// `None` for the guest.
    pub member: Option<i64>,
    pub groups: Groups,
    pub last_seen: Option<Timestamp>,
    pub offline: bool,
    /// True if a webhook endpoint is enabled.
    pub has_endpoints: bool,
    forums: HashMap<i64, ForumPermissions>,
}

impl Actor {
    /// Loads the guest for `None`, or this member. Returns `None` for a member who is unknown or banned.
    pub async fn load(connection: &Connection<'_>, member: Option<i64>) -> DbResult<Option<Self>> {
        let rows = connection
            .all(
                include_str!("actor.sql"),
                bind! { ":member": member },
                |row| Ok((Head::read(row)?, rules(row)?)),
            )
            .await?;
        let rules: Vec<ForumRules> = rows.iter().filter_map(|(_, rules)| *rules).collect();
        Ok(rows.first().map(|(head, _)| Self {
            member,
            groups: head.groups,
            last_seen: head.last_seen,
            offline: head.offline,
            has_endpoints: head.has_endpoints,
            forums: resolve(&rules, head.groups, member.is_some()),
        }))
    }

    /// Loads the member of a command in its transaction.
    pub async fn acting(
        tx: &Transaction<'_>,
        member: i64,
        texts: &Texts,
    ) -> host::BoardResult<Self> {
        let closed = || BoardError::forbidden(texts.account_closed);
        let actor = Self::load(tx, Some(member)).await?;
        actor.ok_or_else(closed)
    }

    pub fn access(&self, forum: i64) -> ForumPermissions {
        self.forums.get(&forum).copied().unwrap_or_default()
    }

    pub fn sees(&self) -> impl Iterator<Item = i64> {
        self.those(|access| access.read)
    }

    pub fn moderates(&self) -> impl Iterator<Item = i64> {
        self.those(|access| access.moderate)
    }

    fn those(&self, are: fn(&ForumPermissions) -> bool) -> impl Iterator<Item = i64> {
        let forums = self.forums.iter();
        forums
            .filter(move |(_, access)| are(access))
            .map(|(forum, _)| *forum)
    }
}

/// The columns that are the same in each row.
struct Head {
    groups: Groups,
    last_seen: Option<Timestamp>,
    offline: bool,
    has_endpoints: bool,
}

impl Head {
    fn read(row: &mut RowReader<'_>) -> DbResult<Self> {
        let groups: Option<Groups> = row.parsed()?;
        Ok(Self {
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: row.value()?,
            offline: row.value()?,
            has_endpoints: row.value()?,
        })
    }
}

/// `None` on a board without forums.
fn rules(row: &mut RowReader<'_>) -> DbResult<Option<ForumRules>> {
    let Some(forum) = row.value()? else {
        return Ok(None);
    };
    Ok(Some(ForumRules {
        forum,
        parent: row.value()?,
        lists: AccessLists {
            read: row.parsed()?,
            start: row.parsed()?,
            reply: row.parsed()?,
        },
        moderator: row.value()?,
    }))
}
