//! A transport that plays the receivers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::model::Timestamp;
use forum_api::runtime::{Clock, Runtime};
use forum_api::webhook::{Answer, Outgoing, Transport, Unsent};
use tokio::task::yield_now;

/// What a receiver does with a delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Status(u16),
    After(Duration, u16),
    /// With this status, when all else had a turn so many times.
    Behind(u8, u16),
    Refuses,
    Panics,
    Hangs,
}

/// What was sent, and when.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) at: Timestamp,
    pub(crate) request: Outgoing,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.request.headers[name].to_str().unwrap()
    }
}

/// Receivers answer 204 until they were told otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Receivers {
    clock: Arc<dyn Clock>,
    runtime: Arc<dyn Runtime>,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The replies of a URL in their order, of which the last one stays.
    replies: HashMap<String, VecDeque<Reply>>,
    sent: Vec<Sent>,
    under_way: HashMap<String, u32>,
    most_here: u32,
    most_in_all: u32,
}

impl Receivers {
    pub(crate) fn new(clock: Arc<dyn Clock>, runtime: impl Runtime) -> Self {
        Self {
            clock,
            runtime: Arc::new(runtime),
            inner: Arc::default(),
        }
    }

    /// The receiver at this URL does these one after the other, and the last one from then on.
    pub(crate) fn does(&self, url: &str, replies: impl IntoIterator<Item = Reply>) {
        let replies = replies.into_iter().collect();
        let mut inner = self.inner.lock().unwrap();
        inner.replies.insert(url.into(), replies);
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.inner.lock().unwrap().sent.clone()
    }

    /// When something was sent to this URL.
    pub(crate) fn times(&self, url: &str) -> Vec<Timestamp> {
        let sent = self.sent().into_iter();
        let here = sent.filter(|sent| sent.request.url == url);
        here.map(|sent| sent.at).collect()
    }

    /// The most that were under way at once: to one URL, and in all.
    pub(crate) fn most(&self) -> (u32, u32) {
        let inner = self.inner.lock().unwrap();
        (inner.most_here, inner.most_in_all)
    }
}

impl Inner {
    fn receive(&mut self, sent: Sent) -> Reply {
        let url = sent.request.url.clone();
        self.sent.push(sent);
        let here = self.under_way.entry(url.clone()).or_default();
        *here += 1;
        self.most_here = self.most_here.max(*here);
        self.most_in_all = self.most_in_all.max(self.under_way.values().sum());
        let replies = self.replies.entry(url).or_default();
        let next = replies.front().copied().unwrap_or(Reply::Status(204));
        if replies.len() > 1 {
            replies.pop_front();
        }
        next
    }
}

/// An attempt that is under way, until this is dropped.
struct UnderWay(Arc<Mutex<Inner>>, String);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut inner = self.0.lock().unwrap();
        *inner.under_way.get_mut(&self.1).unwrap() -= 1;
    }
}

#[async_trait]
impl Transport for Receivers {
    async fn post(&self, request: Outgoing) -> Result<Answer, Unsent> {
        let _under_way = UnderWay(Arc::clone(&self.inner), request.url.clone());
        let at = self.clock.now();
        let reply = self.inner.lock().unwrap().receive(Sent { at, request });
        let status = match reply {
            Reply::Status(status) => status,
            Reply::After(wait, status) => {
                self.runtime.sleep(wait).await;
                status
            }
            Reply::Behind(turns, status) => {
                for _ in 0..turns {
                    yield_now().await;
                }
                status
            }
            Reply::Refuses => return Err(Unsent("connection refused".into())),
            Reply::Panics => panic!("the transport's own fault"),
            Reply::Hangs => std::future::pending().await,
        };
        let excerpt = "x".repeat(5000);
        Ok(Answer { status, excerpt })
    }
}
