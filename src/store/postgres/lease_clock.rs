//! The clock that decides leases and due times.

use crate::model::Timestamp;

/// Clock that decides leases and due times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseClock {
    /// Postgres's own (`clock_timestamp()`), one for all nodes: only differences between a node's times count.
    #[default]
    Database,
    /// The caller's, for tests with a manual clock.
    Caller,
}

impl LeaseClock {
    /// The parameter of [`clock`]: `None` for Postgres's clock.
    pub(super) fn time(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

/// A common table expression with the current time in milliseconds, one for the whole statement.
macro_rules! clock {
    ($parameter:literal) => {
        concat!(
            "clock AS MATERIALIZED (
    SELECT coalesce(",
            $parameter,
            "::BIGINT, (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT) AS now
)"
        )
    };
}

pub(super) use clock;
