//! How addresses may be written, and what is no address.

use forum_api::webhook::Refused;

/// Hosts that are one address, as browsers read them.
#[rustfmt::skip]
pub(crate) const SPELLINGS: &[(&str, &[&str])] = &[
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

/// Where browsers see 127.0.0.1 as well.
pub(crate) const ODD: &[&str] = &[
    "https:127.0.0.1",
    "https:/127.0.0.1",
    "https:\\\\127.0.0.1",
    "https://127.0.0.1\\@good/",
];

/// What is no address of a receiver at all.
#[rustfmt::skip]
pub(crate) const UNFIT: &[(Refused, &[&str])] = &[
    (Refused::Malformed, &[
        "", "hook", "//example.org/", "example.org/hook", "https://", "https:///", "https://:80/", "https://[::1%25lo]/",
        "https://[::1", "https://256.256.256.256/", "https://1.2.3.4.5/", "https://08.1/", "https://xn--a/",
        "https://a%00b/", "https://a b/", " https://example.org/", "https://exa\nmple.org/", "https://exa\tmple.org/",
        "https://example.org/\u{7f}", "https://example.org/\u{3000}", "https://example.org:65536/", "https://ex^ample/",
    ]),
    (Refused::Scheme, &[
        "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "localhost:80/",
        "ws://example.org/", "data:,x", "unix:/run/docker.sock",
    ]),
    (Refused::Credentials, &[
        "https://user@example.org/", "https://user:word@example.org/", "https://:word@example.org/",
        "https://good@127.0.0.1/", "https://1.1.1.1&@127.0.0.1/", "https://example.org%2f@127.0.0.1/",
        "https://@example.org/", "https://:@example.org/", "https:@example.org/", "https:\\\\@example.org/", "https://@@example.org/",
    ]),
    (Refused::Fragment, &["https://example.org/#", "https://good#@127.0.0.1/"]),
    (Refused::Port, &["https://example.org:0/", "http://127.0.0.1:0/"]),
];

/// What a public URL may look like.
pub(crate) const FIT: &[&str] = &[
    "https://example.org",
    "http://example.org/hook",
    "https://example.org/@?@",
    "HTTPS://EXAMPLE.ORG:8443/a/../b?c=d&e[]={f}|^`\\'\"<>",
    "https://bücher.example/ä?ö",
    "https://a_b.example./",
    "https:example.org",
    "https://localhost.example.org/",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]:444/",
];
