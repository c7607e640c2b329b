//! The caller and the caller's permissions, loaded from the database.

use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::Timestamp;
use forum_api::token::{Lookup, TokenRecord};

use super::board_rules::{BoardRules, BoardRulesCache};
use super::groups::{Group, Groups};
use super::permissions::{ForumPermissions, of_forum};
use crate::board::db::{Connection, Dialects, LogPosition, POSITION, Row, Transaction, bind, json};
use crate::board::settings::SettingValues;
use crate::board::texts::Texts;

/// Selects no position of the log.
const NO_POSITION: &str = "NULL";

/// Returns the columns that [`ActorRow::read`] reads. `position` selects the position of the log.
fn columns(position: &str) -> String {
    format!(
        "member.id AS member_id, {position} AS log_position, member.groups, member.last_seen_at,
        EXISTS (SELECT 1 FROM forum_api_endpoints WHERE enabled) AS has_endpoints,
        (SELECT version FROM access_version) AS rules_version"
    )
}

/// Query of the guest or a member. Returns no row for a member who is unknown or banned.
pub static LOAD: LazyLock<String> = LazyLock::new(|| load_query(NO_POSITION));

static LOAD_WITH_POSITION: LazyLock<String> = LazyLock::new(|| load_query(POSITION));

fn load_query(position: &str) -> String {
    format!(
        "SELECT {} FROM (SELECT 1) AS alone LEFT JOIN member ON member.id = :member
        WHERE CAST(:member AS BIGINT) IS NULL OR member.banned = FALSE",
        columns(position)
    )
}

/// Query of members who are not banned.
static LOAD_MEMBERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {} FROM member
        WHERE member.banned = FALSE AND member.id IN (SELECT CAST(value AS BIGINT) FROM json_each(:members))",
        columns(NO_POSITION)
    )
});

/// Query of a token and its owner. If the owner is unknown or banned, the id of the member is null. An id that is not a
/// number in canonical form belongs to no member. On Postgres, a number of more than 18 digits belongs to no member either.
pub static LOAD_TOKEN: LazyLock<Dialects<String>> = LazyLock::new(|| Dialects {
    sqlite: token_query(
        NO_POSITION,
        "CAST(token.owner AS BIGINT) AND CAST(member.id AS TEXT) = token.owner",
    ),
    postgres: token_query(NO_POSITION, POSTGRES_OWNER),
});

/// [`LOAD_TOKEN`] for Postgres, with the position of the log.
static LOAD_TOKEN_WITH_POSITION: LazyLock<String> =
    LazyLock::new(|| token_query(POSITION, POSTGRES_OWNER));

const POSTGRES_OWNER: &str =
    "CASE WHEN token.owner ~ '^[1-9][0-9]{0,17}$' THEN CAST(token.owner AS BIGINT) END";

fn token_query(position: &str, owner: &str) -> String {
    format!(
        "SELECT
            token.lookup, token.digest, token.owner, token.label, token.scopes, token.created_at, token.expires_at,
            token.revoked_at, token.last_used_at, {}
        FROM forum_api_tokens AS token
        LEFT JOIN member ON member.id = {owner} AND member.banned = FALSE
        WHERE token.lookup = :lookup",
        columns(position)
    )
}

/// A guest, or a member who is not banned.
#[derive(Clone, Debug)]
pub struct Actor {
    row: ActorRow,
    /// Permissions in each forum, in the order of the ids.
    forums: Vec<(i64, ForumPermissions)>,
    pub settings: Arc<SettingValues>,
}

impl Deref for Actor {
    type Target = ActorRow;

    fn deref(&self) -> &ActorRow {
        &self.row
    }
}

impl Actor {
    /// Loads this member, or the guest if `member` is `None`, with two statements. Returns `None` for a member who is
    /// unknown or banned.
    pub async fn load(
        connection: &Connection<'_>,
        member: Option<i64>,
    ) -> BoardResult<Option<Self>> {
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
    ) -> BoardResult<Self> {
        let row = ActorRow::load(tx, Some(member), false).await?.ok_or_else(|| {
            BoardError::forbidden(texts.account_closed).with_reason("not_allowed")
        })?;
        match rules.get(row.rules_version) {
            Some(rules) => Ok(row.with_rules(&rules)),
            None => Ok(row.with_rules(&BoardRules::load(tx).await?)),
        }
    }

    pub fn access(&self, forum: i64) -> ForumPermissions {
        of_forum(&self.forums, forum).unwrap_or_default()
    }

    pub fn visible_forums(&self) -> impl Iterator<Item = i64> {
        self.forums_where(|access| access.read)
    }

    /// Returns whether the actor sees all forums of the board.
    pub fn sees_all(&self) -> bool {
        self.forums.iter().all(|(_, access)| access.read)
    }

    pub fn moderated_forums(&self) -> impl Iterator<Item = i64> {
        self.forums_where(|access| access.moderate)
    }

    fn forums_where(&self, has: fn(&ForumPermissions) -> bool) -> impl Iterator<Item = i64> {
        self.forums.iter().filter(move |(_, access)| has(access)).map(|(forum, _)| *forum)
    }
}

/// An actor without permissions in forums.
#[derive(Clone, Copy, Debug)]
pub struct ActorRow {
    /// `None` for the guest.
    pub member: Option<i64>,
    /// Position of the log that includes all changes that the caller can have seen. `None` without replicas.
    pub position: Option<LogPosition>,
    pub groups: Groups,
    pub last_seen: Option<Timestamp>,
    /// True if a webhook endpoint is enabled.
    pub has_endpoints: bool,
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
    ) -> BoardResult<Option<Self>> {
        let load = if with_position { &LOAD_WITH_POSITION } else { &LOAD };
        connection.first(load, bind! { ":member": member }, Self::read).await
    }

    /// Loads those of the members who exist and are not banned.
    pub async fn load_all(
        connection: &Connection<'_>,
        members: Vec<i64>,
    ) -> BoardResult<Vec<Self>> {
        let parameters = bind! { ":members": json(&members)? };
        connection.all(&LOAD_MEMBERS, parameters, Self::read).await
    }

    /// Loads a token with its owner, on Postgres optionally with the position of the log. The owner is `None` if the
    /// member is unknown or banned.
    pub async fn load_token(
        connection: &Connection<'_>,
        lookup: Lookup,
        with_position: bool,
    ) -> BoardResult<Option<(TokenRecord, Option<Self>)>> {
        let load =
            if with_position { &LOAD_TOKEN_WITH_POSITION } else { connection.on(&LOAD_TOKEN) };
        let read = |row: &Row<'_>| {
            let owner = Self::read(row)?;
            Ok((row.token()?, owner.member.is_some().then_some(owner)))
        };
        connection.first(load, bind! { ":lookup": lookup }, read).await
    }

    fn read(row: &Row<'_>) -> BackendResult<Self> {
        let groups: Option<Groups> = row.parsed("groups")?;
        Ok(Self {
            member: row.value("member_id")?,
            position: row.parsed("log_position")?,
            groups: groups.unwrap_or_default().with(Group::Guests),
            last_seen: row.value("last_seen_at")?,
            has_endpoints: row.value("has_endpoints")?,
            rules_version: row.value("rules_version")?,
        })
    }

    pub fn with_rules(self, rules: &BoardRules) -> Actor {
        Actor {
            row: self,
            forums: rules.permissions(self.member, self.groups),
            settings: rules.settings.clone(),
        }
    }
}
