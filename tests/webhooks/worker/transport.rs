//! A fake transport.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, Runtime};
use forum_api::webhook::{
    ReceiverResponse, SignedRequest, Transport, TransportError, WebhookSecret, verify,
};
use tokio::task::yield_now;

use super::fixture::url;

/// Result of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Status(u16),
    Delayed(Duration, u16),
    /// Responds with this status after the task has yielded this number of times.
    AfterYields(u8, u16),
    ConnectError,
    NotSent,
    Panics,
    Hangs,
}

/// A request with its time.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) request: SignedRequest,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.request.headers[name].to_str().unwrap()
    }

    /// Returns whether the request is signed with this secret at its time.
    pub(crate) fn is_signed(&self, secret: &str) -> bool {
        let secret = WebhookSecret::parse(secret).unwrap();
        let request = &self.request;
        verify(&[secret], &request.headers, &request.body, self.at).is_ok()
    }
}

/// Responds with 204 unless a test sets other replies.
#[derive(Clone, Debug)]
pub(crate) struct FakeTransport {
    clock: Arc<dyn Clock>,
    runtime: Arc<dyn Runtime>,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    replies: HashMap<String, VecDeque<Reply>>,
    sent: Vec<Sent>,
    in_flight: HashMap<String, u32>,
    max_for_one_url: u32,
    max_in_total: u32,
}

impl FakeTransport {
    pub(crate) fn new(clock: Arc<dyn Clock>, runtime: impl Runtime) -> Self {
        Self { clock, runtime: Arc::new(runtime), inner: Arc::default() }
    }

    /// Sets the replies to an endpoint. The last reply is repeated.
    pub(crate) fn set_replies(&self, name: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies = replies.into_iter().collect();
        let mut inner = self.inner.lock().unwrap();
        inner.replies.insert(url(name), replies);
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.inner.lock().unwrap().sent.clone()
    }

    /// Returns the times of the requests to an endpoint.
    pub(crate) fn send_times(&self, name: &str) -> Vec<Timestamp> {
        let sent = self.sent().into_iter();
        let here = sent.filter(|sent| sent.request.url == url(name));
        here.map(|sent| sent.at).collect()
    }

    /// Returns the largest number of concurrent requests, to one URL and in total.
    pub(crate) fn max_in_flight(&self) -> (u32, u32) {
        let inner = self.inner.lock().unwrap();
        (inner.max_for_one_url, inner.max_in_total)
    }
}

impl Inner {
    fn receive(&mut self, sent: Sent) -> Reply {
        let url = sent.request.url.clone();
        self.sent.push(sent);
        let here = self.in_flight.entry(url.clone()).or_default();
        *here += 1;
        self.max_for_one_url = self.max_for_one_url.max(*here);
        self.max_in_total = self.max_in_total.max(self.in_flight.values().sum());
        let replies = self.replies.entry(url).or_default();
        let next = replies.front().copied().unwrap_or(Reply::Status(204));
        if replies.len() > 1 {
            replies.pop_front();
        }
        next
    }
}

/// Counts a request until it is dropped.
struct InFlight(Arc<Mutex<Inner>>, String);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut inner = self.0.lock().unwrap();
        *inner.in_flight.get_mut(&self.1).unwrap() -= 1;
    }
}

#[async_trait]
impl Transport for FakeTransport {
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse, TransportError> {
        let _in_flight = InFlight(Arc::clone(&self.inner), request.url.clone());
        let at = self.clock.now();
        let reply = self.inner.lock().unwrap().receive(Sent { at, request });
        let status = match reply {
            Reply::Status(status) => status,
            Reply::Delayed(wait, status) => {
                self.runtime.sleep(wait).await;
                status
            }
            Reply::AfterYields(turns, status) => {
                for _ in 0..turns {
                    yield_now().await;
                }
                status
            }
            Reply::ConnectError => return Err(TransportError::new("connection\0refused")),
            Reply::NotSent => return Err(TransportError::not_sent("no address")),
            Reply::Panics => panic!("the transport panics"),
            Reply::Hangs => std::future::pending().await,
        };
        Ok(ReceiverResponse {
            status,
            headers: format!("server: \0{}\n", "x".repeat(3000)),
            excerpt: format!("\0\t\n\r{}", "ü".repeat(2500)),
        })
    }
}
