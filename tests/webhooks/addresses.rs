//! Where webhooks may go: the same at registration and at each attempt, however an address is written.

use std::net::SocketAddr;
use std::sync::Arc;

use forum_api::webhook::{HttpTransport, Refused, Resolver, Target, Transport as _, Unsent};

use crate::ranges::{FORBIDDEN, PRIVATE, PUBLIC};
use crate::wire::{Act, Names, Receiver, SHORT, outgoing, settings};

const OK: Act = Act::Say(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");

/// Hosts that are one address, as browsers read them.
#[rustfmt::skip]
const SPELLINGS: &[(&str, &[&str])] = &[
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
const ODD: &[&str] = &[
    "https:127.0.0.1",
    "https:/127.0.0.1",
    "https:\\\\127.0.0.1",
    "https://127.0.0.1\\@good/",
];

/// What is no address of a receiver at all.
#[rustfmt::skip]
const UNFIT: &[(Refused, &[&str])] = &[
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
    ]),
    (Refused::Fragment, &["https://example.org/#", "https://good#@127.0.0.1/"]),
    (Refused::Port, &["https://example.org:0/", "http://127.0.0.1:0/"]),
];

/// What a public URL may look like.
const FIT: &[&str] = &[
    "https://example.org",
    "http://example.org/hook",
    "HTTPS://EXAMPLE.ORG:8443/a/../b?c=d&e[]={f}|^`\\'\"<>",
    "https://bücher.example/ä?ö",
    "https://a_b.example./",
    "https:example.org",
    "https://@example.org/",
    "https://localhost.example.org/",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]:444/",
];

/// A host as it stands in a URL.
fn host(address: &str) -> String {
    match address.contains(':') {
        true => format!("[{address}]"),
        false => address.into(),
    }
}

fn all<'a>(kinds: &'a [(&str, &[&str])]) -> impl Iterator<Item = &'a str> {
    kinds.iter().flat_map(|(_, them)| them.iter().copied())
}

/// Registers URLs and sends to them, by one setting.
struct Sender {
    allow_private: bool,
    transport: HttpTransport,
}

impl Sender {
    fn new(allow_private: bool) -> Self {
        let mut settings = settings(SHORT);
        settings.allow_private = allow_private;
        let transport = HttpTransport::new(settings).unwrap();
        Self {
            allow_private,
            transport,
        }
    }

    async fn register(&self, url: &str, names: &Arc<Names>) -> Result<Target, Refused> {
        Target::register(url, self.allow_private, &**names).await
    }

    /// The status of the answer, or why there is none.
    async fn send(&self, url: &str, names: &Arc<Names>) -> String {
        let names = names.clone() as Arc<dyn Resolver>;
        let transport = self.transport.clone().resolver(names);
        match transport.post(outgoing(url)).await {
            Ok(answer) => answer.status.to_string(),
            Err(Unsent(why)) => why,
        }
    }

    /// Why a URL is not registered, which is also why nothing is sent there.
    async fn refuses(&self, url: &str, names: &Arc<Names>) -> String {
        let refused = self.register(url, names).await.expect_err(url);
        let why = refused.to_string();
        assert_eq!(self.send(url, names).await, why, "{url}");
        why
    }
}

#[tokio::test]
async fn no_forbidden_address_is_taken_or_sent_to_by_itself_or_by_name() {
    let trap = Receiver::new(OK).await;
    let by_name = trap.url("http://receiver.test");
    for allow_private in [false, true] {
        let sender = Sender::new(allow_private);
        let private = all(PRIVATE).filter(|_| !allow_private);
        for address in all(FORBIDDEN).chain(private) {
            let by_itself = trap.url(&format!("http://{}", host(address)));
            let unasked = Names::leading_to(&[]);
            let why = sender.refuses(&by_itself, &unasked).await;
            let names = Names::leading_to(&[address]);
            assert_eq!(sender.refuses(&by_name, &names).await, why);
            assert_eq!((unasked.asked(), names.asked()), (0, 2), "{address}");
        }
    }
    assert_eq!(trap.connections(), 0);
}

#[tokio::test]
async fn an_address_is_what_it_is_however_it_is_written() {
    let trap = Receiver::new(OK).await;
    let (sender, names) = (Sender::new(false), Names::leading_to(&[]));
    for (kind, hosts) in SPELLINGS {
        for host in *hosts {
            let url = trap.url(&format!("http://{host}"));
            let why = sender.refuses(&url, &names).await;
            assert!(why.contains(kind), "{url}: {why}");
        }
    }
    for url in ODD {
        let why = sender.refuses(url, &names).await;
        assert!(why.contains("127.0.0.1 is loopback"), "{url}: {why}");
    }
    assert_eq!((trap.connections(), names.asked()), (0, 0));
}

#[tokio::test]
async fn what_is_no_address_is_refused_unasked() {
    let (sender, names) = (Sender::new(true), Names::leading_to(&["127.0.0.1"]));
    for (reason, urls) in UNFIT {
        for url in *urls {
            assert_eq!(
                sender.refuses(url, &names).await,
                reason.to_string(),
                "{url}"
            );
        }
    }
    let long = format!("https://example.org/{}", "x".repeat(2048));
    assert_eq!(
        sender.refuses(&long, &names).await,
        Refused::Malformed.to_string()
    );
    assert_eq!(names.asked(), 0);
}

#[tokio::test]
async fn public_addresses_and_names_are_taken() {
    let names = Names::leading_to(&["1.1.1.1"]);
    let (strict, lenient) = (Sender::new(false), Sender::new(true));
    let literal = PUBLIC
        .iter()
        .map(|address| format!("https://{}/hook", host(address)));
    for url in literal.chain(FIT.iter().map(|url| (*url).into())) {
        strict.register(&url, &names).await.expect(&url);
    }
    for host in all(PRIVATE)
        .map(host)
        .chain(["localhost".into(), "a.localhost.".into()])
    {
        let url = format!("http://{host}/");
        lenient.register(&url, &names).await.expect(&url);
    }
}

#[tokio::test]
async fn a_name_that_leads_nowhere_yet_is_taken() {
    let names = Names::turning(&[&[], &["8.8.8.8"]]);
    let target = Sender::new(false)
        .register("https://receiver.test/", &names)
        .await;
    let addresses = target.unwrap().resolve(&*names).await;
    assert_eq!(
        addresses.unwrap(),
        ["8.8.8.8:443".parse::<SocketAddr>().unwrap()]
    );
}

/// Registers `receiver.test`, and sends to it twice: the name is asked for three times.
async fn turn(sender: Sender, answers: &[&[&str]], receiver: &Receiver) -> [String; 2] {
    let names = Names::turning(answers);
    let url = receiver.url("http://receiver.test");
    sender.register(&url, &names).await.unwrap();
    let outcomes = [
        sender.send(&url, &names).await,
        sender.send(&url, &names).await,
    ];
    assert_eq!(names.asked(), 3);
    outcomes
}

#[tokio::test]
async fn a_name_that_turns_is_judged_anew_each_time() {
    let trap = Receiver::new(OK).await;
    let loopback = "the address 127.0.0.1 is loopback, and allow_private is off";
    let metadata = "the address 169.254.169.254 is cloud metadata";

    let turned = turn(Sender::new(false), &[&["8.8.8.8"], &["127.0.0.1"]], &trap).await;
    assert_eq!(
        (turned, trap.connections()),
        ([loopback, loopback].map(str::to_owned), 0)
    );

    // In between an address that nobody has: 2d00::/8 has not been given to anybody.
    let answers: &[&[&str]] = &[&["8.8.8.8"], &["2d00::1"], &["127.0.0.1"]];
    let [first, second] = turn(Sender::new(false), answers, &trap).await;
    assert!(first.starts_with("no connection"), "{first}");
    assert_eq!((second.as_str(), trap.connections()), (loopback, 0));

    let answers: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.1"], &["169.254.169.254"]];
    let turned = turn(Sender::new(true), answers, &trap).await;
    assert_eq!(
        (turned, trap.connections()),
        (["200", metadata].map(str::to_owned), 1)
    );
}

#[tokio::test]
async fn of_mixed_addresses_the_allowed_ones_are_connected_to() {
    let receiver = Receiver::new(OK).await;
    let mixed = ["169.254.169.254", "fd00:ec2::254", "127.0.0.1", "0.0.0.0"];
    let outcomes = turn(Sender::new(true), &[&mixed], &receiver).await;
    assert_eq!(
        (outcomes, receiver.connections()),
        (["200", "200"].map(str::to_owned), 2)
    );

    let names = Names::leading_to(&["127.0.0.1", "8.8.8.8", "::1", "10.0.0.1", "::ffff:1.1.1.1"]);
    let target = Target::parse("http://receiver.test:81", false).unwrap();
    let expected = ["8.8.8.8:81", "[::ffff:1.1.1.1]:81"];
    let expected = expected.map(|address| address.parse::<SocketAddr>().unwrap());
    assert_eq!(target.resolve(&*names).await.unwrap(), expected);
}

#[tokio::test]
async fn of_many_addresses_eight_are_enough() {
    let names = Names::leading_to(&["8.8.8.8"; 100]);
    let target = Target::parse("http://receiver.test", false).unwrap();
    assert_eq!(target.resolve(&*names).await.unwrap().len(), 8);
}
