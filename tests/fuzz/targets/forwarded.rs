//! Forwarded addresses: only what trusted proxies wrote counts, and what a stranger wrote before them changes nothing
//! (contract, section 3).

use std::net::IpAddr;
use std::sync::LazyLock;

use forum_api::{IpNet, client_address};
use http::{HeaderMap, HeaderValue};

use super::choice;

const HEADER: &str = "x-forwarded-for";
const PEERS: &[&str] = &["10.0.0.1", "fd00::1", "::ffff:10.0.0.2", "192.0.2.1", "::1"];

static TRUSTED: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    ["10.0.0.0/8", "fd00::/8"]
        .map(|net| net.parse().unwrap())
        .into()
});

pub(super) fn holds(data: &[u8]) {
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
        assert!(lines.iter().any(|line| mentions(line, client)));
        assert_eq!(
            client,
            client_behind(peer, "198.51.100.7, %, 10.1.1.1", &lines, "")
        );
        assert_eq!(
            client,
            client_behind(peer, "", &lines, "10.1.1.1, [fd00::2]:80")
        );
    }
}

fn client(peer: IpAddr, lines: &[HeaderValue]) -> IpAddr {
    let headers = lines
        .iter()
        .map(|line| (HEADER.parse().unwrap(), line.clone()));
    client_address(peer, &headers.collect::<HeaderMap>(), &TRUSTED)
}

/// With a line before the others, or one after them.
fn client_behind(peer: IpAddr, first: &str, lines: &[HeaderValue], last: &str) -> IpAddr {
    let line = |text: &str| (!text.is_empty()).then(|| HeaderValue::from_str(text).unwrap());
    let all: Vec<_> = line(first)
        .into_iter()
        .chain(lines.iter().cloned())
        .chain(line(last))
        .collect();
    client(peer, &all)
}

fn is_trusted(address: IpAddr) -> bool {
    TRUSTED.iter().any(|net| net.contains(&address))
}

/// Whether an entry is the address, with or without a port.
fn mentions(line: &HeaderValue, address: IpAddr) -> bool {
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
