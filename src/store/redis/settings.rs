//! Settings of the rate limit store.

use std::time::Duration;

/// Settings of a [`RedisRateLimitStore`](super::RedisRateLimitStore). All have defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RedisSettings {
    /// Prefix of all keys, the same for all nodes of a board and different for each board in one Redis. Default:
    /// `forum_api:`.
    pub prefix: String,
    /// Timeout of a response and of a new connection to a server. Default: 250 ms.
    pub timeout: Duration,
    /// Treatment of charges while Redis is unreachable. Default: [`RedisFallback::Local`].
    pub fallback: RedisFallback,
}

/// Treatment of charges while Redis is unreachable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisFallback {
    /// The node charges locally, starting from the last known state.
    #[default]
    Local,
    /// Charges fail: requests get a 503 `internal_error` with `retry-after`.
    Refuse,
}

impl Default for RedisSettings {
    fn default() -> Self {
        Self {
            prefix: "forum_api:".into(),
            timeout: Duration::from_millis(250),
            fallback: RedisFallback::default(),
        }
    }
}
