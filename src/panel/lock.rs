//! Five wrong passwords in five minutes lock issuing for five minutes (contract, section 10).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::model::{Timestamp, UserId};

/// So many wrong passwords lock.
const TRIES: usize = 5;

/// In how long a time, and for how long.
const SPAN: Duration = Duration::from_secs(5 * 60);

/// The administrators who typed a wrong password lately.
#[derive(Debug, Default)]
pub(super) struct Lock(Mutex<HashMap<UserId, Tries>>);

#[derive(Debug, Default)]
struct Tries {
    at: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

impl Lock {
    /// Begins a try, which counts as wrong until it turns out [right](Self::forget): so many at once are no way around.
    ///
    /// While issuing is locked there is none, for as long as is given.
    pub(super) fn begin(&self, member: &UserId, now: Timestamp) -> Result<(), Duration> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tries = all.entry(member.clone()).or_default();
        if let Some(end) = tries.locked_until.filter(|end| now < *end) {
            return Err(end.since(now));
        }
        tries.at.retain(|at| now < at.plus(SPAN));
        tries.at.push(now);
        if tries.at.len() >= TRIES {
            tries.at.clear();
            tries.locked_until = Some(now.plus(SPAN));
        }
        Ok(())
    }

    /// The password was right: what went before does not matter any more.
    pub(super) fn forget(&self, member: &UserId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1000)
    }

    #[test]
    fn five_in_five_minutes_lock_for_five_minutes() {
        let (lock, admin) = (Lock::default(), UserId::from(1));
        for second in [0, 1, 2, 3, 299] {
            assert_eq!(lock.begin(&admin, at(second)), Ok(()));
        }
        assert_eq!(lock.begin(&admin, at(300)), Err(Duration::from_secs(299)));
        assert_eq!(lock.begin(&admin, at(598)), Err(Duration::from_secs(1)));
        assert_eq!(lock.begin(&UserId::from(2), at(598)), Ok(()));
        assert_eq!(lock.begin(&admin, at(599)), Ok(()));
    }

    #[test]
    fn older_ones_and_those_before_a_right_one_do_not_count() {
        let (lock, admin) = (Lock::default(), UserId::from(1));
        for second in [0, 1, 2, 3, 300, 301, 302, 303] {
            assert_eq!(lock.begin(&admin, at(second)), Ok(()), "{second}");
        }
        lock.forget(&admin);
        for second in 304..309 {
            assert_eq!(lock.begin(&admin, at(second)), Ok(()), "{second}");
        }
        assert!(lock.begin(&admin, at(309)).is_err());
    }
}
