//! Addresses of webhooks (`docs/protocol.md`, section 13.15): the transport connects only to public addresses, and to
//! private addresses if they are allowed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use forum_api::async_trait;
use forum_api::webhook::{AddressClass, AllowedAddresses, EndpointUrl, Resolver, classify_address};

use crate::board::ready;
use crate::{split_at_mark, text};

/// Metadata services of cloud providers.
const METADATA: [&str; 3] = ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"];

pub(super) fn check_property(data: &[u8]) {
    let (url, answers) = split_at_mark(data, b'\n');
    let named = Named(answers.chunks(16).filter_map(address).collect());
    named.0.iter().for_each(|address| check_class(*address));
    let Some(url) = text(url) else {
        return;
    };
    let [strict, lenient] = [AllowedAddresses::Public, AllowedAddresses::Private]
        .map(|allowed| EndpointUrl::parse(url, allowed));
    assert!(strict.is_err() || lenient.is_ok(), "{url}");
    for (target, may_be) in [(strict, is_public as fn(_) -> _), (lenient, is_reachable)] {
        let found = target.and_then(|target| ready(target.resolve(&named)));
        for socket in found.iter().flatten() {
            assert!(may_be(socket.ip()) && socket.port() != 0, "{url} {socket}");
        }
        assert!(found.is_err() || (1..=8).contains(&found.unwrap().len()));
    }
}

/// A resolver with arbitrary results.
struct Named(Vec<IpAddr>);

#[async_trait]
impl Resolver for Named {
    async fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

/// Reads an address of four or sixteen bytes.
fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

fn check_class(address: IpAddr) {
    match classify_address(address) {
        AddressClass::Public => assert!(is_public(address), "{address}"),
        AddressClass::Private(_) => assert!(is_reachable(address), "{address}"),
        AddressClass::Forbidden(_) => {}
    }
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => embedded(v6).map_or(v6.segments()[0] >> 13 == 1, is_public_v4),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let [a, b, c, _] = v4.octets();
    let special = v4.is_private()
        || v4.is_loopback()
        || v4.is_link_local()
        || v4.is_broadcast()
        || v4.is_documentation()
        || v4.is_multicast();
    let carriers = a == 100 && b & 0xc0 == 64;
    let benchmarks = a == 198 && b & 0xfe == 18;
    let assigned = [a, b, c] == [192, 0, 0];
    !(special || carriers || benchmarks || assigned || a == 0 || a >= 240)
}

/// Returns the IPv4 address in a NAT64 address.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] = v6.octets() else {
        return None;
    };
    Some(Ipv4Addr::new(a, b, c, d))
}

/// Returns whether an address is public or private, and neither reserved nor local.
fn is_reachable(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let own = match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback(),
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unique_local()
                || embedded(v6).is_some_and(|v4| v4.is_private() || v4.is_loopback())
        }
    };
    let metadata = METADATA.iter().any(|known| known.parse() == Ok(address));
    !metadata && (own || is_public(address))
}
