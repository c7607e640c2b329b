//! What each kind of IP address is, and what it is inside another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use forum_api::webhook::{Verdict, verdict};
use proptest::prelude::*;

/// Addresses to which webhooks go.
#[rustfmt::skip]
pub(crate) const PUBLIC: &[&str] = &[
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.1", "192.0.1.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.114.0", "223.255.255.255",
    "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111",
    "3ffe::1", "3fff:1000::1",
];

/// Those to which they go where a setting says so, by kind.
#[rustfmt::skip]
pub(crate) const PRIVATE: &[(&str, &[&str])] = &[
    ("loopback", &[
        "127.0.0.0", "127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
    ]),
    ("private", &[
        "10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
        "::ffff:10.0.0.1", "::ffff:c0a8:1", "64:ff9b::a00:1",
    ]),
    ("unique-local", &["fc00::1", "fd00::1", "fd00:ec1::254", "fdff:ffff::1"]),
];

/// Those to which they never go, by kind.
#[rustfmt::skip]
pub(crate) const FORBIDDEN: &[(&str, &[&str])] = &[
    ("cloud metadata", &[
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "::ffff:168.63.129.16",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
    ]),
    ("unspecified", &["0.0.0.0", "0.1.2.3", "0.255.255.255", "::", "::ffff:0.0.0.0", "64:ff9b::"]),
    ("shared by a carrier's customers", &["100.64.0.0", "100.64.0.1", "100.127.255.255", "::ffff:100.64.0.1"]),
    ("link-local", &["169.254.0.1", "169.254.255.255", "::ffff:169.254.0.1", "fe80::1", "febf::1"]),
    ("site-local", &["fec0::1", "feff::1"]),
    ("for documentation", &[
        "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff::1",
    ]),
    ("for benchmarks", &["198.18.0.1", "198.19.255.255", "2001:2::1"]),
    ("for discarding", &["100::1"]),
    ("multicast", &["224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1", "::ffff:224.0.0.1"]),
    ("broadcast", &["255.255.255.255", "::ffff:255.255.255.255"]),
    ("reserved", &[
        "192.0.0.1", "192.88.99.1", "240.0.0.1", "255.255.255.254", "2001:1::1", "2001:10::1", "2001:1ff::1",
        "5f00::1", "4000::1", "1000::1", "fe00::1", "100:0:0:1::1", "64:ff9b:0:0:1::1",
    ]),
    ("IPv4 inside IPv6", &[
        "::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:7f00:1", "::ffff:0:808:808", "64:ff9b:1::1",
        "64:ff9b:1::7f00:1", "2001::1", "2001:0:808:808::1", "2002:7f00:1::", "2002:c0a8:1::", "2002:808:808::1",
        "::5efe:7f00:1", "::200:5efe:7f00:1", "fe80::5efe:7f00:1", "fd00::5efe:a9fe:a9fe",
        "2001:4860:4860::5efe:7f00:1", "2001:4860:4860::200:5efe:808:808",
    ]),
];

fn of(address: &str) -> Verdict {
    verdict(address.parse().unwrap())
}

#[test]
fn an_address_is_of_the_kind_of_its_range() {
    for address in PUBLIC {
        assert_eq!(of(address), Verdict::Public, "{address}");
    }
    for (kind, addresses) in PRIVATE {
        for address in *addresses {
            assert_eq!(of(address), Verdict::Private(kind), "{address}");
        }
    }
    for (kind, addresses) in FORBIDDEN {
        for address in *addresses {
            assert_eq!(of(address), Verdict::Forbidden(kind), "{address}");
        }
    }
}

/// An address near the edge of a range, or anywhere.
fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let first = prop_oneof![
        any::<u8>(),
        Just(10),
        Just(127),
        Just(169),
        Just(172),
        Just(192)
    ];
    let second = prop_oneof![
        any::<u8>(),
        Just(0),
        Just(16),
        Just(31),
        Just(168),
        Just(254)
    ];
    (first, second, any::<[u8; 2]>()).prop_map(|(a, b, [c, d])| Ipv4Addr::new(a, b, c, d))
}

fn ending_in(prefix: [u16; 6], v4: Ipv4Addr) -> IpAddr {
    let [a, b, c, d] = v4.octets();
    let [p, q, r, s, t, u] = prefix;
    let (v, w) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Ipv6Addr::new(p, q, r, s, t, u, v, w).into()
}

proptest! {
    #[test]
    fn what_the_standard_library_knows_is_not_public(v4 in v4()) {
        let special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast()
            || v4.is_broadcast() || v4.is_documentation() || v4.is_unspecified();
        prop_assert!(!special || verdict(v4.into()) != Verdict::Public);
    }

    #[test]
    fn an_address_is_itself_inside_what_leads_to_it(v4 in v4()) {
        prop_assert_eq!(verdict(v4.to_ipv6_mapped().into()), verdict(v4.into()));
        prop_assert_eq!(verdict(ending_in([0x64, 0xff9b, 0, 0, 0, 0], v4)), verdict(v4.into()));
    }

    #[test]
    fn no_address_gets_through_a_tunnel(v4 in v4(), network: [u16; 4]) {
        let [a, b, c, d] = v4.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let [p, q, r, s] = network;
        for address in [
            ending_in([0; 6], v4),
            ending_in([0, 0, 0, 0, 0xffff, 0], v4),
            ending_in([p, q, r, s, 0, 0x5efe], v4),
            ending_in([p, q, r, s, 0x200, 0x5efe], v4),
            ending_in([0x2001, 0, p, q, r, s], v4),
            Ipv6Addr::new(0x2002, high, low, p, q, r, s, 0).into(),
        ] {
            prop_assert!(matches!(verdict(address), Verdict::Forbidden(_) | Verdict::Private("loopback")), "{}", address);
        }
    }
}
