//! Forwarded addresses: only entries of trusted proxies count; entries before them change nothing.

use std::net::IpAddr;
use std::sync::LazyLock;

use forum_api::{IpNet, client_ip};
use http::{HeaderMap, HeaderValue};

use crate::choice;

const HEADER: &str = "x-forwarded-for";
const PEERS: &[&str] = &["10.0.0.1", "fd00::1", "::ffff:10.0.0.2", "192.0.2.1", "::1"];

static TRUSTED: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    ["10.0.0.0/8", "fd00::/8"]
        .map(|net| net.parse().unwrap())
        .into()
});

pub(super) fn check_property(data: &[u8]) {
    let Some((peer, lines)) = choice(data, PEERS) else {
        return;
    };
    let peer: IpAddr = peer.parse().unwrap();
    let lines = lines
        .split(|byte| *byte == b'\n')
        .map(HeaderValue::from_bytes);
    let lines: Vec<_> = lines.filter_map(Result::ok).collect();
    let client = client(peer, &lines);
    assert_eq!(client, client.to_canonical());
    if !is_trusted(peer.to_canonical()) {
        assert_eq!(client, peer.to_canonical());
        return;
    }
    if !is_trusted(client) {
        assert!(lines.iter().any(|line| contains_address(line, client)));
        assert_eq!(client, self::client(peer, &with_spoofed_entry(&lines)));
        let proxies = HeaderValue::from_static("10.1.1.1, [fd00::2]:80");
        assert_eq!(client, self::client(peer, &[lines, vec![proxies]].concat()));
    }
}

/// Prepends another address and invalid text.
fn with_spoofed_entry(lines: &[HeaderValue]) -> Vec<HeaderValue> {
    let mut spoofed = lines.to_vec();
    for first in spoofed.iter_mut().take(1) {
        let line = [b"203.0.113.5, %, ", first.as_bytes()].concat();
        *first = HeaderValue::from_bytes(&line).unwrap();
    }
    spoofed
}

fn client(peer: IpAddr, lines: &[HeaderValue]) -> IpAddr {
    let headers = lines
        .iter()
        .map(|line| (HEADER.parse().unwrap(), line.clone()));
    client_ip(peer, &headers.collect::<HeaderMap>(), &TRUSTED)
}

fn is_trusted(address: IpAddr) -> bool {
    TRUSTED.iter().any(|net| net.contains(&address))
}

/// Returns whether an entry is the address, with or without a port.
fn contains_address(line: &HeaderValue, address: IpAddr) -> bool {
    let mut entries = line.to_str().unwrap_or_default().split(',').map(str::trim);
    entries.any(|entry| {
        let bare = entry
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>();
        let with_port = || entry.parse::<std::net::SocketAddr>().map(|it| it.ip());
        bare.or_else(|_| with_port())
            .is_ok_and(|it| it.to_canonical() == address)
    })
}
