//! Who asks, and what they may do where, as the board knows it now.

use std::collections::HashMap;

use forum_api::host::{self, Refusal};
use forum_api::model::Timestamp;
use rusqlite::{Connection, Result, Savepoint, named_params};

use super::access::{Access, Lists, Rules, resolve};
use super::groups::{Group, Groups};
use super::row::Columns;
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
    pub fn load(connection: &Connection, member: Option<i64>) -> Result<Option<Self>> {
        let mut query = connection.prepare_cached(include_str!("actor.sql"))?;
        let rows = query.query_map(named_params! { ":member": member }, |row| {
            let mut columns = Columns::of(row);
            Ok((Head::read(&mut columns)?, rules(&mut columns)?))
        })?;
        let rows = rows.collect::<Result<Vec<_>>>()?;
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
    pub fn acting(tx: &Savepoint<'_>, member: i64, say: &Texts) -> host::Result<Self> {
        let closed = || Refusal::Forbidden(say.account_closed.into());
        Self::load(tx, Some(member))?.ok_or_else(closed)
    }

    /// What they may do in `forum`: nothing in one that is not there.
    pub fn access(&self, forum: i64) -> Access {
        self.forums.get(&forum).copied().unwrap_or_default()
    }

    /// The forums that they see.
    pub fn sees(&self) -> impl Iterator<Item = i64> {
        self.those(|access| access.read)
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
        let groups: Option<Groups> = columns.value()?;
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
            read: columns.value()?,
            start: columns.value()?,
            reply: columns.value()?,
        },
        moderator: columns.value()?,
    }))
}
