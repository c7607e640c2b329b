//! A proxy of the environment is for others: what it forwards could go where nothing may be sent.

use std::net::TcpListener;
use std::thread;

use crate::program::{Home, Server};
use crate::receiver::Receiver;
use crate::webhooks::{add, reply};

/// The variables by which clients find their proxy.
const VARIABLES: [&str; 6] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
];

#[test]
fn no_proxy_of_the_environment_is_used() {
    let (trap, secure) = (Door::open(), Door::open());
    let proxy = trap.url("http");
    let mut environment = VARIABLES.map(|name| (name, proxy.as_str())).to_vec();
    environment.extend([("no_proxy", ""), ("NO_PROXY", "")]);
    let arguments = ["--allow-private-webhooks"];
    let server = Server::with_environment(Home::new(), &environment, &arguments, "");
    let receiver = Receiver::new();
    add(&server, &receiver, &[]);
    let url = secure.url("https");
    let add = ["webhook", "add", arguments[0], "--url", &url];
    assert_eq!(server.command(&add).status, 0);
    reply(&server, &server.token("alice"), "By no detour.");
    receiver.next();
    while !secure.was_tried() {
        assert!(!trap.was_tried(), "the proxy is used");
        thread::yield_now();
    }
    assert!(!trap.was_tried(), "the proxy is used");
}

/// A port at which somebody listens who never says anything.
struct Door(TcpListener);

impl Door {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.0.local_addr().unwrap())
    }

    /// Whether there was a connection since this was last asked.
    fn was_tried(&self) -> bool {
        self.0.accept().is_ok()
    }
}
