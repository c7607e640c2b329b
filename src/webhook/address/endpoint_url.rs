//! URLs of endpoints, and the check of their addresses.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use http::Uri;
use thiserror::Error;
use tokio::time::timeout;
use url::{Host, Position, SyntaxViolation, Url};

use super::class::{AddressClass, LOOPBACK, classify_address};
use super::resolver::Resolver;
use crate::model::is_invisible;

/// Longest URL in bytes.
const MAX_LENGTH: usize = 2048;

/// Maximum number of addresses of a host name to which a connection is tried.
const MAX_ADDRESSES: usize = 8;

/// Maximum time for which a registration waits for the resolver.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Reason why webhooks cannot be sent to a URL. `Display` shows a sentence for an operator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text is not a URL, is longer than 2048 bytes, or contains white space or invisible characters.
    #[error(
        "expected a URL of at most 2048 bytes without spaces and invisible characters, for example \
         https://example.org/hook"
    )]
    Malformed,
    /// The scheme is neither `https` nor `http`.
    #[error("the URL must begin with https: or http:")]
    Scheme,
    /// The URL contains a username or a password.
    #[error("the URL must not contain a username or password")]
    Credentials,
    /// The URL has a fragment.
    #[error("the URL must not have a fragment (#)")]
    Fragment,
    /// The port is 0.
    #[error("the URL must not use port 0")]
    Port,
    /// The host name does not resolve.
    #[error("the host name {0:?} does not resolve")]
    ResolutionFailed(String),
    /// The host is, or resolves to, a loopback, private or unique-local address. [`AllowedAddresses`] can allow it.
    #[error("the address {address} is {kind}, and private addresses are not allowed")]
    #[non_exhaustive]
    Private {
        /// The host or the address.
        address: String,
        /// Kind of the address, such as `loopback`.
        kind: &'static str,
    },
    /// The host is, or resolves to, an address to which webhooks are never sent.
    #[error("the address {address} is {kind}, which is never allowed")]
    #[non_exhaustive]
    Forbidden {
        /// The host or the address.
        address: String,
        /// Kind of the address, such as `multicast`.
        kind: &'static str,
    },
}

/// Addresses to which webhooks can be sent. [`Forbidden`](super::AddressClass::Forbidden) addresses are never allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllowedAddresses {
    /// Only public addresses.
    #[default]
    Public,
    /// Public and loopback addresses, for a board on the developer's own machine.
    Loopback,
    /// Public, loopback, private and unique-local addresses.
    Private,
}

impl AllowedAddresses {
    /// Returns [`Loopback`](Self::Loopback) if the host of the board's public URL is `localhost` or a loopback address,
    /// so that clients on other machines cannot use the board; otherwise [`Public`](Self::Public).
    ///
    /// ```
    /// use forum_api::webhook::AllowedAddresses;
    ///
    /// let allowed = AllowedAddresses::for_base_url("http://127.0.0.1:8080");
    /// assert_eq!(allowed, AllowedAddresses::Loopback);
    /// let allowed = AllowedAddresses::for_base_url("https://board.example");
    /// assert_eq!(allowed, AllowedAddresses::Public);
    /// ```
    pub fn for_base_url(base_url: &str) -> Self {
        let url = Url::parse(base_url).ok();
        let is_loopback = match url.as_ref().and_then(Url::host) {
            Some(Host::Domain(name)) => is_localhost(name),
            Some(Host::Ipv4(address)) => classify_address(address.into()) == LOOPBACK,
            Some(Host::Ipv6(address)) => classify_address(address.into()) == LOOPBACK,
            None => false,
        };
        if is_loopback { Self::Loopback } else { Self::Public }
    }

    fn contains(self, class: AddressClass) -> bool {
        match class {
            AddressClass::Public => true,
            AddressClass::Private(_) => {
                self == Self::Private || self == Self::Loopback && class == LOOPBACK
            }
            AddressClass::Forbidden(_) => false,
        }
    }
}

/// A checked URL of an endpoint. A host name is checked when it is [resolved](Self::resolve).
#[derive(Clone, Debug)]
pub struct EndpointUrl {
    url: Url,
    host: Host,
    port: u16,
    path: Uri,
    allowed: AllowedAddresses,
}

impl EndpointUrl {
    /// Parses a URL as browsers do, and checks it. An IP address is checked at once, a host name when it is
    /// [resolved](Self::resolve). `localhost` is a loopback address. `allowed` is checked again when a
    /// host name is resolved.
    ///
    /// # Errors
    /// Each [`AddressError`] except [`AddressError::ResolutionFailed`].
    pub fn parse(url: &str, allowed: AllowedAddresses) -> Result<Self, AddressError> {
        let url = parse_url(url)?;
        let path = url[Position::BeforePath..Position::AfterQuery].parse();
        let endpoint_url = Self {
            host: url.host().ok_or(AddressError::Malformed)?.to_owned(),
            port: url.port_or_known_default().ok_or(AddressError::Scheme)?,
            path: path.map_err(|_| AddressError::Malformed)?,
            url,
            allowed,
        };
        match &endpoint_url.host {
            Host::Domain(name) if !is_localhost(name) => {}
            Host::Domain(name) => check_class(LOOPBACK, name, allowed)?,
            Host::Ipv4(address) => endpoint_url.check_address((*address).into())?,
            Host::Ipv6(address) => endpoint_url.check_address((*address).into())?,
        }
        Ok(endpoint_url)
    }

    /// Checks the URL of a new endpoint, including the addresses of its host name: at least one must be allowed. A name
    /// is also accepted if its resolution fails or takes more than five seconds: it is resolved and checked again at
    /// each attempt.
    ///
    /// # Errors
    /// Each [`AddressError`] except [`AddressError::ResolutionFailed`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with time enabled.
    pub async fn check_registration(
        url: &str,
        allowed: AllowedAddresses,
        resolver: &dyn Resolver,
    ) -> Result<Self, AddressError> {
        let endpoint_url = Self::parse(url, allowed)?;
        match timeout(REGISTRATION_TIMEOUT, endpoint_url.resolve(resolver)).await {
            Err(_) | Ok(Ok(_) | Err(AddressError::ResolutionFailed(_))) => Ok(endpoint_url),
            Ok(Err(error)) => Err(error),
        }
    }

    /// Resolves the host to the allowed addresses: at least one and at most eight, alternating between IPv6 and IPv4,
    /// beginning with the family of the first allowed address. Within a family, the order of the resolver is kept.
    ///
    /// # Errors
    /// [`AddressError::ResolutionFailed`] if the host has no address, [`AddressError::Private`] or
    /// [`AddressError::Forbidden`] if none of its addresses is allowed.
    pub async fn resolve(&self, resolver: &dyn Resolver) -> Result<Vec<SocketAddr>, AddressError> {
        let addresses = match &self.host {
            Host::Domain(name) => resolver.resolve(name).await.unwrap_or_default(),
            Host::Ipv4(address) => vec![(*address).into()],
            Host::Ipv6(address) => vec![(*address).into()],
        };
        let mut allowed = Vec::new();
        let mut error = AddressError::ResolutionFailed(self.host.to_string());
        for address in addresses {
            match self.check_address(address) {
                Ok(()) => allowed.push(SocketAddr::new(address, self.port)),
                Err(refused) => error = refused,
            }
        }
        let mut allowed = interleaved(allowed);
        allowed.truncate(MAX_ADDRESSES);
        if allowed.is_empty() { Err(error) } else { Ok(allowed) }
    }

    /// Returns the URL in the form that requests use, as the parser normalises it.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Returns the value of the `host` header: the host, and the port if it is not the default of the scheme.
    pub(crate) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns the path with the query.
    pub(crate) const fn path(&self) -> &Uri {
        &self.path
    }

    fn check_address(&self, address: IpAddr) -> Result<(), AddressError> {
        check_class(classify_address(address), address, self.allowed)
    }
}

fn check_class(
    class: AddressClass,
    host: impl ToString,
    allowed: AllowedAddresses,
) -> Result<(), AddressError> {
    let address = host.to_string();
    match class {
        _ if allowed.contains(class) => Ok(()),
        AddressClass::Private(kind) => Err(AddressError::Private { address, kind }),
        AddressClass::Forbidden(kind) => Err(AddressError::Forbidden { address, kind }),
        AddressClass::Public => Ok(()),
    }
}

/// Returns an endpoint's URL without its query. The audit log, which is never purged, does not contain queries, because
/// they can contain a secret of the receiver.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Parses a URL, and checks everything except its host.
fn parse_url(text: &str) -> Result<Url, AddressError> {
    if text.len() > MAX_LENGTH || text.contains(is_invisible) {
        return Err(AddressError::Malformed);
    }
    // An empty username or password, as in `http://@host`, is reported by the parser, but is not part of its result.
    let has_credentials = Cell::new(false);
    let on_violation = |violation| {
        if matches!(violation, SyntaxViolation::EmbeddedCredentials) {
            has_credentials.set(true);
        }
    };
    let url = Url::options()
        .syntax_violation_callback(Some(&on_violation))
        .parse(text)
        .map_err(|_| AddressError::Malformed)?;
    let rules = [
        (matches!(url.scheme(), "https" | "http"), AddressError::Scheme),
        (!has_credentials.get(), AddressError::Credentials),
        (url.fragment().is_none(), AddressError::Fragment),
        (url.port() != Some(0), AddressError::Port),
        (url.as_str().len() <= MAX_LENGTH, AddressError::Malformed),
    ];
    match rules.into_iter().find(|(is_met, _)| !is_met) {
        Some((_, error)) => Err(error),
        None => Ok(url),
    }
}

/// Alternates between the address families, beginning with the family of the first address (RFC 8305, section 4).
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut second = second.into_iter();
    let mut mixed = Vec::new();
    for address in first {
        mixed.push(address);
        mixed.extend(second.next());
    }
    mixed.extend(second);
    mixed
}

/// Returns `true` if a name is a loopback name, independent of the resolver (RFC 6761).
fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}
