//! Numbers of requests by hour, token and operation.

use std::ops::AddAssign;
use std::time::Duration;

use crate::model::{DAY, HOUR, Timestamp};
use crate::token::Lookup;

/// Numbers of API requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageCounts {
    /// Requests with any status, and requests whose client disconnected before the response.
    pub requests: u64,
    /// Charged units.
    pub units: u64,
    /// Requests refused with 429.
    pub rate_limited: u64,
    /// Requests refused with 401. The usage of a token includes them if the token is known, but revoked or expired.
    pub unauthenticated: u64,
    /// Requests refused with 403.
    pub forbidden: u64,
    /// Requests refused with another status from 400 to 499.
    pub rejected: u64,
    /// Requests that failed with a status of 500 or above.
    pub errors: u64,
}

impl UsageCounts {
    /// Returns the number of requests that were refused with 401, 403 or 429.
    pub fn refused(&self) -> u64 {
        self.unauthenticated + self.forbidden + self.rate_limited
    }

    /// Number of columns in a table of usage, without its key.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) const COLUMNS: usize = 7;

    /// Returns the values in the order of the columns.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn to_row(self) -> [i64; Self::COLUMNS] {
        let row = [
            self.requests,
            self.units,
            self.rate_limited,
            self.unauthenticated,
            self.forbidden,
            self.rejected,
            self.errors,
        ];
        row.map(|count| i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl AddAssign for UsageCounts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.units += other.units;
        self.rate_limited += other.rate_limited;
        self.unauthenticated += other.unauthenticated;
        self.forbidden += other.forbidden;
        self.rejected += other.rejected;
        self.errors += other.errors;
    }
}

/// Requests for one operation with one token, or of all guests, in one hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenUsage {
    /// Beginning of the hour.
    pub hour: Timestamp,
    /// Lookup of the token; `None` for the requests of guests, which have no token or an unknown one.
    pub token: Option<Lookup>,
    /// Id of the operation; `None` for requests without one, such as those for the OpenAPI document or an unknown path.
    pub operation: Option<&'static str>,
    /// Numbers of requests.
    pub counts: UsageCounts,
}

impl TokenUsage {
    /// Time for which the library keeps usage: 30 days.
    pub(crate) const RETENTION: Duration = DAY.saturating_mul(30);

    /// Returns the beginning of the hour of `at`, in UTC.
    pub fn hour_of(at: Timestamp) -> Timestamp {
        at.interval_start(HOUR)
    }
}
