//! What may be sent to an IP address: the IANA's special-purpose registries, and where clouds keep their metadata.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::AddressError;
use AddressClass::{Forbidden, Private, Public};

/// What may be sent to an address. The text says what kind of address it is, as in "the address 10.0.0.1 is private".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// Anybody on the internet has it: webhooks go there.
    Public,
    /// A loopback, private or unique-local one: webhooks go there where the setting `allow_private` says so.
    Private(&'static str),
    /// No webhook goes there, whatever is set.
    Forbidden(&'static str),
}

impl AddressClass {
    /// Whether webhooks go to `host`, of which this was said.
    pub(super) fn check(
        self,
        host: impl ToString,
        allow_private: bool,
    ) -> Result<(), AddressError> {
        match self {
            Private(kind) if !allow_private => Err(AddressError::Private(host.to_string(), kind)),
            Forbidden(kind) => Err(AddressError::Forbidden(host.to_string(), kind)),
            Public | Private(_) => Ok(()),
        }
    }
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
/// A tunnel's end: which IPv4 address it leads to is not for us to say.
const TUNNEL: AddressClass = Forbidden("IPv4 inside IPv6");

/// The first range that holds an address says what it is.
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

/// Whose addresses are IPv4 ones, in their last 32 bits: IPv4-mapped, and NAT64.
const CARRIERS: &[IpNet] = &[
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96),
];

/// What may be sent to `address`. An IPv4 address inside an IPv6 one counts as itself where it is reached through
/// it, and where only a tunnel's end would know, the whole is forbidden.
pub fn classify_address(address: IpAddr) -> AddressClass {
    let address = carried(address);
    if is_isatap(address) {
        return TUNNEL;
    }
    let range = RANGES.iter().find(|(range, _)| range.contains(&address));
    range.map_or(RESERVED, |(_, class)| *class)
}

/// The IPv4 address that an IPv6 one carries; any other as it is.
fn carried(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if CARRIERS.iter().any(|carrier| carrier.contains(&address)) => {
            let [.., a, b, c, d] = v6.octets();
            Ipv4Addr::new(a, b, c, d).into()
        }
        _ => address,
    }
}

/// Whether it is one of ISATAP, whatever network it is in: `…:0:5efe:a.b.c.d`, or with the bits set that say that
/// the IPv4 address is unique, or a group's.
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
