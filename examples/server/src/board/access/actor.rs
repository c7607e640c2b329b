//! The caller and the caller's permissions, loaded from the database.

use forum_api::host::{self, BoardError};
use forum_api::model::Timestamp;
use forum_api::token::{Lookup, TokenRecord};

use super::board_rules::{BoardRules, BoardRulesCache};
use super::groups::{Group, Groups};
use super::permissions::{ForumPermissions, of_forum};
use crate::board::db::{
    Connection, DbResult, LogPosition, RowReader, Transaction, bind, json, position,
};
use crate::board::settings::BODY_MAX;
use crate::board::texts::Texts;

/// The columns that [`ActorRow::read`] reads.
macro_rules! columns {
    () => {
        "
    member.groups,
    member.last_seen_at,
    EXISTS (SELECT 1 FROM setting WHERE key = 'board.offline'),
    EXISTS (SELECT 1 FROM forum_api_endpoints WHERE enabled),
    (SELECT value FROM setting WHERE key = 'post.body_max'),
    (SELECT version FROM access_version)"
    };
}

/// Reads the guest or a member. Returns no row for a member who is unknown or banned.
macro_rules! load {
    ($position:expr) => {
        concat!(
            "SELECT",
            $position,
            columns!(),
            "
FROM (SELECT 1) AS alone
LEFT JOIN member ON member.id = :member
WHERE CAST(:member AS BIGINT) IS NULL OR member.banned = FALSE"
        )
    };
}

pub const LOAD: &str = load!("");

/// [`LOAD`] with the position of the log before the other columns.
const LOAD_WITH_POSITION: &str = load!(position!());

/// Reads members who are not banned: the id of each one and the columns of [`LOAD`].
const LOAD_MEMBERS: &str = concat!(
    "SELECT member.id,",
    columns!(),
    "
FROM member
WHERE member.banned = FALSE AND member.id IN (SELECT CAST(value AS BIGINT) FROM json_each(:members))"
);

/// Reads a token, and its owner with the columns of [`LOAD`]. If the owner is unknown or banned, the id of the member is
/// null.
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
    /// Loads this member, or the guest if `member` is `None`, with two statements. Returns `None` for a member who is
    /// unknown or banned.
    pub async fn load(connection: &Connection<'_>, member: Option<i64>) -> DbResult<Option<Self>> {
        let Some(row) = ActorRow::load(connection, member, false).await? else {
            return Ok(None);
        };
        let rules = BoardRules::load(connection).await?;
        Ok(Some(row.with_rules(&rules)))
    }

    /// Loads the member of a command in its transaction.
    pub async fn acting(
        tx: &Transaction<'_>,
        member: i64,
        rules: &BoardRulesCache,
        texts: &Texts,
    ) -> host::BoardResult<Self> {
        let closed = || BoardError::forbidden(texts.account_closed);
        let row = ActorRow::load(tx, Some(member), false)
            .await?
            .ok_or_else(closed)?;
        match rules.get(row.rules_version) {
            Some(rules) => Ok(row.with_rules(&rules)),
            None => Ok(row.with_rules(&BoardRules::load(tx).await?)),
        }
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

/// An actor without permissions in forums.
#[derive(Clone, Copy, Debug)]
pub struct ActorRow {
    member: Option<i64>,
    position: Option<LogPosition>,
    groups: Groups,
    last_seen: Option<Timestamp>,
    offline: bool,
    has_endpoints: bool,
    body_max: u32,
    /// The version of the rules that hold for the actor.
    pub rules_version: i64,
}

impl ActorRow {
    /// Loads this member, or the guest if `member` is `None`, optionally with the position of the log of Postgres.
    /// Returns `None` for a member who is unknown or banned.
    pub async fn load(
        connection: &Connection<'_>,
        member: Option<i64>,
        with_position: bool,
    ) -> DbResult<Option<Self>> {
        let load = if with_position {
            LOAD_WITH_POSITION
        } else {
            LOAD
        };
        let read = |row: &mut RowReader<'_>| Self::read(member, with_position, row);
        connection
            .first(load, bind! { ":member": member }, read)
            .await
    }

    /// Loads those of the members who exist and are not banned.
    pub async fn load_all(connection: &Connection<'_>, members: &[i64]) -> DbResult<Vec<Self>> {
        let read = |row: &mut RowReader<'_>| {
            let member = row.value()?;
            Self::read(member, false, row)
        };
        let parameters = bind! { ":members": json(members) };
        connection.all(LOAD_MEMBERS, parameters, read).await
    }

    /// Loads a token with its owner, on Postgres optionally with the position of the log. The owner is `None` if the
    /// member is unknown or banned.
    pub async fn load_token(
        connection: &Connection<'_>,
        lookup: Lookup,
        with_position: bool,
    ) -> DbResult<Option<(TokenRecord, Option<Self>)>> {
        let [sqlite, postgres] = LOAD_TOKEN;
        let load = if with_position {
            LOAD_TOKEN_WITH_POSITION
        } else {
            connection.dialect(sqlite, postgres)
        };
        let read = |row: &mut RowReader<'_>| {
            let token = row.token()?;
            row.skip(TOKEN_COLUMN_COUNT);
            let owner = match row.value()? {
                None => None,
                member => Some(Self::read(member, with_position, row)?),
            };
            Ok((token, owner))
        };
        connection
            .first(load, bind! { ":lookup": lookup }, read)
            .await
    }

    fn read(member: Option<i64>, with_position: bool, row: &mut RowReader<'_>) -> DbResult<Self> {
        let position = if with_position { row.parsed()? } else { None };
        let groups: Option<Groups> = row.parsed()?;
        Ok(Self {
            member,
            position,
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: row.value()?,
            offline: row.value()?,
            has_endpoints: row.value()?,
            body_max: BODY_MAX.read(row.text()?),
            rules_version: row.value()?,
        })
    }

    pub fn with_rules(self, rules: &BoardRules) -> Actor {
        Actor {
            member: self.member,
            groups: self.groups,
            last_seen: self.last_seen,
            offline: self.offline,
            has_endpoints: self.has_endpoints,
            body_max: self.body_max,
            position: self.position,
            forums: rules.permissions(self.member, self.groups),
        }
    }
}
