//! What an operator may set.

use std::time::Duration;

use ipnet::IpNet;

use super::error_messages::{Language, Messages};
use crate::rate_limit::Window;

/// The settings of a service. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path below which the service answers. Default: `/api/v1`.
    pub mount: String,
    /// The library's own sentences. Default: English.
    pub messages: Messages,
    /// The budget of a token. Default: 600 units in 300 s.
    pub token_window: Window,
    /// The budget of the guests of one address prefix. Default: 120 units in 300 s.
    pub guest_window: Window,
    /// How many leading bits of an IPv4 address share a budget. Default: 24.
    pub v4_prefix: u8,
    /// How many leading bits of an IPv6 address share a budget. Default: 64.
    pub v6_prefix: u8,
    /// Peers whose `x-forwarded-for` is believed. Default: none.
    pub trusted_proxies: Vec<IpNet>,
    /// How many bytes of a body are read at most. Default: 1 MiB.
    pub body_limit: usize,
    /// How long a request may take from its head on. Default: 30 s. A write goes on to its end all the same.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        let length = Duration::from_secs(300);
        Self {
            mount: "/api/v1".into(),
            messages: Messages::of(Language::English),
            token_window: Window { units: 600, length },
            guest_window: Window { units: 120, length },
            v4_prefix: 24,
            v6_prefix: 64,
            trusted_proxies: Vec::new(),
            body_limit: 1 << 20,
            deadline: Duration::from_secs(30),
        }
    }
}
