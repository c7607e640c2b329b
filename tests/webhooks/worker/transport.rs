//! A transport in place of the receivers.

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

/// The reply of a receiver to a delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Status(u16),
    Delayed(Duration, u16),
    /// With this status, after all other tasks have run so many times.
    AfterYields(u8, u16),
    ConnectError,
    Panics,
    Hangs,
}

/// A request, and when it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) request: SignedRequest,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.request.headers[name].to_str().unwrap()
    }

    /// Whether it is signed with this secret at the time at which it was sent.
    pub(crate) fn is_signed(&self, secret: &str) -> bool {
        let (secret, request) = (WebhookSecret::parse(secret).unwrap(), &self.request);
        verify(&[secret], &request.headers, &request.body, self.at).is_ok()
    }
}

/// Receivers reply with 204 until a test sets other replies.
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
        Self {
            clock,
            runtime: Arc::new(runtime),
            inner: Arc::default(),
        }
    }

    /// The receiver of this endpoint replies so, with the last reply from then on.
    pub(crate) fn set_replies(&self, name: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies = replies.into_iter().collect();
        let mut inner = self.inner.lock().unwrap();
        inner.replies.insert(url(name), replies);
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.inner.lock().unwrap().sent.clone()
    }

    /// When requests were sent to this endpoint.
    pub(crate) fn send_times(&self, name: &str) -> Vec<Timestamp> {
        let sent = self.sent().into_iter();
        let here = sent.filter(|sent| sent.request.url == url(name));
        here.map(|sent| sent.at).collect()
    }

    /// The most requests that were in progress at once: to one URL, and in all.
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

/// A request in progress, until this is dropped.
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
            Reply::ConnectError => return Err(TransportError("connection refused".into())),
            Reply::Panics => panic!("the transport panics"),
            Reply::Hangs => std::future::pending().await,
        };
        let excerpt = "x".repeat(5000);
        Ok(ReceiverResponse { status, excerpt })
    }
}
