//! A webhook receiver on a thread.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver as Inbox, Sender};
use std::thread;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{WebhookSecret, verify};
use http::HeaderMap;
use serde_json::Value;

use crate::wire::parse_headers;

/// Longer than the lease of a worker.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: HeaderMap,
    pub body: String,
    pub received_at: Timestamp,
    /// Status of the response; `None` if the receiver does not respond.
    pub status: Option<u16>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// Returns the id of the delivery.
    pub fn delivery(&self) -> String {
        self.header("x-forum-delivery").into()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns whether the request is signed with this secret and has a current timestamp.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let secret = WebhookSecret::parse(secret).unwrap();
        let body = self.body.as_bytes();
        verify(&[secret], &self.headers, body, self.received_at).is_ok()
    }
}

/// Listens on loopback until the test ends.
#[derive(Debug)]
pub struct Receiver {
    pub url: String,
    inbox: Inbox<Received>,
}

impl Receiver {
    /// Starts a receiver that responds to each request with the status that `status` returns. It does not respond if
    /// `status` returns `None`.
    pub fn with_statuses(
        status: impl Fn(&Received) -> Option<u16> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, inbox) = mpsc::channel();
        let status = Arc::new(status);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let status = status.clone();
                let sender = sender.clone();
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while handle_request(&mut reader, &*status, &sender).is_some() {}
                });
            }
        });
        Self { url, inbox }
    }

    /// Starts a receiver that responds to each request with 204.
    pub fn new() -> Self {
        Self::with_statuses(|_| Some(204))
    }

    /// Waits for the next request.
    pub fn next(&self) -> Received {
        self.inbox.recv_timeout(TIMEOUT).expect("a delivery")
    }

    /// Returns the next request if it has been received.
    pub fn try_next(&self) -> Option<Received> {
        self.inbox.try_recv().ok()
    }
}

/// Handles a request. Returns `None` at the end of the connection.
fn handle_request(
    reader: &mut BufReader<TcpStream>,
    status: &dyn Fn(&Received) -> Option<u16>,
    sender: &Sender<Received>,
) -> Option<()> {
    let mut received = read(reader)?;
    received.status = status(&received);
    let status = received.status;
    drop(sender.send(received));
    match status {
        Some(status) => {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
            reader.get_mut().write_all(head.as_bytes()).ok()
        }
        None => {
            drop(reader.read(&mut [0]));
            None
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let headers = parse_headers(&head);
    let length = headers.get("content-length")?.to_str().ok()?.parse();
    let mut body = vec![0; length.ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        headers,
        body: String::from_utf8(body).ok()?,
        received_at: SystemClock.now(),
        status: None,
    })
}
