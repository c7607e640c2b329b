//! Who asks, and what they may do where, as the board knows it now.

use std::collections::HashMap;

use forum_api::host::{self, Refusal};
use forum_api::model::Timestamp;

use super::access::{Access, Lists, Rules, resolve};
use super::db::{Columns, Connection, Result, Transaction, bind};
use super::groups::{Group, Groups};
use super::texts::Texts;

/// The guest, or a member who may act.
#[derive(Clone, Debug)]
pub struct Actor {
    /// The member's id; `None` for the guest.
    pub member: Option<i64>,
    /// The groups that they are in.
    pub groups: Groups,
    /// When the member was last seen.
    pub last_seen: Option<Timestamp>,
    /// Whether the board is offline.
    pub offline: bool,
    forums: HashMap<i64, Access>,
}

impl Actor {
    /// The guest for `None`, or this member; `None` when that one is not there, or banned.
    pub async fn load(connection: &Connection<'_>, member: Option<i64>) -> Result<Option<Self>> {
        let rows = connection
            .all(
                include_str!("actor.sql"),
                bind! { ":member": member },
                |columns| Ok((Head::read(columns)?, rules(columns)?)),
            )
            .await?;
        let rules: Vec<Rules> = rows.iter().filter_map(|(_, rules)| *rules).collect();
        Ok(rows.first().map(|(head, _)| Self {
            member,
            groups: head.groups,
            last_seen: head.last_seen,
            offline: head.offline,
            forums: resolve(&rules, head.groups, member.is_some()),
        }))
    }

    /// The member who carries out a command now, inside its transaction.
    pub async fn acting(tx: &Transaction<'_>, member: i64, say: &Texts) -> host::Result<Self> {
        let closed = || Refusal::Forbidden(say.account_closed.into());
        let actor = Self::load(tx, Some(member)).await?;
        actor.ok_or_else(closed)
    }

    /// What they may do in `forum`: nothing in one that is not there.
    pub fn access(&self, forum: i64) -> Access {
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

    fn those(&self, are: fn(&Access) -> bool) -> impl Iterator<Item = i64> {
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
    fn read(columns: &mut Columns<'_>) -> Result<Self> {
        let groups: Option<Groups> = columns.parsed()?;
        Ok(Self {
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: columns.value()?,
            offline: columns.value()?,
        })
    }
}

/// `None` on a board without forums.
fn rules(columns: &mut Columns<'_>) -> Result<Option<Rules>> {
    let Some(forum) = columns.value()? else {
        return Ok(None);
    };
    Ok(Some(Rules {
        forum,
        parent: columns.value()?,
        lists: Lists {
            read: columns.parsed()?,
            start: columns.parsed()?,
            reply: columns.parsed()?,
        },
        moderator: columns.value()?,
    }))
}
