//! Checks of addresses at registration and at each attempt.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use forum_api::model::is_blank;
use forum_api::webhook::{
    AddressClass, AddressError, AllowedAddresses, EndpointUrl, HttpTransport, Resolver,
    Transport as _, TransportError, classify_address,
};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::address_table::{FORBIDDEN, INVALID, NOTATIONS, PRIVATE, PUBLIC, VALID};
use crate::wire::{
    Behavior, FakeResolver, LONG_TIMEOUT, SHORT_TIMEOUT, ScriptedReceiver, settings, test_request,
};

const OK: Behavior = Behavior::Respond(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");

/// Formats an address as the host of a URL.
fn host(address: &str) -> String {
    if address.contains(':') { format!("[{address}]") } else { address.into() }
}

fn all<'a>(kinds: &'a [(&str, &[&str])]) -> impl Iterator<Item = &'a str> {
    let addresses = kinds.iter().flat_map(|(_, addresses)| *addresses);
    addresses.copied()
}

/// Returns the message of an attempt that sent nothing for this reason.
fn not_sent(reason: &str) -> String {
    TransportError::not_sent(reason).to_string()
}

/// Registers URLs and sends to them, with or without private addresses.
struct Sender {
    allowed: AllowedAddresses,
    transport: HttpTransport,
}

impl Sender {
    fn new(allowed: AllowedAddresses) -> Self {
        let mut settings = settings(LONG_TIMEOUT);
        settings.connect_timeout = SHORT_TIMEOUT * 3;
        settings.allowed_addresses = allowed;
        let transport = HttpTransport::new(settings).unwrap();
        Self { allowed, transport }
    }

    async fn register(&self, url: &str, names: &FakeResolver) -> Result<EndpointUrl, AddressError> {
        EndpointUrl::check_registration(url, self.allowed, names).await
    }

    /// Returns the status of the response, or the error.
    async fn send(&self, url: &str, names: &Arc<FakeResolver>) -> String {
        let names = names.clone() as Arc<dyn Resolver>;
        let transport = self.transport.clone().resolver(names);
        match transport.send(test_request(url)).await {
            Ok(response) => response.status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Returns the error of a registration, which is also the error of an attempt.
    async fn rejection(&self, url: &str, names: &Arc<FakeResolver>) -> String {
        let error = self.register(url, names).await.expect_err(url).to_string();
        assert_eq!(self.send(url, names).await, not_sent(&error), "{url}");
        error
    }
}

#[tokio::test]
async fn a_forbidden_address_is_rejected_as_a_literal_and_by_name() {
    let trap = ScriptedReceiver::new(OK).await;
    let by_name = trap.url("http://receiver.test");
    for allowed in [AllowedAddresses::Public, AllowedAddresses::Private] {
        let sender = Sender::new(allowed);
        let private = all(PRIVATE).filter(|_| allowed == AllowedAddresses::Public);
        for address in all(FORBIDDEN).chain(private) {
            let literal = trap.url(&format!("http://{}", host(address)));
            let unused = FakeResolver::resolving_to(&[]);
            let error = sender.rejection(&literal, &unused).await;
            let names = FakeResolver::resolving_to(&[address]);
            assert_eq!(sender.rejection(&by_name, &names).await, error);
            assert_eq!((unused.calls(), names.calls()), (0, 2), "{address}");
        }
    }
    assert_eq!(trap.connections(), 0);
}

#[tokio::test]
async fn a_local_board_allows_loopback_only() {
    let receiver = ScriptedReceiver::new(OK).await;
    let sender = Sender::new(AllowedAddresses::for_base_url("http://[::1]:8080"));
    let names = FakeResolver::resolving_to(&["127.0.0.1"]);
    for host in ["http://receiver.test", "http://127.0.0.1", "http://localhost"] {
        let url = receiver.url(host);
        sender.register(&url, &names).await.expect(host);
        assert_eq!(sender.send(&url, &names).await, "200", "{host}");
    }
    for address in ["10.0.0.1", "fd00::1", "169.254.169.254"] {
        let url = receiver.url(&format!("http://{}", host(address)));
        sender.rejection(&url, &names).await;
        let private = FakeResolver::resolving_to(&[address]);
        let url = receiver.url("http://receiver.test");
        sender.rejection(&url, &private).await;
    }
    for (base_url, expected) in [
        ("http://localhost:8080", AllowedAddresses::Loopback),
        ("http://127.8.9.10", AllowedAddresses::Loopback),
        ("http://0.0.0.0:8080", AllowedAddresses::Public),
        ("http://10.0.0.1", AllowedAddresses::Public),
        ("https://localhost.example", AllowedAddresses::Public),
        ("", AllowedAddresses::Public),
    ] {
        let found = AllowedAddresses::for_base_url(base_url);
        assert_eq!(found, expected, "{base_url}");
    }
}

#[tokio::test]
async fn an_address_has_its_class_in_every_notation() {
    let trap = ScriptedReceiver::new(OK).await;
    let sender = Sender::new(AllowedAddresses::Public);
    let names = FakeResolver::resolving_to(&[]);
    for (kind, hosts) in NOTATIONS {
        for host in *hosts {
            let url = trap.url(&format!("http://{host}"));
            let error = sender.rejection(&url, &names).await;
            assert!(error.contains(kind), "{url}: {error}");
        }
    }
    for url in
        ["https:127.0.0.1", "https:/127.0.0.1", "https:\\\\127.0.0.1", "https://127.0.0.1\\@good/"]
    {
        let error = sender.rejection(url, &names).await;
        assert!(error.contains("127.0.0.1 is loopback"), "{url}: {error}");
    }
    assert_eq!((trap.connections(), names.calls()), (0, 0));
}

#[tokio::test]
async fn an_invalid_url_is_rejected_without_resolution() {
    let sender = Sender::new(AllowedAddresses::Private);
    let names = FakeResolver::resolving_to(&["127.0.0.1"]);
    for (reason, urls) in INVALID {
        for url in *urls {
            let error = sender.rejection(url, &names).await;
            assert_eq!(error, reason.to_string(), "{url}");
        }
    }
    // Requests use three bytes for each byte of `ä`.
    for path in ["x".repeat(2048), "ä".repeat(400)] {
        let long = format!("https://example.org/{path}");
        let error = sender.rejection(&long, &names).await;
        assert_eq!(error, AddressError::Malformed.to_string());
    }
    assert_eq!(names.calls(), 0);
}

#[tokio::test]
async fn public_addresses_and_names_are_accepted() {
    let names = FakeResolver::resolving_to(&["1.1.1.1"]);
    let strict = Sender::new(AllowedAddresses::Public);
    let lenient = Sender::new(AllowedAddresses::Private);
    let hosts = PUBLIC.iter().map(|address| host(address));
    let literals = hosts.map(|host| format!("https://{host}/hook"));
    for url in literals.chain(VALID.iter().map(|url| (*url).into())) {
        strict.register(&url, &names).await.expect(&url);
    }
    let names_of_this_host = ["localhost", "a.localhost."].map(String::from);
    for host in all(PRIVATE).map(host).chain(names_of_this_host) {
        let url = format!("http://{host}/");
        lenient.register(&url, &names).await.expect(&url);
    }
}

#[tokio::test]
async fn a_name_that_does_not_resolve_yet_is_accepted() {
    let names = FakeResolver::with_results(&[&[], &["8.8.8.8"]]);
    let sender = Sender::new(AllowedAddresses::Public);
    let url = sender.register("https://receiver.test/", &names).await;
    let addresses = url.unwrap().resolve(&*names).await.unwrap();
    assert_eq!(addresses, [SocketAddr::from(([8; 4], 443))]);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_does_not_resolve_within_5_s_is_accepted() {
    let names = FakeResolver::hanging();
    let sender = Sender::new(AllowedAddresses::Public);
    let began = Instant::now();
    sender.register("https://receiver.test/", &names).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
}

/// Registers `receiver.test` and sends to it twice, with three name resolutions.
async fn send_twice(
    sender: Sender,
    results: &[&[&str]],
    receiver: &ScriptedReceiver,
) -> [String; 2] {
    let names = FakeResolver::with_results(results);
    let url = receiver.url("http://receiver.test");
    sender.register(&url, &names).await.unwrap();
    let first = sender.send(&url, &names).await;
    let second = sender.send(&url, &names).await;
    assert_eq!(names.calls(), 3);
    [first, second]
}

#[tokio::test]
async fn a_name_is_checked_at_each_attempt() {
    let trap = ScriptedReceiver::new(OK).await;
    let loopback =
        &not_sent("the address 127.0.0.1 is loopback, and private addresses are not allowed");
    let metadata =
        &not_sent("the address 169.254.169.254 is cloud metadata, which is never allowed");

    let results: &[&[&str]] = &[&["8.8.8.8"], &["127.0.0.1"]];
    let outcomes = send_twice(Sender::new(AllowedAddresses::Public), results, &trap).await;
    assert_eq!(outcomes, [loopback; 2].map(ToOwned::to_owned));
    assert_eq!(trap.connections(), 0);

    // 2d00::/8 is not allocated.
    let results: &[&[&str]] = &[&["8.8.8.8"], &["2d00::1"], &["127.0.0.1"]];
    let [first, second] = send_twice(Sender::new(AllowedAddresses::Public), results, &trap).await;
    assert!(first.starts_with(&not_sent("cannot connect")), "{first}");
    assert_eq!((&second, trap.connections()), (loopback, 0));

    let results: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.1"], &["169.254.169.254"]];
    let outcomes = send_twice(Sender::new(AllowedAddresses::Private), results, &trap).await;
    assert_eq!(outcomes, ["200", metadata]);
    assert_eq!(trap.connections(), 1);
}

#[tokio::test]
async fn only_the_allowed_addresses_of_a_name_are_used() {
    let receiver = ScriptedReceiver::new(OK).await;
    let mixed = ["169.254.169.254", "fd00:ec2::254", "127.0.0.1", "0.0.0.0"];
    let outcomes = send_twice(Sender::new(AllowedAddresses::Private), &[&mixed], &receiver).await;
    assert_eq!(outcomes, ["200"; 2]);
    assert_eq!(receiver.connections(), 2);

    let names =
        FakeResolver::resolving_to(&["127.0.0.1", "8.8.8.8", "::1", "10.0.0.1", "::ffff:1.1.1.1"]);
    let url = EndpointUrl::parse("http://receiver.test:81", AllowedAddresses::Public).unwrap();
    let expected =
        ["8.8.8.8:81", "[::ffff:1.1.1.1]:81"].map(|address| address.parse::<SocketAddr>().unwrap());
    assert_eq!(url.resolve(&*names).await.unwrap(), expected);
}

#[tokio::test]
async fn at_most_eight_addresses_are_used_with_both_families_in_turn() {
    let six = |number| format!("2600::{number}");
    let four = |number| format!("8.8.8.{number}");
    let addresses: Vec<_> = (1..=9).map(six).chain((1..=9).map(four)).collect();
    let names =
        FakeResolver::resolving_to(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    let url = EndpointUrl::parse("http://receiver.test", AllowedAddresses::Public).unwrap();
    let sockets = url.resolve(&*names).await.unwrap();
    let resolved = sockets.iter().map(|socket| socket.ip().to_string());
    let expected = (1..=4).flat_map(|number| [six(number), four(number)]);
    assert!(resolved.eq(expected));
}

proptest! {
    #[test]
    fn any_visible_path_and_query_is_accepted(text in "[^#\\s\\p{C}]{0,100}") {
        prop_assume!(!text.chars().any(|letter| is_blank(&letter.to_string())));
        let url = format!("https://example.org/{text}");
        prop_assert!(EndpointUrl::parse(&url, AllowedAddresses::Public).is_ok());
    }

    #[test]
    fn a_numeric_notation_has_the_class_of_its_address(number: u32, allow_private_addresses: bool) {
        let allowed = if allow_private_addresses { AllowedAddresses::Private } else { AllowedAddresses::Public };
        let expected = match classify_address(Ipv4Addr::from(number).into()) {
            AddressClass::Public => true,
            AddressClass::Private(_) => allow_private_addresses,
            AddressClass::Forbidden(_) => false,
        };
        for url in [format!("http://{number}"), format!("http://{number:#x}"), format!("http://0{number:o}")] {
            prop_assert_eq!(EndpointUrl::parse(&url, allowed).is_ok(), expected, "{}", url);
        }
    }
}
