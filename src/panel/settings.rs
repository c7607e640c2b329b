//! What a host may set.

use std::time::Duration;

use crate::scope::Surface;

/// The settings of a panel. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path below which the panel answers. Default: `/panel`.
    pub mount: String,
    /// Where browsers reach the host, as `https://board.example`: a form that comes from there is the panel's own, as
    /// is one from the address that the request was sent to. Default: empty, so that the latter counts alone.
    pub base_url: String,
    /// Which interface tokens are issued for. Default: [`Surface::Full`].
    pub surface: Surface,
    /// How much of a form is read, in bytes. Default: 1 MiB.
    pub body_limit: usize,
    /// How long a request may take. Default: 30 s.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mount: "/panel".into(),
            base_url: String::new(),
            surface: Surface::Full,
            body_limit: 1 << 20,
            deadline: Duration::from_secs(30),
        }
    }
}
