//! The caller and the caller's permissions, loaded from the database.

use std::collections::BTreeMap;
use std::ops::ControlFlow::{self, Break, Continue};

use forum_api::host::{self, BoardError};
use forum_api::model::Timestamp;
use forum_api::token::{Lookup, TokenRecord};

use super::groups::{Group, Groups};
use super::permissions::{AccessLists, ForumPermissions, ForumRules, of_forum, resolve};
use crate::board::db::{Connection, DbResult, LogPosition, RowReader, Transaction, bind, position};
use crate::board::search::json;
use crate::board::settings::BODY_MAX;
use crate::board::texts::Texts;

/// The columns that [`ActorRows::read`] reads.
macro_rules! columns {
    () => {
        "
    member.groups,
    member.last_seen_at,
    EXISTS (SELECT 1 FROM setting WHERE key = 'board.offline'),
    EXISTS (SELECT 1 FROM forum_api_endpoints WHERE enabled),
    (SELECT value FROM setting WHERE key = 'post.body_max'),
    forum.id,
    forum.parent_id,
    forum.read_groups,
    forum.start_groups,
    forum.reply_groups,
    forum_moderator.member_id IS NOT NULL"
    };
}

/// Reads the guest or a member, and all forums. Returns one row for each forum, or one row on a board without forums.
/// Returns no row for a member who is unknown or banned.
macro_rules! load {
    ($position:expr) => {
        concat!(
            "SELECT",
            $position,
            columns!(),
            "
FROM (SELECT 1) AS alone
LEFT JOIN member ON member.id = :member
LEFT JOIN forum ON TRUE
LEFT JOIN forum_moderator ON forum_moderator.forum_id = forum.id AND forum_moderator.member_id = :member
WHERE CAST(:member AS BIGINT) IS NULL OR member.banned = FALSE"
        )
    };
}

pub const LOAD: &str = load!("");

/// [`LOAD`] with the position of the log before the other columns.
const LOAD_WITH_POSITION: &str = load!(position!());

/// Reads members who are not banned, and all forums. Returns the rows of [`LOAD`] for each member, after the member's id.
pub const LOAD_MEMBERS: &str = concat!(
    "SELECT member.id,",
    columns!(),
    "
FROM member
LEFT JOIN forum ON TRUE
LEFT JOIN forum_moderator ON forum_moderator.forum_id = forum.id AND forum_moderator.member_id = member.id
WHERE member.banned = FALSE AND member.id IN (SELECT CAST(value AS BIGINT) FROM json_each(:members))"
);

/// Reads a token, and its owner with the columns of [`LOAD`]. If the owner is unknown or banned, returns one row in
/// which the owner's columns are null.
macro_rules! load_token {
    ($position:expr, $owner:literal) => {
        concat!(
            "SELECT
    token.lookup,
    token.digest,
    token.owner,
    token.label,
    token.scopes,
    token.created_at,
    token.expires_at,
    token.revoked_at,
    token.last_used_at,
    member.id,",
            $position,
            columns!(),
            "
FROM forum_api_tokens AS token
LEFT JOIN member ON member.id = ",
            $owner,
            " AND member.banned = FALSE
LEFT JOIN forum ON member.id IS NOT NULL
LEFT JOIN forum_moderator ON forum_moderator.forum_id = forum.id AND forum_moderator.member_id = member.id
WHERE token.lookup = :lookup"
        )
    };
}

macro_rules! load_token_on_postgres {
    ($position:expr) => {
        load_token!(
            $position,
            "CASE WHEN token.owner ~ '^[1-9][0-9]{0,17}$' THEN CAST(token.owner AS BIGINT) END"
        )
    };
}

/// The statements for SQLite and for Postgres. An id that is not a number in canonical form belongs to no member. On
/// Postgres, a number of more than 18 digits belongs to no member either.
pub const LOAD_TOKEN: [&str; 2] = [
    load_token!(
        "",
        "CAST(token.owner AS BIGINT) AND CAST(member.id AS TEXT) = token.owner"
    ),
    load_token_on_postgres!(""),
];

/// The statement for Postgres with the position of the log after the member's id.
const LOAD_TOKEN_WITH_POSITION: &str = load_token_on_postgres!(position!());

/// Number of columns of a token in [`LOAD_TOKEN`].
const TOKEN_COLUMN_COUNT: usize = 9;

/// Number of columns that [`Head::read`] reads.
const HEAD_COLUMN_COUNT: usize = 5;

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
    /// Maximum length of a body in characters.
    pub body_max: u32,
    /// Position of the log that includes all changes that the caller can have seen. `None` without replicas.
    pub position: Option<LogPosition>,
    /// Permissions in each forum, in the order of the ids.
    forums: Vec<(i64, ForumPermissions)>,
}

impl Actor {
    /// Loads this member, or the guest if `member` is `None`. Returns `None` for a member who is unknown or banned.
    pub async fn load(connection: &Connection<'_>, member: Option<i64>) -> DbResult<Option<Self>> {
        let mut rows = None;
        let read = |row: &mut RowReader<'_>| ActorRows::read(&mut rows, member, row);
        connection
            .each_row(LOAD, bind! { ":member": member }, read)
            .await?;
        Ok(rows.map(|rows| rows.resolve()))
    }

    /// Loads the actor like [`load`](Self::load), with the position of the log of Postgres.
    pub async fn load_with_position(
        connection: &Connection<'_>,
        member: Option<i64>,
    ) -> DbResult<Option<Self>> {
        let mut rows = None;
        let mut position = None;
        let read = |row: &mut RowReader<'_>| {
            position = row.parsed()?;
            ActorRows::read(&mut rows, member, row)
        };
        connection
            .each_row(LOAD_WITH_POSITION, bind! { ":member": member }, read)
            .await?;
        Ok(rows.map(|rows| Self {
            position,
            ..rows.resolve()
        }))
    }

    /// Loads those of the members who exist and are not banned.
    pub async fn load_all(connection: &Connection<'_>, members: &[i64]) -> DbResult<Vec<Self>> {
        let mut by_member = BTreeMap::<i64, Option<ActorRows>>::new();
        let read = |row: &mut RowReader<'_>| {
            let member = row.value()?;
            ActorRows::read(by_member.entry(member).or_default(), Some(member), row)
        };
        let parameters = bind! { ":members": json(members) };
        connection.each_row(LOAD_MEMBERS, parameters, read).await?;
        let actors = by_member.into_values().flatten();
        Ok(actors.map(|rows| rows.resolve()).collect())
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
        of_forum(&self.forums, forum).unwrap_or_default()
    }

    pub fn sees(&self) -> impl Iterator<Item = i64> {
        self.those(|access| access.read)
    }

    /// Returns whether the actor sees all forums of the board.
    pub fn sees_all(&self) -> bool {
        self.forums.iter().all(|(_, access)| access.read)
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

/// The rows of an actor before the actor's permissions are resolved.
#[derive(Debug)]
pub struct ActorRows {
    member: Option<i64>,
    position: Option<LogPosition>,
    head: Head,
    /// In the order of the ids.
    rules: Vec<ForumRules>,
}

impl ActorRows {
    /// Loads a token with its owner, on Postgres optionally with the position of the log. The owner is `None` if the
    /// member is unknown or banned.
    pub async fn load_token(
        connection: &Connection<'_>,
        lookup: Lookup,
        with_position: bool,
    ) -> DbResult<Option<(TokenRecord, Option<Self>)>> {
        let [sqlite, postgres] = LOAD_TOKEN;
        let mut token = None;
        let mut owner = None;
        let mut position = None;
        let read = |row: &mut RowReader<'_>| {
            if token.is_none() {
                token = Some(row.token()?);
            }
            row.skip(TOKEN_COLUMN_COUNT);
            let member = row.value()?;
            if with_position {
                position = row.parsed()?;
            }
            match member {
                None => Ok(Break(())),
                member => Self::read(&mut owner, member, row),
            }
        };
        let load = if with_position {
            LOAD_TOKEN_WITH_POSITION
        } else {
            connection.dialect(sqlite, postgres)
        };
        connection
            .each_row(load, bind! { ":lookup": lookup }, read)
            .await?;
        let owner = owner.map(|owner| Self { position, ..owner });
        Ok(token.map(|token| (token, owner)))
    }

    /// Adds a row of a member or the guest to the rows that precede it.
    fn read(
        rows: &mut Option<Self>,
        member: Option<i64>,
        row: &mut RowReader<'_>,
    ) -> DbResult<ControlFlow<()>> {
        let rows = match rows {
            Some(rows) => {
                row.skip(HEAD_COLUMN_COUNT);
                rows
            }
            None => rows.insert(Self {
                member,
                position: None,
                head: Head::read(row)?,
                rules: Vec::new(),
            }),
        };
        if let Some(forum) = rules(row)? {
            // SQLite scans the forums in this order, but sorts them again for an `ORDER BY`.
            let place = rows
                .rules
                .partition_point(|other| other.forum < forum.forum);
            rows.rules.insert(place, forum);
        }
        Ok(Continue(()))
    }

    pub fn resolve(&self) -> Actor {
        let head = self.head;
        Actor {
            member: self.member,
            groups: head.groups,
            last_seen: head.last_seen,
            offline: head.offline,
            has_endpoints: head.has_endpoints,
            body_max: head.body_max,
            position: self.position,
            forums: resolve(&self.rules, head.groups, self.member.is_some()),
        }
    }
}

/// The columns that are the same in each row.
#[derive(Clone, Copy, Debug)]
struct Head {
    groups: Groups,
    last_seen: Option<Timestamp>,
    offline: bool,
    has_endpoints: bool,
    body_max: u32,
}

impl Head {
    fn read(row: &mut RowReader<'_>) -> DbResult<Self> {
        let groups: Option<Groups> = row.parsed()?;
        Ok(Self {
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: row.value()?,
            offline: row.value()?,
            has_endpoints: row.value()?,
            body_max: BODY_MAX.read(row.text()?),
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
