//! Accounts and profiles.

pub mod devices;
pub mod last_seen;
pub mod passwords;
pub mod post_count;
pub mod sessions;

use std::collections::HashMap;
use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::{Member, OwnAccount, Timestamp, UserId, UserRef};

use crate::board::access::groups::Groups;
use crate::board::db::{Connection, Row, Transaction, bind, json};

/// Adds a member and returns the id. Names are unique without regard to case.
pub async fn add(
    tx: &Transaction<'_>,
    name: &str,
    groups: Groups,
    now: Timestamp,
) -> BoardResult<i64> {
    if !is_name(name) {
        let rule = "a username must have 1 to 64 characters of a-z, A-Z, 0-9, dot, hyphen and underscore, and not begin with a hyphen";
        return Err(BoardError::validation("username", rule));
    }
    let insert = "
        INSERT INTO member (username, groups, joined_at) VALUES (:name, :groups, :now)
        ON CONFLICT DO NOTHING RETURNING id";
    let parameters = bind! { ":name": name, ":groups": groups.to_string(), ":now": now };
    tx.first(insert, parameters, |row| row.value("id"))
        .await?
        .ok_or_else(|| BoardError::conflict(format!("the username {name:?} is already taken")))
}

fn is_name(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    // Commands would read a name with a hyphen at the beginning as an option.
    (1..=64).contains(&text.len()) && text.bytes().all(legal) && !text.starts_with('-')
}

pub async fn find_id(connection: &Connection<'_>, name: &str) -> BoardResult<i64> {
    find(connection, &UserRef::Name(name.into()))
        .await?
        .ok_or_else(|| BoardError::not_found(format!("unknown member {name:?}")))
}

/// Returns the id of a member; `None` if the member does not exist.
pub async fn find(connection: &Connection<'_>, user: &UserRef) -> BoardResult<Option<i64>> {
    let queries = UserQueries {
        by_id: "SELECT id FROM member WHERE id = ?1",
        by_name: "SELECT id FROM member WHERE lower(username) = ?1",
    };
    first(connection, user, queries, |row| row.value("id")).await
}

/// A query by id and one by name. Postgres would plan one query with both conditions on each request.
struct UserQueries {
    by_id: &'static str,
    by_name: &'static str,
}

/// Reads the first row of the query for the user.
async fn first<T: Send>(
    connection: &Connection<'_>,
    user: &UserRef,
    queries: UserQueries,
    read: impl FnMut(&Row<'_>) -> BackendResult<T> + Send,
) -> BoardResult<Option<T>> {
    match user {
        UserRef::Id(id) => connection.first(queries.by_id, bind![id.to_i64().ok()], read).await,
        UserRef::Name(name) => {
            let name = name.to_ascii_lowercase();
            connection.first(queries.by_name, bind![name], read).await
        }
    }
}

pub async fn names(
    connection: &Connection<'_>,
    members: Vec<UserId>,
) -> BoardResult<HashMap<UserId, String>> {
    let find = "
        SELECT id, username FROM member
        WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))";
    let ids: Vec<_> = members.iter().flat_map(UserId::to_i64).collect();
    let found = connection
        .all(find, bind![json(&ids)?], |row| Ok((row.id("id")?, row.value("username")?)))
        .await?;
    Ok(found.into_iter().collect())
}

/// Returns the names of the members who are not banned, those who were active last first.
pub async fn last_active(connection: &Connection<'_>, limit: u32) -> BoardResult<Vec<String>> {
    let list = "
        SELECT username FROM member WHERE banned = FALSE
        ORDER BY COALESCE(last_seen_at, 0) DESC, id LIMIT ?1";
    let limit = i64::from(limit);
    connection.all(list, bind![limit], |row| row.value("username")).await
}

/// Bans a member and ends the member's sessions, or lifts the ban. Returns `false` if the member is in this state
/// already.
pub async fn set_banned(tx: &Transaction<'_>, member: i64, banned: bool) -> BoardResult<bool> {
    if banned {
        let end = "DELETE FROM session WHERE member_id = ?1";
        tx.execute(end, bind![member]).await?;
    }
    let update = "UPDATE member SET banned = ?2 WHERE id = ?1 AND banned <> ?2";
    Ok(tx.execute(update, bind![member, banned]).await? > 0)
}

pub async fn ignore(tx: &Transaction<'_>, member: i64, ignored: i64) -> BoardResult<()> {
    let insert =
        "INSERT INTO member_ignore (member_id, ignored_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    tx.execute(insert, bind![member, ignored]).await.map(drop)
}

/// Sets the groups of a member. Returns `false` if the member has these groups already.
pub async fn set_groups(tx: &Transaction<'_>, member: i64, groups: Groups) -> BoardResult<bool> {
    let update = "UPDATE member SET groups = ?2 WHERE id = ?1 AND groups <> ?2";
    let groups = groups.to_string();
    Ok(tx.execute(update, bind![member, groups]).await? > 0)
}

pub async fn set_password(tx: &Transaction<'_>, member: i64, hash: &str) -> BoardResult<()> {
    let update = "UPDATE member SET password_hash = ?2 WHERE id = ?1";
    tx.execute(update, bind![member, hash]).await.map(drop)
}

/// Returns an error if the member is the only administrator who can sign in: the others have no password or are banned.
pub async fn check_not_last_administrator(
    connection: &Connection<'_>,
    member: i64,
    name: &str,
) -> BoardResult<()> {
    let administrators = administrators(connection, 2).await?;
    if matches!(&administrators[..], [(last, _)] if *last == member) {
        return Err(BoardError::conflict(format!(
            "{name:?} is the last administrator who can sign in; make another member administrator and set their password first"
        )));
    }
    Ok(())
}

/// Returns an error if these members are the only administrators who can sign in.
pub async fn check_not_last_administrators(
    connection: &Connection<'_>,
    members: &[i64],
) -> BoardResult<()> {
    let administrators = administrators(connection, members.len() as i64 + 1).await?;
    let are_all = administrators.iter().all(|(administrator, _)| members.contains(administrator));
    if administrators.is_empty() || !are_all {
        return Ok(());
    }
    let names: Vec<_> = administrators.iter().map(|(_, name)| format!("{name:?}")).collect();
    let are_last = match &names[..] {
        [name] => format!("{name} is the last administrator"),
        names => format!("{} are the last administrators", names.join(", ")),
    };
    Err(BoardError::conflict(format!(
        "{are_last} who can sign in; make another member administrator and set their password first"
    )))
}

/// Returns whether an administrator can sign in.
pub async fn has_administrator(connection: &Connection<'_>) -> BoardResult<bool> {
    Ok(!administrators(connection, 1).await?.is_empty())
}

/// Returns ids and names of the administrators who can sign in, at most `limit`.
async fn administrators(
    connection: &Connection<'_>,
    limit: i64,
) -> BoardResult<Vec<(i64, String)>> {
    let find = "
        SELECT id, username FROM member
        WHERE groups LIKE '%administrators%' AND banned = FALSE AND password_hash IS NOT NULL
        ORDER BY id LIMIT ?1";
    connection.all(find, bind![limit], |row| Ok((row.value("id")?, row.value("username")?))).await
}

#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "it holds a password's hash")]
pub struct Login {
    pub member: i64,
    pub name: String,
    pub password_hash: String,
    pub groups: Groups,
}

fn login_query(condition: &str) -> String {
    format!(
        "SELECT id, username, password_hash, groups FROM member
        WHERE banned = FALSE AND password_hash IS NOT NULL AND {condition}"
    )
}

/// Returns the account of a member who is not banned and has a password.
pub async fn login(connection: &Connection<'_>, user: UserRef) -> BoardResult<Option<Login>> {
    static BY_ID: LazyLock<String> = LazyLock::new(|| login_query("id = ?1"));
    static BY_NAME: LazyLock<String> = LazyLock::new(|| login_query("lower(username) = ?1"));
    let queries = UserQueries { by_id: &BY_ID, by_name: &BY_NAME };
    first(connection, &user, queries, Login::read).await
}

impl Login {
    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        Ok(Self {
            member: row.value("id")?,
            name: row.value("username")?,
            password_hash: row.value("password_hash")?,
            groups: row.parsed("groups")?.unwrap_or_default(),
        })
    }
}

/// Returns a query of the columns of a profile, and of `others`.
fn profile_query(others: &str, condition: &str) -> String {
    format!(
        "SELECT
            id, username, joined_at, title, avatar_url, last_seen_at, {} AS post_count, reputation {others}
        FROM member WHERE {condition}",
        post_count::SHOWN,
    )
}

pub async fn profile(connection: &Connection<'_>, user: UserRef) -> BoardResult<Member> {
    static BY_ID: LazyLock<String> = LazyLock::new(|| profile_query("", "id = ?1"));
    static BY_NAME: LazyLock<String> = LazyLock::new(|| profile_query("", "lower(username) = ?1"));
    let queries = UserQueries { by_id: &BY_ID, by_name: &BY_NAME };
    first(connection, &user, queries, read_profile).await?.ok_or(BoardError::PathNotFound)
}

pub async fn own(connection: &Connection<'_>, member: i64) -> BoardResult<OwnAccount> {
    static QUERY: LazyLock<String> = LazyLock::new(|| profile_query(", unread_count", "id = ?1"));
    connection
        .first(&QUERY, bind![member], |row| {
            let mut account = OwnAccount::new(read_profile(row)?);
            account.unread_messages = Some(row.count("unread_count")?);
            Ok(account)
        })
        .await?
        .ok_or(BoardError::PathNotFound)
}

fn read_profile(row: &Row<'_>) -> BackendResult<Member> {
    let mut member =
        Member::new(row.id("id")?, row.value::<String>("username")?, row.value("joined_at")?);
    member.title = row.value("title")?;
    member.avatar_url = row.value("avatar_url")?;
    member.last_seen_at = row.value("last_seen_at")?;
    member.post_count = row.count("post_count")?;
    member.reputation = row.value("reputation")?;
    Ok(member)
}
