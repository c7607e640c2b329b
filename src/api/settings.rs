//! Settings of the API.

use std::time::Duration;

use ipnet::IpNet;

use crate::build_error::BuildError;
use crate::http_util::parse_base_path;
use crate::operation::{ErrorMessages, Language};
use crate::rate_limit::Budget;

/// Settings of a [`ForumApi`](crate::ForumApi). [`ForumApiBuilder::build`](crate::ForumApiBuilder::build) rejects values
/// out of bounds.
///
/// ```
/// use forum_api::{ApiSettings, ErrorMessages, Language};
///
/// let mut settings = ApiSettings::default();
/// settings.error_messages = ErrorMessages::for_language(Language::German);
/// settings.trusted_proxies.push("10.0.0.0/8".parse()?);
/// settings.guest_budget.units = 60;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[doc(alias = "config")]
#[doc(alias = "options")]
pub struct ApiSettings {
    /// Path prefix of all endpoints, with a leading slash. Slashes at the end are removed. Default: `/api/v1`.
    pub base_path: String,
    /// Messages of the library's own errors. Default: English.
    pub error_messages: ErrorMessages,
    /// Budget of each token: at least one unit, and a window of at least 1 ms. Default: 600 units per 300 s.
    pub token_budget: Budget,
    /// Budget shared by the guests of one address prefix, with the same bounds as `token_budget`. Default: 120 units
    /// per 300 s.
    pub guest_budget: Budget,
    /// Length of an address prefix for IPv4, in bits, at most 32. Default: 24.
    pub ipv4_prefix_len: u8,
    /// Length of an address prefix for IPv6, in bits, at most 128. Default: 64.
    pub ipv6_prefix_len: u8,
    /// Networks of proxies whose `x-forwarded-for` header is trusted, see [`client_ip`](crate::client_ip). Default: none.
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum length of a body, in bytes, at least 1. The response to a longer body is a 400. Default: 1 MiB.
    pub body_limit: usize,
    /// Timeout of a request, at least 1 ms, measured from the arrival of its head. At the timeout, the library
    /// cancels a command that only reads. A command that writes runs to completion if it has begun. The response is a
    /// 400 if the body has not arrived completely, otherwise a 500. Default: 30 s.
    pub request_timeout: Duration,
    /// Statements about the board, for the OpenAPI document and the instructions for language models. Default: none.
    pub board: BoardDescription,
}

/// Statements of the OpenAPI document about one board: in its title and its licence, in the chapters Authentication and This
/// board, and as `maxLength` of the texts in bodies. The library does not enforce the limits.
///
/// The document is rendered at the first request for it. A later change of a limit is not part of it.
///
/// ```
/// use forum_api::{ApiSettings, BoardDescription};
///
/// let mut board = BoardDescription::default();
/// board.token_source = "Create a token on [your profile](https://board.example/profile).".into();
/// board.markup = "Markdown without HTML".into();
/// board.title_max = Some(120);
/// let mut settings = ApiSettings::default();
/// settings.board = board;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BoardDescription {
    /// Name of the board: the title of the OpenAPI document, and of the server of the Model Context Protocol. Default:
    /// empty; the title of the document is then `Forum Board REST API`, and the other server has no title.
    pub name: String,
    /// Way in which a member who is not an administrator gets a token: sentences in Markdown, which can contain a link.
    /// Default: empty; the document then states that administrators issue tokens in the control panel.
    pub token_source: String,
    /// Markup of posts and messages, as a noun.
    pub markup: String,
    /// Maximum length of thread titles, subjects, poll questions, poll options and reasons of edits, in characters.
    pub title_max: Option<u32>,
    /// Maximum length of posts, messages and comments of ratings, in characters.
    pub body_max: Option<u32>,
    /// Minimum time between two posts of a member, in whole seconds.
    pub post_interval: Option<Duration>,
    /// Licence of the API as an SPDX expression, such as `CC-BY-4.0`. Default: empty; the document then has no licence.
    pub license: String,
    /// Further sentences in Markdown, for example the addresses from which webhooks are sent.
    pub notes: String,
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
            board: BoardDescription::default(),
        }
    }
}

impl ApiSettings {
    /// Checks the bounds of the settings, and removes slashes at the end of the base path.
    pub(super) fn validate(&mut self) -> Result<(), BuildError> {
        parse_base_path("base_path", &mut self.base_path, "/api/v1")?;
        BuildError::require_positive("token_budget.units", self.token_budget.units)?;
        BuildError::require_duration("token_budget.window", self.token_budget.window)?;
        BuildError::require_positive("guest_budget.units", self.guest_budget.units)?;
        BuildError::require_duration("guest_budget.window", self.guest_budget.window)?;
        let fits = self.ipv4_prefix_len <= 32;
        BuildError::require(fits, "ipv4_prefix_len", "a number of bits from 0 to 32")?;
        let fits = self.ipv6_prefix_len <= 128;
        BuildError::require(fits, "ipv6_prefix_len", "a number of bits from 0 to 128")?;
        BuildError::require_positive("body_limit", self.body_limit)?;
        BuildError::require_duration("request_timeout", self.request_timeout)
    }
}
