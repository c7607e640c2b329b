//! What an operator may set about budgets in Redis.

use std::time::Duration;

/// The settings of [`RedisBudgets`](super::RedisBudgets). Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the name of every key begins with: nodes of one board share it, and several boards in one Redis each have
    /// their own. Default: `forum_api:`.
    pub prefix: String,
    /// How long a charge waits for Redis at most, and a new connection too. Default: 250 ms.
    pub patience: Duration,
    /// What becomes of charges while Redis is out of reach. Default: [`WhenAway::MeterAlone`].
    pub when_away: WhenAway,
}

/// What becomes of charges while Redis is out of reach (contract, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenAway {
    /// The node meters by itself, going on from what it last knew, and requests go on.
    #[default]
    MeterAlone,
    /// Requests are refused with 500 `internal_error`.
    Refuse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prefix: "forum_api:".into(),
            patience: Duration::from_millis(250),
            when_away: WhenAway::default(),
        }
    }
}
