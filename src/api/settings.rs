//! Settings of the API.

use std::time::Duration;

use ipnet::IpNet;

use super::error_messages::{ErrorMessages, Language};
use crate::rate_limit::Budget;

/// Settings of a [`ForumApi`](crate::ForumApi).
///
/// ```
/// use forum_api::{ApiSettings, ErrorMessages, Language};
///
/// let mut settings = ApiSettings {
///     error_messages: ErrorMessages::for_language(Language::German),
///     trusted_proxies: vec!["10.0.0.0/8".parse()?],
///     ..ApiSettings::default()
/// };
/// settings.guest_budget.units = 60;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// Path prefix of all endpoints. A trailing slash is removed. Default: `/api/v1`.
    pub base_path: String,
    /// Messages of the library's own errors. Default: English.
    pub error_messages: ErrorMessages,
    /// Budget of each token. Default: 600 units per 300 s.
    pub token_budget: Budget,
    /// Budget shared by the guests of one address prefix. Default: 120 units per 300 s.
    pub guest_budget: Budget,
    /// Length of an address prefix for IPv4, in bits. Values above 32 mean the whole address. Default: 24.
    pub ipv4_prefix_len: u8,
    /// Length of an address prefix for IPv6, in bits. Values above 128 mean the whole address. Default: 64.
    pub ipv6_prefix_len: u8,
    /// Networks of proxies whose `x-forwarded-for` header is trusted, see [`client_ip`](crate::client_ip). Default: none.
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum length of a body, in bytes. A longer body is a 400. Default: 1 MiB.
    pub body_limit: usize,
    /// Timeout of a request, measured from the arrival of its head. A read is cancelled; a write that has begun completes.
    /// The response is a 400 if the body had not arrived completely, otherwise a 500. Default: 30 s.
    pub request_timeout: Duration,
}

impl Default for ApiSettings {
    fn default() -> Self {
        let window = Duration::from_secs(300);
        Self {
            base_path: "/api/v1".into(),
            error_messages: ErrorMessages::for_language(Language::English),
            token_budget: Budget { units: 600, window },
            guest_budget: Budget { units: 120, window },
            ipv4_prefix_len: 24,
            ipv6_prefix_len: 64,
            trusted_proxies: Vec::new(),
            body_limit: 1 << 20,
            request_timeout: Duration::from_secs(30),
        }
    }
}
