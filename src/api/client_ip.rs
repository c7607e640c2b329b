//! The client's IP address and its network prefix, whose guests share a budget ([protocol](crate::guide::protocol),
//! section 4).

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::request::Parts;
use ipnet::IpNet;

use super::ApiSettings;

/// Function that returns the IP address of a request's peer; `None` if it is unknown.
pub(crate) type PeerIp = dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync;

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// Returns the peer's address from the default place: an `IpAddr` or a `SocketAddr` extension of the request.
pub(crate) fn peer_ip(head: &Parts) -> Option<IpAddr> {
    let socket = || head.extensions.get::<SocketAddr>().map(SocketAddr::ip);
    head.extensions.get::<IpAddr>().copied().or_else(socket)
}

/// Returns the client's IP address.
///
/// If `peer` is not in one of the `trusted` networks, the result is `peer`. Otherwise the result is the right-most
/// address in `x-forwarded-for` that is in none of these networks. The function reads the entries from right to left,
/// and ignores empty ones. If an entry is not an address, or all entries are trusted, the result is the trusted address
/// that the function read last, or `peer` if it read no address. IPv4-mapped IPv6 addresses become IPv4 addresses.
///
/// ```
/// use forum_api::client_ip;
/// use http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forwarded-for", "203.0.113.7, 10.0.0.2".parse()?);
/// let trusted = ["10.0.0.0/8".parse()?];
/// let client = client_ip("10.0.0.1".parse()?, &headers, &trusted);
/// assert_eq!(client.to_string(), "203.0.113.7");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    if !is_trusted(&peer) {
        return peer;
    }
    let mut hop = peer;
    for line in headers.get_all(X_FORWARDED_FOR).iter().rev() {
        let entries = line.as_bytes().rsplit(|byte| *byte == b',');
        for entry in entries.filter(|entry| !entry.trim_ascii().is_empty()) {
            match str::from_utf8(entry).ok().and_then(parse_address) {
                Some(address) if is_trusted(&address) => hop = address,
                Some(address) => return address,
                None => return hop,
            }
        }
    }
    hop
}

/// Parses an address with or without brackets and a port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let bare = bracketed.unwrap_or(text).parse::<IpAddr>();
    let with_port = || text.parse::<SocketAddr>().map(|socket| socket.ip());
    bare.or_else(|_| with_port()).ok().map(|address| address.to_canonical())
}

impl ApiSettings {
    /// Returns the network prefix of `address`, whose clients share a budget.
    ///
    /// Keeps the first [`ipv4_prefix_len`](Self::ipv4_prefix_len) or [`ipv6_prefix_len`](Self::ipv6_prefix_len) bits of
    /// the address and sets the others to zero. An IPv4 prefix is IPv4-mapped IPv6.
    pub fn address_prefix(&self, address: IpAddr) -> u128 {
        let address = address.to_canonical();
        let length = match address {
            IpAddr::V4(_) => self.ipv4_prefix_len,
            IpAddr::V6(_) => self.ipv6_prefix_len,
        };
        match IpNet::new(address, length).map_or(address, |net| net.network()) {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
            IpAddr::V6(v6) => v6.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use http::HeaderValue;

    use super::*;

    fn settings() -> ApiSettings {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        ApiSettings { trusted_proxies, ..ApiSettings::default() }
    }

    /// Returns the address prefix of a client. `forwarded` contains the header lines, separated by bars.
    fn prefix(peer: &str, forwarded: &str) -> u128 {
        let mut headers = HeaderMap::new();
        for line in forwarded.split('|') {
            headers.append(X_FORWARDED_FOR, HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        let settings = settings();
        let client = client_ip(peer.parse().unwrap(), &headers, &settings.trusted_proxies);
        settings.address_prefix(client)
    }

    #[test]
    fn clients_behind_trusted_proxies_are_charged_by_their_own_prefix() {
        for (peer, forwarded, expected) in [
            ("192.0.2.17", "", "::ffff:192.0.2.0"),
            ("::ffff:192.0.2.99", "", "::ffff:192.0.2.0"),
            ("2001:db8:1:2:3::4", "", "2001:db8:1:2::"),
            ("192.0.2.1", "203.0.113.1", "::ffff:192.0.2.0"),
            ("10.0.0.1", "203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "192.0.2.9, 203.0.113.1, 10.9.9.9", "::ffff:203.0.113.0"),
            ("10.0.0.1", "192.0.2.9|203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "é, 203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "203.0.113.1, é, 10.1.1.1", "::ffff:10.1.1.0"),
            ("10.0.0.1", "203.0.113.1,", "::ffff:203.0.113.0"),
            ("10.0.0.1", ",203.0.113.1, ,\t, ", "::ffff:203.0.113.0"),
            ("10.0.0.1", "203.0.113.1|", "::ffff:203.0.113.0"),
            ("10.0.0.1", "203.0.113.1| ,|10.9.9.9,", "::ffff:203.0.113.0"),
            ("10.0.0.1", "203.0.113.1,,é,", "::ffff:10.0.0.0"),
            ("10.0.0.1", " , ", "::ffff:10.0.0.0"),
            ("10.0.0.1", "203.0.113.1:4711", "::ffff:203.0.113.0"),
            ("10.0.0.1", "[2001:db8::1]:4711", "2001:db8::"),
            ("10.0.0.1", "[2001:db8::1]", "2001:db8::"),
            ("::ffff:10.0.0.1", "203.0.113.1", "::ffff:203.0.113.0"),
            ("fd00::1", "::ffff:203.0.113.1", "::ffff:203.0.113.0"),
            ("10.0.0.1", "", "::ffff:10.0.0.0"),
            ("10.0.0.1", "garbage", "::ffff:10.0.0.0"),
            ("10.0.0.1", "203.0.113.1, garbage, 10.1.1.1", "::ffff:10.1.1.0"),
            ("10.0.0.1", "10.2.2.2, 10.1.1.1", "::ffff:10.2.2.0"),
        ] {
            let expected: Ipv6Addr = expected.parse().unwrap();
            assert_eq!(prefix(peer, forwarded), expected.into(), "{peer} {forwarded}");
        }
    }

    #[test]
    fn an_address_prefix_keeps_the_configured_number_of_bits() {
        let address = Ipv6Addr::from(u128::MAX);
        for (ipv6_prefix_len, expected) in [(0, 0), (1, 1 << 127), (128, u128::MAX)] {
            let settings = ApiSettings { ipv6_prefix_len, ..settings() };
            assert_eq!(settings.address_prefix(address.into()), expected);
        }
    }
}
