//! Where webhooks are sent, once it is known that they may be.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::Uri;
use thiserror::Error;
use tokio::time::timeout;
use url::{Host, Position, SyntaxViolation, Url};

use super::class::LOOPBACK;
use super::{Resolver, classify_address};

/// The longest URL, in bytes.
const MAX_LENGTH: usize = 2048;

/// How many of a name's addresses are of use.
const MAX_ADDRESSES: usize = 8;

/// How long a registration waits for a name's addresses.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Why nothing is sent to an address. It prints as a sentence for an operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no URL, or holds what no URL should.
    #[error("expected a URL, for example https://example.org/hook")]
    Malformed,
    /// Its scheme is neither `https` nor `http`.
    #[error("the URL must begin with https: or http:")]
    Scheme,
    /// It names a user or a password.
    #[error("the URL must not contain a username or password")]
    Credentials,
    /// It has a fragment, which would never be sent.
    #[error("the URL must not have a fragment (#)")]
    Fragment,
    /// It names port 0, which no receiver has.
    #[error("the URL must not use port 0")]
    Port,
    /// Its name resolves to no address now.
    #[error("the host name {0:?} does not resolve")]
    ResolutionFailed(String),
    /// Its host is of this kind, and the setting `allow_private` would allow it.
    #[error("the address {0} is {1}, and private addresses are not allowed")]
    Private(String, &'static str),
    /// Its host is of this kind, and no setting allows it.
    #[error("the address {0} is {1}")]
    Forbidden(String, &'static str),
}

/// The URL of an endpoint, checked as far as that goes without asking where its name leads.
#[derive(Clone, Debug)]
pub struct EndpointUrl {
    url: Url,
    host: Host,
    port: u16,
    path: Uri,
    allow_private: bool,
}

impl EndpointUrl {
    /// Reads a URL as browsers do. An address is judged at once, and a name when it is [resolved](Self::resolve);
    /// `localhost` is a loopback address. `allow_private`: whether loopback, private and unique-local ones will do.
    ///
    /// # Errors
    /// When nothing may be sent there.
    pub fn parse(url: &str, allow_private: bool) -> Result<Self, AddressError> {
        let url = read(url)?;
        let path = url[Position::BeforePath..Position::AfterQuery].parse();
        let target = Self {
            host: url.host().ok_or(AddressError::Malformed)?.to_owned(),
            port: url.port_or_known_default().ok_or(AddressError::Scheme)?,
            path: path.map_err(|_| AddressError::Malformed)?,
            url,
            allow_private,
        };
        match &target.host {
            Host::Domain(name) if !is_localhost(name) => {}
            Host::Domain(name) => LOOPBACK.check(name, allow_private)?,
            Host::Ipv4(address) => target.check_address((*address).into())?,
            Host::Ipv6(address) => target.check_address((*address).into())?,
        }
        Ok(target)
    }

    /// Reads a URL that somebody registers, and asks where its name leads. A name that does not resolve yet is taken:
    /// it is asked again at each attempt.
    ///
    /// # Errors
    /// When nothing may be sent there.
    pub async fn check_registration(
        url: &str,
        allow_private: bool,
        resolver: &dyn Resolver,
    ) -> Result<Self, AddressError> {
        let target = Self::parse(url, allow_private)?;
        match timeout(REGISTRATION_TIMEOUT, target.resolve(resolver)).await {
            Err(_) | Ok(Ok(_) | Err(AddressError::ResolutionFailed(_))) => Ok(target),
            Ok(Err(refused)) => Err(refused),
        }
    }

    /// Resolves the host to the addresses that may be connected to: at least one and at most eight, in the order of the
    /// resolver, with IPv6 and IPv4 addresses in turn.
    ///
    /// # Errors
    /// When there is none.
    pub async fn resolve(&self, resolver: &dyn Resolver) -> Result<Vec<SocketAddr>, AddressError> {
        let addresses = match &self.host {
            Host::Domain(name) => resolver.resolve(name).await.unwrap_or_default(),
            Host::Ipv4(address) => vec![(*address).into()],
            Host::Ipv6(address) => vec![(*address).into()],
        };
        let mut allowed = Vec::new();
        let mut refused = AddressError::ResolutionFailed(self.host.to_string());
        for address in addresses {
            match self.check_address(address) {
                Ok(()) => allowed.push(SocketAddr::new(address, self.port)),
                Err(why) => refused = why,
            }
        }
        let mut allowed = interleaved(allowed);
        allowed.truncate(MAX_ADDRESSES);
        if allowed.is_empty() {
            Err(refused)
        } else {
            Ok(allowed)
        }
    }

    /// Its host, by name or by address.
    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    /// Whether TLS is spoken there.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// What `host` says: the host, and the port if it is not the scheme's own.
    pub(crate) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// Its path and its query.
    pub(crate) const fn path(&self) -> &Uri {
        &self.path
    }

    fn check_address(&self, address: IpAddr) -> Result<(), AddressError> {
        classify_address(address).check(address, self.allow_private)
    }
}

/// Reads a URL, and what does not depend on its host.
fn read(text: &str) -> Result<Url, AddressError> {
    let unseen = |letter: char| letter.is_control() || letter.is_whitespace();
    if text.len() > MAX_LENGTH || text.contains(unseen) {
        return Err(AddressError::Malformed);
    }
    // An empty user or password, as in `http://@host`, is lost in the parsed URL: only the parser reports it.
    let anonymous = Cell::new(true);
    let note = |violation| {
        if matches!(violation, SyntaxViolation::EmbeddedCredentials) {
            anonymous.set(false);
        }
    };
    let url = Url::options()
        .syntax_violation_callback(Some(&note))
        .parse(text)
        .map_err(|_| AddressError::Malformed)?;
    let rules = [
        (
            matches!(url.scheme(), "https" | "http"),
            AddressError::Scheme,
        ),
        (anonymous.get(), AddressError::Credentials),
        (url.fragment().is_none(), AddressError::Fragment),
        (url.port() != Some(0), AddressError::Port),
    ];
    let broken = rules.into_iter().find(|(kept, _)| !kept);
    broken.map_or(Ok(url), |(_, refused)| Err(refused))
}

/// Alternates between the address families, beginning with the family of the first address (RFC 8305, section 4).
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| address.is_ipv6() == first_is_v6);
    let mut second = second.into_iter();
    let mut mixed = Vec::new();
    for address in first {
        mixed.push(address);
        mixed.extend(second.next());
    }
    mixed.extend(second);
    mixed
}

/// Whether a name is this host's own, whatever a resolver says (RFC 6761).
fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}
