//! Tables of usage.

/// A table with the sums of each hour.
#[derive(Clone, Copy)]
pub(crate) struct UsageTable {
    pub(crate) name: &'static str,
    /// Column of the primary key, after the hour.
    pub(crate) key: &'static str,
}

impl UsageTable {
    pub(crate) const TOKENS: Self = Self { name: "forum_api_usage", key: "token" };

    pub(crate) const OPERATIONS: Self =
        Self { name: "forum_api_operation_usage", key: "operation" };

    /// Returns the clause of an `INSERT` into `stored` that adds the numbers of a row that exists.
    pub(crate) fn add_to_stored(self) -> String {
        format!(
            "ON CONFLICT (hour, {}) DO UPDATE SET
                requests = stored.requests + excluded.requests,
                units = stored.units + excluded.units,
                rate_limited = stored.rate_limited + excluded.rate_limited,
                unauthenticated = stored.unauthenticated + excluded.unauthenticated,
                forbidden = stored.forbidden + excluded.forbidden,
                rejected = stored.rejected + excluded.rejected,
                errors = stored.errors + excluded.errors",
            self.key
        )
    }
}

/// Columns with the sums of a group of rows.
pub(crate) const SUMS: &str = "
    CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(units) AS BIGINT) AS units,
    CAST(sum(rate_limited) AS BIGINT) AS rate_limited, CAST(sum(unauthenticated) AS BIGINT) AS unauthenticated,
    CAST(sum(forbidden) AS BIGINT) AS forbidden, CAST(sum(rejected) AS BIGINT) AS rejected,
    CAST(sum(errors) AS BIGINT) AS errors";
