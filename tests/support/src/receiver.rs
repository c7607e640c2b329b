//! A receiver of webhooks: a thread that keeps what it got, and answers what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver as Inbox, Sender};
use std::thread;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::webhook::{WebhookSecret, verify};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Longer than anything that is awaited takes, a worker's lease included.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: String,
    /// When it came.
    pub received_at: Timestamp,
    /// What it was answered; `None` when it never is.
    pub status: Option<u16>,
}

impl Received {
    /// A header's text.
    pub fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// The delivery's id.
    pub fn delivery(&self) -> String {
        self.header("x-forum-delivery").into()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Whether it was signed with this secret, just before it came.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let secret = WebhookSecret::parse(secret).unwrap();
        verify(&[secret], &self.headers, self.body.as_bytes(), self.received_at).is_ok()
    }
}

/// Listens on loopback until the test ends.
#[derive(Debug)]
pub struct Receiver {
    /// Its address.
    pub url: String,
    inbox: Inbox<Received>,
}

impl Receiver {
    /// One that answers each request with the status that `answer` gives, or never.
    pub fn with_statuses(answer: impl Fn(&Received) -> Option<u16> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, inbox) = mpsc::channel();
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, sender) = (answer.clone(), sender.clone());
                thread::spawn(move || handle_connection(stream, &*answer, &sender));
            }
        });
        Self { url, inbox }
    }

    /// One that is content with everything.
    pub fn new() -> Self {
        Self::with_statuses(|_| Some(204))
    }

    /// The next request.
    pub fn next(&self) -> Received {
        let next = self.inbox.recv_timeout(TIMEOUT);
        next.expect("a delivery")
    }

    /// The next request, if it is there already.
    pub fn try_next(&self) -> Option<Received> {
        self.inbox.try_recv().ok()
    }
}

/// Takes one request of a connection; what was cut off is none.
fn handle_connection(
    stream: TcpStream,
    answer: &dyn Fn(&Received) -> Option<u16>,
    sender: &Sender<Received>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut received = read(&mut reader)?;
    received.status = answer(&received);
    let answered = received.status;
    drop(sender.send(received));
    let mut stream = stream;
    match answered {
        Some(status) => {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).ok()
        }
        None => reader.read(&mut [0]).ok().map(drop),
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let mut headers = HeaderMap::new();
    for line in reader.by_ref().lines().map_while(Result::ok).skip(1) {
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        headers.append(name, HeaderValue::from_str(value).ok()?);
    }
    let length = headers.get("content-length")?.to_str().ok()?.parse();
    let mut body = vec![0; length.ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Received {
        headers,
        body,
        received_at: SystemClock.now(),
        status: None,
    })
}
