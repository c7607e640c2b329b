//! Sessions of signed-in members. The database stores them under the hashes of their ids, so that a session is valid on
//! every node.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forum_api::host::BoardResult;
use forum_api::model::Timestamp;
use sha2::{Digest, Sha256};

use super::{Login, last_seen};
use crate::board::db::{Connection, Driver, Transaction, bind};

/// Time without a use after which a session ends.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// Shortest time between two stored uses of a session.
pub const USE_RESOLUTION: Duration = Duration::from_secs(60);

/// Maximum duration of a session.
const MAX_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum time between now and a stored use. A session with a later one has ended: it was written by a clock that was
/// ahead, and would last until that clock's time is reached.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Maximum number of expired sessions that a new one removes.
const MAX_SWEPT: i64 = 100;

/// Hash of a session's id.
pub type Hash = [u8; 32];

/// Uses of sessions that are being recorded, so that the pages of a session do not queue a write each while other writes
/// run. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct UseRecords(Arc<Mutex<HashMap<Hash, Timestamp>>>);

impl UseRecords {
    /// Marks a use as being recorded. Returns `false`, and marks nothing, while a use less than a minute away is being
    /// recorded.
    pub fn begin(&self, session: Hash, now: Timestamp) -> bool {
        let mut running = self.running();
        let last = running.get(&session);
        let is_due = last.is_none_or(|last| last_seen::is_due(*last, now, USE_RESOLUTION));
        if is_due {
            running.insert(session, now);
        }
        is_due
    }

    pub fn end(&self, session: Hash, recorded: Timestamp) {
        let mut running = self.running();
        if running.get(&session) == Some(&recorded) {
            running.remove(&session);
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Hash, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the account of a valid session, and the last use.
pub async fn find(
    connection: &Connection<'_>,
    hash: Hash,
    now: Timestamp,
) -> BoardResult<Option<(Login, Timestamp)>> {
    let query = "
        SELECT member.id, member.username, member.password_hash, member.groups, session.password, session.used_at
        FROM session JOIN member ON member.id = session.member_id
        WHERE session.hash = :hash AND session.used_at > :idle AND session.began_at > :old
            AND session.used_at <= :latest AND session.began_at <= :latest
            AND member.banned = FALSE AND member.password_hash IS NOT NULL";
    let parameters = bind! {
        ":hash": hash.as_slice(), ":idle": now.saturating_sub(IDLE),
        ":old": now.saturating_sub(MAX_DURATION),
        ":latest": now.saturating_add(CLOCK_TOLERANCE),
    };
    let found = connection
        .first(query, parameters, |row| {
            let account = Login::read(row)?;
            let is_valid = password_fingerprint(&account) == row.value::<Vec<u8>>("password")?;
            Ok(is_valid.then_some((account, row.value("used_at")?)))
        })
        .await?;
    Ok(found.flatten())
}

/// Hash that changes with the account's password.
fn password_fingerprint(account: &Login) -> Vec<u8> {
    Sha256::digest(&account.password_hash).to_vec()
}

/// Begins a session of an account whose row is locked. Returns `false` if the member was banned or erased after the account
/// was read: a ban ends only the sessions that exist.
pub async fn begin(
    tx: &Transaction<'_>,
    hash: &[u8],
    account: &Login,
    now: Timestamp,
) -> BoardResult<bool> {
    let find_active = "SELECT 1 FROM member WHERE id = ?1 AND banned = FALSE";
    if !tx.any(find_active, bind![account.member]).await? {
        return Ok(false);
    }
    match tx.driver {
        Driver::Sqlite(_) => tx.execute(SWEEP, bind![now.saturating_sub(IDLE), MAX_SWEPT]).await?,
        Driver::Postgres(_) => {
            tx.execute(SWEEP_ON_POSTGRES, bind![IDLE.as_millis() as i64, MAX_SWEPT]).await?
        }
    };
    let insert = "
        INSERT INTO session (hash, member_id, password, began_at, used_at)
        VALUES (:hash, :member, :password, :now, :now)";
    let password = password_fingerprint(account);
    let parameters = bind! {
        ":hash": hash, ":member": account.member, ":password": password, ":now": now,
    };
    tx.execute(insert, parameters).await?;
    Ok(true)
}

pub async fn record_use(tx: &Transaction<'_>, hash: Hash, now: Timestamp) -> BoardResult<()> {
    let update = "UPDATE session SET used_at = ?2 WHERE hash = ?1";
    tx.execute(update, bind![hash.as_slice(), now]).await.map(drop)
}

/// Removes idle sessions only. A session that exceeds its maximum duration can no longer be used, so it becomes idle.
pub const SWEEP: &str = "
    DELETE FROM session
    WHERE hash IN (SELECT hash FROM session WHERE used_at <= ?1 ORDER BY used_at LIMIT ?2)";

/// Removes the sessions that are idle by the clock of Postgres, so that a node whose clock is ahead does not end sessions of
/// other nodes.
const SWEEP_ON_POSTGRES: &str = "
    DELETE FROM session
    WHERE hash IN (
        SELECT hash FROM session
        WHERE used_at <= CAST(extract(epoch FROM now()) * 1000 AS BIGINT) - CAST(?1 AS BIGINT)
        ORDER BY used_at LIMIT ?2
    )";

/// Ends all sessions.
pub async fn end_all(tx: &Transaction<'_>) -> BoardResult<()> {
    tx.execute("DELETE FROM session", &[]).await.map(drop)
}

pub async fn end(tx: &Transaction<'_>, hashes: Vec<Hash>) -> BoardResult<()> {
    let delete = "DELETE FROM session WHERE hash = ?1";
    for hash in hashes {
        tx.execute(delete, bind![hash.as_slice()]).await?;
    }
    Ok(())
}
