//! What an operator may set.

use std::time::Duration;

use ipnet::IpNet;

use super::error_messages::{ErrorMessages, Language};
use crate::rate_limit::Budget;

/// The settings of a service. Take the defaults and change what you need.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The path below which the service answers. Default: `/api/v1`.
    pub base_path: String,
    /// The library's own sentences. Default: English.
    pub error_messages: ErrorMessages,
    /// The budget of a token. Default: 600 units in 300 s.
    pub token_budget: Budget,
    /// The budget of the guests of one address prefix. Default: 120 units in 300 s.
    pub guest_budget: Budget,
    /// How many leading bits of an IPv4 address share a budget. Default: 24.
    pub ipv4_prefix_len: u8,
    /// How many leading bits of an IPv6 address share a budget. Default: 64.
    pub ipv6_prefix_len: u8,
    /// Peers whose `x-forwarded-for` is believed. Default: none.
    pub trusted_proxies: Vec<IpNet>,
    /// How many bytes of a body are read at most. Default: 1 MiB.
    pub body_limit: usize,
    /// How long a request may take from its head on. Default: 30 s. A write goes on to its end all the same.
    pub request_timeout: Duration,
}

impl Default for ApiSettings {
    fn default() -> Self {
        let length = Duration::from_secs(300);
        Self {
            base_path: "/api/v1".into(),
            error_messages: ErrorMessages::for_language(Language::English),
            token_budget: Budget {
                units: 600,
                window: length,
            },
            guest_budget: Budget {
                units: 120,
                window: length,
            },
            ipv4_prefix_len: 24,
            ipv6_prefix_len: 64,
            trusted_proxies: Vec::new(),
            body_limit: 1 << 20,
            request_timeout: Duration::from_secs(30),
        }
    }
}
