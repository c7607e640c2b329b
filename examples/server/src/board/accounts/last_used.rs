//! Times at which members were last seen and sessions last used. They are collected in memory and written in batches, so
//! that no request waits for them. A crash loses the times that are not written yet.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forum_api::host::BoardResult;
use forum_api::model::{Member, Timestamp};
use serde_json::{Value, json};

use crate::board::db::{BoardDatabase, Transaction, bind};

/// Time between two calls of [`LastUsedTimes::flush`].
pub const INTERVAL: Duration = Duration::from_secs(10);

/// Shortest time between two stored values of `last_seen_at`.
pub const SEEN_RESOLUTION: Duration = Duration::from_secs(5 * 60);

/// Shortest time between two stored uses of a session.
pub const SESSION_RESOLUTION: Duration = Duration::from_secs(60);

/// Maximum number of times of each kind. Further ones are dropped until these are written.
const MAX: usize = 10_000;

/// Times that are not written yet. Cheap to clone.
#[derive(Clone, Default)]
pub struct LastUsedTimes(Arc<Mutex<Pending>>);

#[derive(Default)]
struct Pending {
    seen: HashMap<i64, Timestamp>,
    /// By the hash of the session's id.
    used: HashMap<[u8; 32], Timestamp>,
}

impl LastUsedTimes {
    pub fn record_last_seen(&self, member: i64, now: Timestamp) {
        insert_time(&mut self.pending().seen, member, now);
    }

    /// Replaces the last-seen time in a profile with the unwritten one, if there is one.
    pub fn apply_to(&self, profile: &mut Member) -> BoardResult<()> {
        let member = profile.user_id.to_i64()?;
        let seen = self.pending().seen.get(&member).copied();
        profile.last_seen_at = seen.or(profile.last_seen_at);
        Ok(())
    }

    pub fn record_session_use(&self, session: [u8; 32], now: Timestamp) {
        insert_time(&mut self.pending().used, session, now);
    }

    /// Writes the collected times, with one statement for each kind. A failure goes to the log.
    pub async fn flush(&self, database: &BoardDatabase) {
        let Pending { seen, used } = self.take();
        if seen.is_empty() && used.is_empty() {
            return;
        }
        let seen: Value = seen
            .into_iter()
            .map(|(member, at)| json!({ "id": member, "at": at.as_millis() }))
            .collect();
        let used: Value = used
            .into_iter()
            .map(|(session, at)| json!({ "hash": hex(&session), "at": at.as_millis() }))
            .collect();
        let written = database
            .write_background(move |tx| {
                Box::pin(async move {
                    write(tx, (SEEN, SEEN_RESOLUTION), &seen).await?;
                    write(tx, (USED, SESSION_RESOLUTION), &used).await
                })
            })
            .await;
        if let Err(error) = written {
            tracing::error!(?error, "failed to write last-seen times to the database");
        }
    }

    fn take(&self) -> Pending {
        std::mem::take(&mut *self.pending())
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether `now` differs from `recorded` by at least `resolution` in either direction, because clocks can be set
/// back.
pub fn is_due(recorded: Timestamp, now: Timestamp, resolution: Duration) -> bool {
    now.saturating_duration_since(recorded)
        .max(recorded.saturating_duration_since(now))
        >= resolution
}

fn insert_time<K: Eq + Hash>(recorded: &mut HashMap<K, Timestamp>, key: K, now: Timestamp) {
    let is_full = recorded.len() >= MAX;
    if let Entry::Vacant(vacant) = recorded.entry(key)
        && !is_full
    {
        vacant.insert(now);
    }
}

impl fmt::Debug for LastUsedTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastUsedTimes")
    }
}

async fn write(
    tx: &Transaction<'_>,
    (update, resolution): ([&'static str; 2], Duration),
    times: &Value,
) -> BoardResult<()> {
    if times.as_array().is_none_or(Vec::is_empty) {
        return Ok(());
    }
    let [sqlite, postgres] = update;
    let update = tx.dialect(sqlite, postgres);
    let times = times.to_string();
    tx.execute(
        update,
        bind! { ":times": times, ":resolution": resolution.as_millis() as i64 },
    )
    .await?;
    Ok(())
}

/// The statements for SQLite and for Postgres. The statement for Postgres skips rows that a command is changing, so
/// that these writes do not wait for commands.
const SEEN: [&str; 2] = [
    "UPDATE member SET last_seen_at = CAST(seen.value ->> 'at' AS BIGINT)
    FROM json_each(:times) AS seen
    WHERE member.id = CAST(seen.value ->> 'id' AS BIGINT)
        AND coalesce(abs(last_seen_at - CAST(seen.value ->> 'at' AS BIGINT)) >= :resolution, TRUE)",
    "UPDATE member SET last_seen_at = free.at
    FROM (
        SELECT member.id, CAST(seen.value ->> 'at' AS BIGINT) AS at
        FROM json_each(:times) AS seen JOIN member ON member.id = CAST(seen.value ->> 'id' AS BIGINT)
        FOR NO KEY UPDATE OF member SKIP LOCKED
    ) AS free
    WHERE member.id = free.id AND coalesce(abs(last_seen_at - free.at) >= :resolution, TRUE)",
];

const USED: [&str; 2] = [
    "UPDATE session SET used_at = CAST(used.value ->> 'at' AS BIGINT)
    FROM json_each(:times) AS used
    WHERE session.hash = unhex(used.value ->> 'hash') AND abs(used_at - CAST(used.value ->> 'at' AS BIGINT)) >= :resolution",
    "UPDATE session SET used_at = free.at
    FROM (
        SELECT session.hash, CAST(used.value ->> 'at' AS BIGINT) AS at
        FROM json_each(:times) AS used JOIN session ON session.hash = decode(used.value ->> 'hash', 'hex')
        FOR NO KEY UPDATE OF session SKIP LOCKED
    ) AS free
    WHERE session.hash = free.hash AND abs(used_at - free.at) >= :resolution",
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_stored_once_and_the_number_of_times_is_bounded() {
        let times = LastUsedTimes::default();
        let time = Timestamp::from_millis;
        for member in 0..MAX as i64 + 5 {
            times.record_last_seen(member, time(1));
            times.record_last_seen(member, time(2));
        }
        let pending = times.take();
        assert_eq!((pending.seen.len(), pending.used.len()), (MAX, 0));
        assert!(pending.seen.values().all(|at| *at == time(1)));
        assert!(times.take().seen.is_empty());
    }
}
