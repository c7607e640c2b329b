//! Classes and notations of addresses, and valid and invalid URLs of endpoints.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use forum_api::webhook::{AddressClass, AddressError, classify_address};
use proptest::prelude::*;

/// Public addresses.
#[rustfmt::skip]
pub(crate) const PUBLIC: &[&str] = &[
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.0", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.1", "192.0.1.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.114.0", "223.255.255.255",
    "::ffff:8.8.8.8", "64:ff9b::808:808", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111",
    "3ffe::1", "3fff:1000::1",
];

/// Private addresses, by kind.
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

/// Forbidden addresses, by kind.
#[rustfmt::skip]
pub(crate) const FORBIDDEN: &[(&str, &[&str])] = &[
    ("cloud metadata", &[
        "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16",
        "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "::ffff:168.63.129.16",
        "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42",
    ]),
    ("unspecified", &["0.0.0.0", "0.1.2.3", "0.255.255.255", "::", "::ffff:0.0.0.0", "64:ff9b::"]),
    ("in a carrier-grade NAT range", &["100.64.0.0", "100.64.0.1", "100.127.255.255", "::ffff:100.64.0.1"]),
    ("link-local", &["169.254.0.1", "169.254.255.255", "::ffff:169.254.0.1", "fe80::1", "febf::1"]),
    ("site-local", &["fec0::1", "feff::1"]),
    ("reserved for documentation", &[
        "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1", "3fff:fff::1",
    ]),
    ("reserved for benchmarks", &["198.18.0.1", "198.19.255.255", "2001:2::1"]),
    ("a discard-only address", &["100::1"]),
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

/// Notations of addresses that URL parsers normalise.
#[rustfmt::skip]
pub(crate) const NOTATIONS: &[(&str, &[&str])] = &[
    ("127.0.0.1 is loopback", &[
        "127.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "2130706433", "0x7f000001", "0X7F.1", "0x7f.0.0.0x1",
        "017700000001", "0177.0.0.1", "0177.0.0.01", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "１２７.０.０.１",
        "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①",
    ]),
    ("0.0.0.0 is unspecified", &["0", "0x0", "0.0", "00.0.0.0"]),
    ("10.0.0.1 is private", &["10.1", "167772161", "0xa000001", "012.1"]),
    ("192.168.0.1 is private", &["192.168.1", "0xc0a80001", "3232235521", "0300.0250.0.1"]),
    ("169.254.169.254 is cloud metadata", &["2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"]),
    ("::1 is loopback", &["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0.0.0.1]"]),
    ("::7f00:1 is IPv4 inside IPv6", &["[::127.0.0.1]", "[::7f00:1]"]),
    ("::ffff:127.0.0.1 is loopback", &["[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[0:0:0:0:0:ffff:7f00:0001]"]),
    ("localhost is loopback", &["localhost", "LOCALHOST", "ⓛocalhost", "local%68ost"]),
    ("localhost. is loopback", &["localhost."]),
    ("a.localhost is loopback", &["a.localhost", "A.LocalHost"]),
];

/// Invalid URLs of endpoints.
#[rustfmt::skip]
pub(crate) const INVALID: &[(AddressError, &[&str])] = &[
    (AddressError::Malformed, &[
        "", "hook", "//example.org/", "example.org/hook", "https://", "https:///", "https://:80/", "https://[::1%25lo]/",
        "https://[::1", "https://256.256.256.256/", "https://1.2.3.4.5/", "https://08.1/", "https://xn--a/",
        "https://a%00b/", "https://a b/", " https://example.org/", "https://exa\nmple.org/", "https://exa\tmple.org/",
        "https://example.org/\u{7f}", "https://example.org/\u{3000}", "https://example.org/\u{202e}gpj.exe", "https://exa\u{200b}mple.org/",
        "https://example.org/?\u{feff}", "https://example.org/\u{e0041}", "https://example.org:65536/", "https://ex^ample/",
    ]),
    (AddressError::Scheme, &[
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "localhost:80/",
        "ws://example.org/", "data:,x", "unix:/run/docker.sock",
    ]),
    (AddressError::Credentials, &[
        "https://user@example.org/", "https://user:word@example.org/", "https://:word@example.org/",
        "https://good@127.0.0.1/", "https://1.1.1.1&@127.0.0.1/", "https://example.org%2f@127.0.0.1/",
        "https://@example.org/", "https://:@example.org/", "https:@example.org/", "https:\\\\@example.org/", "https://@@example.org/",
    ]),
    (AddressError::Fragment, &["https://example.org/#", "https://good#@127.0.0.1/"]),
    (AddressError::Port, &["https://example.org:0/", "http://127.0.0.1:0/"]),
];

/// Valid URLs of endpoints.
#[rustfmt::skip]
pub(crate) const VALID: &[&str] = &[
    "https://example.org", "http://example.org/hook", "https://example.org/@?@",
    "HTTPS://EXAMPLE.ORG:8443/a/../b?c=d&e[]={f}|^`\\'\"<>", "https://bücher.example/ä?ö", "https://a_b.example./",
    "https:example.org", "https://localhost.example.org/", "https://1.1.1.1/", "https://[2606:4700::1111]:444/",
];

#[test]
fn an_address_has_the_class_of_its_range() {
    let check = |addresses: &[&str], expected| {
        for address in addresses {
            let class = classify_address(address.parse().unwrap());
            assert_eq!(class, expected, "{address}");
        }
    };
    check(PUBLIC, AddressClass::Public);
    for (kind, addresses) in PRIVATE {
        check(addresses, AddressClass::Private(kind));
    }
    for (kind, addresses) in FORBIDDEN {
        check(addresses, AddressClass::Forbidden(kind));
    }
}

/// Generates addresses, often near the edges of ranges.
fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let first = prop_oneof![any::<u8>(), prop::sample::select(vec![10, 127, 169, 172, 192])];
    let second = prop_oneof![any::<u8>(), prop::sample::select(vec![0, 16, 31, 168, 254])];
    (first, second, any::<[u8; 2]>()).prop_map(|(a, b, [c, d])| Ipv4Addr::new(a, b, c, d))
}

fn ending_in(prefix: [u16; 6], v4: Ipv4Addr) -> IpAddr {
    let [a, b, c, d] = v4.octets();
    let [p, q, r, s, t, u] = prefix;
    let v = u16::from_be_bytes([a, b]);
    let w = u16::from_be_bytes([c, d]);
    Ipv6Addr::new(p, q, r, s, t, u, v, w).into()
}

proptest! {
    #[test]
    fn a_mapped_address_has_the_class_of_its_ipv4_address(v4 in v4()) {
        prop_assert_eq!(classify_address(v4.to_ipv6_mapped().into()), classify_address(v4.into()));
        prop_assert_eq!(classify_address(ending_in([0x64, 0xff9b, 0, 0, 0, 0], v4)), classify_address(v4.into()));
    }

    #[test]
    fn no_address_is_public_through_a_tunnel(v4 in v4(), network: [u16; 4]) {
        let [a, b, c, d] = v4.octets();
        let high = u16::from_be_bytes([a, b]);
        let low = u16::from_be_bytes([c, d]);
        let [p, q, r, s] = network;
        for address in [
            ending_in([0; 6], v4),
            ending_in([0, 0, 0, 0, 0xffff, 0], v4),
            ending_in([p, q, r, s, 0, 0x5efe], v4),
            ending_in([p, q, r, s, 0x200, 0x5efe], v4),
            ending_in([0x2001, 0, p, q, r, s], v4),
            Ipv6Addr::new(0x2002, high, low, p, q, r, s, 0).into(),
        ] {
            prop_assert!(matches!(classify_address(address), AddressClass::Forbidden(_) | AddressClass::Private("loopback")), "{}", address);
        }
    }
}
