//! Who asks, and what they may do where, as the board knows it now.

use std::collections::HashMap;

use forum_api::host::{self, Refusal};
use forum_api::model::Timestamp;

use super::db::{Connection, Result, RowReader, Transaction, bind};
use super::groups::{Group, Groups};
use super::permissions::{ForumPermissions, ForumRules, Lists, resolve};
use super::texts::Texts;

/// The guest, or a member who may act.
#[derive(Clone, Debug)]
pub struct Actor {
    /// `None` for the guest.
    pub member: Option<i64>,
    pub groups: Groups,
    pub last_seen: Option<Timestamp>,
    pub offline: bool,
    forums: HashMap<i64, ForumPermissions>,
}

impl Actor {
    /// The guest for `None`, or this member; `None` when that one is not there, or banned.
    pub async fn load(connection: &Connection<'_>, member: Option<i64>) -> Result<Option<Self>> {
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
            forums: resolve(&rules, head.groups, member.is_some()),
        }))
    }

    /// The member who carries out a command now, inside its transaction.
    pub async fn acting(tx: &Transaction<'_>, member: i64, texts: &Texts) -> host::Result<Self> {
        let closed = || Refusal::Forbidden(texts.account_closed.into());
        let actor = Self::load(tx, Some(member)).await?;
        actor.ok_or_else(closed)
    }

    /// What they may do in `forum`: nothing in one that is not there.
    pub fn access(&self, forum: i64) -> ForumPermissions {
        self.forums.get(&forum).copied().unwrap_or_default()
    }

    /// The forums that they see.
    pub fn sees(&self) -> impl Iterator<Item = i64> {
        self.those(|access| access.read)
    }

    /// Whether there is no forum that they do not see.
    pub fn sees_all(&self) -> bool {
        self.forums.values().all(|access| access.read)
    }

    /// The forums that they moderate.
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

/// What each row says again.
struct Head {
    groups: Groups,
    last_seen: Option<Timestamp>,
    offline: bool,
}

impl Head {
    fn read(row: &mut RowReader<'_>) -> Result<Self> {
        let groups: Option<Groups> = row.parsed()?;
        Ok(Self {
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: row.value()?,
            offline: row.value()?,
        })
    }
}

/// `None` on a board without forums.
fn rules(row: &mut RowReader<'_>) -> Result<Option<ForumRules>> {
    let Some(forum) = row.value()? else {
        return Ok(None);
    };
    Ok(Some(ForumRules {
        forum,
        parent: row.value()?,
        lists: Lists {
            read: row.parsed()?,
            start: row.parsed()?,
            reply: row.parsed()?,
        },
        moderator: row.value()?,
    }))
}
