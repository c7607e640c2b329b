//! A proxy of the environment is for others: what it forwards could go where nothing may be sent.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::Server;
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
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let proxy = format!("http://{}", trap.local_addr().unwrap());
    let mut environment = VARIABLES.map(|name| (name, proxy.as_str())).to_vec();
    environment.extend([("no_proxy", ""), ("NO_PROXY", "")]);
    let arguments = [
        "--allow-private-webhooks",
        "--webhook-initial-backoff",
        "0.01",
    ];
    let directory = TempDir::new().unwrap();
    let server = Server::with_environment(directory, &environment, &arguments, "");
    let receiver = Receiver::new();
    add(&server, &receiver, &[]);
    let secure = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", secure.local_addr().unwrap());
    let add = ["webhook", "add", "--allow-private-webhooks", "--url", &url];
    assert_eq!(server.command(&add).status, 0);
    reply(&server, &server.token("alice"), "By no detour.");
    assert_eq!(receiver.next().json()["topic"], Value::from("post.created"));
    secure.accept().expect("an attempt over TLS");
    let caught = trap.accept().map(|(_, from)| from);
    assert_eq!(caught.unwrap_err().kind(), ErrorKind::WouldBlock);
}
