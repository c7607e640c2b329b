//! `/docs`: the interactive reference, as a browser gets it.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::client::{get, send, split};
use crate::program::Server;

const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' \
                      data:; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The addresses that a page asks for.
fn loads(page: &str) -> Vec<&str> {
    let after = page.split([' ', '\n']).filter_map(|word| {
        let (name, rest) = word.split_once("=\"")?;
        ["src", "href"]
            .contains(&name)
            .then(|| rest.split('"').next())?
    });
    after.filter(|address| *address != "data:,").collect()
}

/// The head of an answer whose body is no text.
fn head(url: &str) -> String {
    let (host, path) = split(url);
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    text.split_once("\r\n\r\n").unwrap().0.to_lowercase()
}

#[test]
fn the_page_and_all_that_it_loads_are_on_this_server() {
    let server = Server::new(&["--empty"]);
    let page = get(&server.beside("/docs"));
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-security-policy"), Some(POLICY));
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert_eq!(get(&server.beside("/docs/")).body, page.body);
    assert!(
        !page.body.contains("127.0.0.1"),
        "it works under every name"
    );
    let loads = loads(&page.body);
    assert_eq!(loads.len(), 5, "{loads:?}");
    for address in loads {
        assert!(
            address.starts_with("/docs/") || address == "/api/v1/openapi.json",
            "{address}"
        );
        let head = head(&server.beside(address));
        assert!(head.starts_with("http/1.1 200"), "{address}: {head}");
        let kept = address.starts_with("/api") || head.contains("immutable");
        assert!(kept && head.contains("etag: "), "{address}: {head}");
    }
}

#[test]
fn what_the_browser_has_is_not_sent_again() {
    let server = Server::new(&["--empty"]);
    for path in ["/docs", "/docs/reference.js"] {
        let first = get(&server.beside(path));
        assert_eq!(first.header("cache-control"), Some("no-cache"), "{path}");
        let known = [("if-none-match", first.header("etag").unwrap())];
        let second = send("GET", &server.beside(path), &known, "");
        assert_eq!((second.status, &*second.body), (304, ""), "{path}");
        let head = send("HEAD", &server.beside(path), &[], "");
        assert_eq!((head.status, &*head.body), (200, ""), "{path}");
        assert_eq!(
            head.header("content-length"),
            first.header("content-length")
        );
    }
}

#[test]
fn nothing_else_is_there() {
    let server = Server::new(&["--empty"]);
    for path in ["/docs/nothing", "/docs//", "/docs/../health", "/docsx"] {
        assert_eq!(get(&server.beside(path)).status, 404, "{path}");
    }
    let posted = send("POST", &server.beside("/docs"), &[], "");
    assert_eq!(
        (posted.status, posted.header("allow")),
        (405, Some("get, head"))
    );
}
