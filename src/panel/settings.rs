//! What a host may set.

use std::time::Duration;

/// The settings of a panel. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path below which the panel answers. Default: `/panel`.
    pub mount: String,
    /// How much of a form is read, in bytes. Default: 1 MiB.
    pub body_limit: usize,
    /// How long a request may take. Default: 30 s.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mount: "/panel".into(),
            body_limit: 1 << 20,
            deadline: Duration::from_secs(30),
        }
    }
}
