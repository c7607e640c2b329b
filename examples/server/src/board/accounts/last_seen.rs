//! Times at which members were last seen. They are collected in memory and written in batches, so that no request waits
//! for them. A crash loses the times that are not written yet.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use forum_api::host::BoardResult;
use forum_api::model::{Member, Timestamp};
use serde_json::{Value, json};

use crate::board::db::{BoardDatabase, Dialects, LastChange, bind};

/// Time between two calls of [`LastSeenTimes::flush`].
pub const INTERVAL: Duration = Duration::from_secs(10);

/// Shortest time between two stored values of `last_seen_at`.
pub const RESOLUTION: Duration = Duration::from_secs(5 * 60);

/// Maximum number of times. Further ones are dropped until these are written.
const MAX: usize = 10_000;

/// Times that are not written yet, by member. Cheap to clone.
#[derive(Clone, Default)]
pub struct LastSeenTimes(Arc<Mutex<HashMap<i64, Timestamp>>>);

impl LastSeenTimes {
    /// Records a time, unless an earlier one is not written yet.
    pub fn record(&self, member: i64, now: Timestamp) {
        let mut times = self.times();
        if times.len() < MAX {
            times.entry(member).or_insert(now);
        }
    }

    /// Replaces the last-seen time in a profile with the unwritten one, if there is one.
    pub fn apply_to(&self, profile: &mut Member) -> BoardResult<()> {
        let member = profile.user_id.to_i64()?;
        let seen = self.times().get(&member).copied();
        profile.last_seen_at = seen.or(profile.last_seen_at);
        Ok(())
    }

    /// Writes the collected times. If the write fails, the times are lost, and the failure is logged.
    pub async fn flush(&self, database: &BoardDatabase) {
        let unwritten = std::mem::take(&mut *self.times());
        if unwritten.is_empty() {
            return;
        }
        let times = unwritten
            .into_iter()
            .map(|(member, at)| json!({ "id": member, "at": at.as_millis() }))
            .collect::<Value>()
            .to_string();
        let resolution = RESOLUTION.as_millis() as i64;
        let written = database
            .write_background(move |tx| {
                Box::pin(async move {
                    let Dialects { sqlite, postgres } = UPDATE;
                    let parameters = bind! { ":times": times, ":resolution": resolution };
                    let statements = [tx.dialect(sqlite, postgres)];
                    tx.commit_with(&[LastChange::Statements(&statements, parameters)]).await
                })
            })
            .await;
        if let Err(error) = written {
            tracing::error!(%error, "failed to write last-seen times; times lost");
        }
    }

    fn times(&self) -> MutexGuard<'_, HashMap<i64, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LastSeenTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastSeenTimes")
    }
}

/// Returns whether `now` differs from `recorded` by at least `resolution` in either direction, because clocks can be set
/// back.
pub fn is_due(recorded: Timestamp, now: Timestamp, resolution: Duration) -> bool {
    now.saturating_duration_since(recorded).max(recorded.saturating_duration_since(now))
        >= resolution
}

/// The statement for Postgres skips rows that a command is changing, so
/// that these writes do not wait for commands. The rows are locked during one statement and the commit, which are sent
/// together: otherwise a distant or stopped server would delay commands of many members.
const UPDATE: Dialects<&str> = Dialects {
    sqlite: "UPDATE member SET last_seen_at = CAST(seen.value ->> 'at' AS BIGINT)
    FROM json_each(:times) AS seen
    WHERE member.id = CAST(seen.value ->> 'id' AS BIGINT)
        AND coalesce(abs(last_seen_at - CAST(seen.value ->> 'at' AS BIGINT)) >= :resolution, TRUE)",
    postgres: "UPDATE member SET last_seen_at = free.at
    FROM (
        SELECT member.id, CAST(seen.value ->> 'at' AS BIGINT) AS at
        FROM json_each(:times) AS seen JOIN member ON member.id = CAST(seen.value ->> 'id' AS BIGINT)
        FOR NO KEY UPDATE OF member SKIP LOCKED
    ) AS free
    WHERE member.id = free.id AND coalesce(abs(last_seen_at - free.at) >= :resolution, TRUE)",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_of_members_keep_their_first_time() {
        let seen = LastSeenTimes::default();
        for member in 0..MAX as i64 + 5 {
            seen.record(member, Timestamp::from_millis(1));
            seen.record(member, Timestamp::from_millis(2));
        }
        let times = seen.times();
        let are_first = times.values().all(|time| time.as_millis() == 1);
        assert!(times.len() == MAX && are_first, "{} times", times.len());
    }
}
