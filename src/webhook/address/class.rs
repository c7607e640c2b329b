//! Classes of IP addresses: the IANA special-purpose registries, and the metadata services of clouds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use AddressClass::{Forbidden, Private, Public};

/// Class of an IP address. The text of a variant completes the sentence "the address 10.0.0.1 is …", for example with
/// "private".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// Globally reachable. Webhooks are allowed.
    Public,
    /// Loopback, private or unique-local. See [`AllowedAddresses`](super::AllowedAddresses).
    Private(&'static str),
    /// Webhooks are never allowed.
    Forbidden(&'static str),
}

const METADATA: AddressClass = Forbidden("cloud metadata");
pub(super) const LOOPBACK: AddressClass = Private("loopback");
const PRIVATE: AddressClass = Private("private");
const DOCUMENTATION: AddressClass = Forbidden("reserved for documentation");
const BENCHMARKS: AddressClass = Forbidden("reserved for benchmarks");
const MULTICAST: AddressClass = Forbidden("multicast");
const LINK_LOCAL: AddressClass = Forbidden("link-local");
const UNSPECIFIED: AddressClass = Forbidden("unspecified");
const RESERVED: AddressClass = Forbidden("reserved");
/// Addresses of tunnels. The IPv4 address behind a tunnel cannot be checked.
const TUNNEL: AddressClass = Forbidden("IPv4 inside IPv6");

/// The first range that contains an address determines its class.
#[rustfmt::skip]
const RANGES: &[(IpNet, AddressClass)] = &[
    (v4([168, 63, 129, 16], 32), METADATA), // Azure
    (v4([169, 254, 169, 254], 32), METADATA),
    (v4([169, 254, 170, 0], 24), METADATA), // AWS, for containers
    (v4([100, 100, 100, 200], 32), METADATA), // Alibaba
    (v4([192, 0, 0, 192], 32), METADATA), // Oracle
    (v4([0, 0, 0, 0], 8), UNSPECIFIED),
    (v4([10, 0, 0, 0], 8), PRIVATE),
    (v4([100, 64, 0, 0], 10), Forbidden("in a carrier-grade NAT range")),
    (v4([127, 0, 0, 0], 8), LOOPBACK),
    (v4([169, 254, 0, 0], 16), LINK_LOCAL),
    (v4([172, 16, 0, 0], 12), PRIVATE),
    (v4([192, 0, 0, 0], 24), RESERVED),
    (v4([192, 0, 2, 0], 24), DOCUMENTATION),
    (v4([192, 88, 99, 0], 24), RESERVED),
    (v4([192, 168, 0, 0], 16), PRIVATE),
    (v4([198, 18, 0, 0], 15), BENCHMARKS),
    (v4([198, 51, 100, 0], 24), DOCUMENTATION),
    (v4([203, 0, 113, 0], 24), DOCUMENTATION),
    (v4([224, 0, 0, 0], 4), MULTICAST),
    (v4([255, 255, 255, 255], 32), Forbidden("broadcast")),
    (v4([240, 0, 0, 0], 4), RESERVED),
    (v4([0, 0, 0, 0], 0), Public),

    (v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0], 32), METADATA), // AWS
    (v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), METADATA), // Google
    (v6([0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), METADATA), // Oracle
    (v6([0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42], 128), METADATA), // Scaleway
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), UNSPECIFIED),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), LOOPBACK),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), TUNNEL), // IPv4-compatible
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), TUNNEL), // IPv4-translated
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), TUNNEL), // NAT64, within a network
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), Forbidden("a discard-only address")),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), TUNNEL), // Teredo
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), BENCHMARKS),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), RESERVED),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), DOCUMENTATION),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), TUNNEL), // 6to4
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), DOCUMENTATION),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Private("unique-local")),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), LINK_LOCAL),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Forbidden("site-local")),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), MULTICAST),
    (v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3), Public),
];

/// Ranges whose addresses contain an IPv4 address in their last 32 bits: IPv4-mapped, and NAT64.
const EMBEDDED_IPV4: &[IpNet] =
    &[v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96)];

/// Returns the class of `address`. IPv4-mapped and NAT64 addresses have the class of the IPv4 address. Addresses of tunnels
/// are forbidden.
pub fn classify_address(address: IpAddr) -> AddressClass {
    let address = extract_ipv4(address);
    if is_isatap(address) {
        return TUNNEL;
    }
    let range = RANGES.iter().find(|(range, _)| range.contains(&address));
    range.map_or(RESERVED, |(_, class)| *class)
}

/// Returns the IPv4 address inside of an IPv6 address; any other address unchanged.
fn extract_ipv4(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if EMBEDDED_IPV4.iter().any(|range| range.contains(&address)) => {
            let [.., a, b, c, d] = v6.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        _ => address,
    }
}

/// Returns `true` if the address is an ISATAP address of any network: `…:0:5efe:a.b.c.d`, possibly with the bits of a
/// globally unique or a group address.
const fn is_isatap(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(v6) => {
            let [_, _, _, _, flags, mark, ..] = v6.segments();
            flags & !0x0300 == 0 && mark == 0x5efe
        }
    }
}

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length))
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], length: u8) -> IpNet {
    let address = Ipv6Addr::new(a, b, c, d, e, f, g, h);
    IpNet::V6(Ipv6Net::new_assert(address, length))
}
