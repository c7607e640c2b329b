//! The client's address, and which guests share a budget (`docs/protocol.md`, section 4.3).

use std::net::{IpAddr, SocketAddr};

use http::{Extensions, HeaderMap};
use ipnet::IpNet;

use super::ApiSettings;
use crate::rate_limit::RateLimitKey;

const FORWARDED: &str = "x-forwarded-for";

/// The peer's address where a host puts it by default: an `IpAddr` or a `SocketAddr` extension.
pub(super) fn peer_ip(extensions: &Extensions) -> Option<IpAddr> {
    let socket = || extensions.get::<SocketAddr>().map(SocketAddr::ip);
    extensions.get::<IpAddr>().copied().or_else(socket)
}

/// The budget of the guest who calls from `peer`.
pub(super) fn budget_key(
    peer: Option<IpAddr>,
    headers: &HeaderMap,
    settings: &ApiSettings,
) -> RateLimitKey {
    let client = peer.map(|peer| client_ip(peer, headers, &settings.trusted_proxies));
    client.map_or(RateLimitKey::UnknownAddress, |client| {
        RateLimitKey::Prefix(settings.address_prefix(client))
    })
}

/// Returns the client address of a request: the peer or, if the peer is a trusted proxy, the right-most address in
/// `x-forwarded-for` that is not a trusted proxy. A malformed entry ends the search at the last trusted hop
/// (`docs/protocol.md`, section 4.3).
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    if !is_trusted(&peer) {
        return peer;
    }
    let mut hop = peer;
    for line in headers.get_all(FORWARDED).iter().rev() {
        for entry in line.to_str().unwrap_or_default().rsplit(',') {
            match address(entry.trim()) {
                Some(address) if is_trusted(&address) => hop = address,
                Some(address) => return address,
                None => return hop,
            }
        }
    }
    hop
}

/// An address, with or without brackets and a port.
fn address(text: &str) -> Option<IpAddr> {
    let bracketed = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let bare = bracketed.unwrap_or(text).parse::<IpAddr>();
    let with_port = || text.parse::<SocketAddr>().map(|socket| socket.ip());
    bare.or_else(|_| with_port())
        .ok()
        .map(|address| address.to_canonical())
}

impl ApiSettings {
    /// Returns the prefix of `address` whose clients share a budget: the address with all but its first
    /// [`v4_prefix`](Self::v4_prefix) or [`v6_prefix`](Self::v6_prefix) bits zeroed. IPv4 is IPv4-mapped IPv6.
    pub fn address_prefix(&self, address: IpAddr) -> u128 {
        let address = address.to_canonical();
        let kept = match address {
            IpAddr::V4(_) => self.ipv4_prefix_len,
            IpAddr::V6(_) => self.ipv6_prefix_len,
        };
        match IpNet::new(address, kept).map_or(address, |net| net.network()) {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
            IpAddr::V6(v6) => v6.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn settings() -> ApiSettings {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        ApiSettings {
            trusted_proxies,
            ..ApiSettings::default()
        }
    }

    /// `forwarded` has a line of the header between bars.
    fn key(peer: &str, forwarded: &str) -> RateLimitKey {
        let mut headers = HeaderMap::new();
        for line in forwarded.split('|') {
            headers.append(FORWARDED, line.parse().unwrap());
        }
        budget_key(Some(peer.parse().unwrap()), &headers, &settings())
    }

    #[test]
    fn a_budget_is_that_of_the_prefix_behind_trusted_proxies() {
        for (peer, forwarded, prefix) in [
            ("192.0.2.17", "", "::ffff:192.0.2.0"),
            ("::ffff:192.0.2.99", "", "::ffff:192.0.2.0"),
            ("2001:db8:1:2:3::4", "", "2001:db8:1:2::"),
            ("192.0.2.1", "203.0.113.1", "::ffff:192.0.2.0"),
            ("10.0.0.1", "203.0.113.1", "::ffff:203.0.113.0"),
            (
                "10.0.0.1",
                "192.0.2.9, 203.0.113.1, 10.9.9.9",
                "::ffff:203.0.113.0",
            ),
            ("10.0.0.1", "192.0.2.9|203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "203.0.113.1:4711", "::ffff:203.0.113.0"),
            ("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::"),
            ("10.0.0.1", "[2001:db8::1]", "2001:db8::"),
            ("::ffff:10.0.0.1", "203.0.113.1", "::ffff:203.0.113.0"),
            ("fd00::1", "::ffff:203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "", "::ffff:10.0.0.0"),
            ("10.0.0.1", "garbage", "::ffff:10.0.0.0"),
            (
                "10.0.0.1",
                "203.0.113.1, garbage, 10.1.1.1",
                "::ffff:10.1.1.0",
            ),
            ("10.0.0.1", "10.2.2.2, 10.1.1.1", "::ffff:10.2.2.0"),
        ] {
            let expected: Ipv6Addr = prefix.parse().unwrap();
            let expected = RateLimitKey::Prefix(expected.into());
            assert_eq!(key(peer, forwarded), expected, "{peer} {forwarded}");
        }
    }

    #[test]
    fn a_prefix_has_any_number_of_bits() {
        let address = Ipv6Addr::from(u128::MAX);
        for (v6_prefix, expected) in [(0, 0), (1, 1 << 127), (128, u128::MAX), (200, u128::MAX)] {
            let settings = ApiSettings {
                ipv6_prefix_len: v6_prefix,
                ..settings()
            };
            assert_eq!(settings.address_prefix(address.into()), expected);
        }
    }
}
