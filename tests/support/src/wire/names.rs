//! A resolver that answers what it is told, and counts.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::webhook::Resolver;

/// Every name leads to the same addresses, which change from one question to the next.
#[derive(Debug)]
pub struct FakeResolver {
    results: Mutex<VecDeque<Vec<IpAddr>>>,
    hangs: bool,
    calls: AtomicUsize,
}

impl FakeResolver {
    /// Always these addresses; none: the name is unknown.
    pub fn resolving_to(addresses: &[&str]) -> Arc<Self> {
        Self::with_results(&[addresses])
    }

    /// One answer after the other; the last one for ever.
    pub fn with_results(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |address: &&str| address.parse().unwrap();
        let answers = answers.iter().map(|them| them.iter().map(parse).collect());
        Arc::new(Self {
            results: Mutex::new(answers.collect()),
            hangs: false,
            calls: AtomicUsize::new(0),
        })
    }

    /// Never an answer.
    pub fn hanging() -> Arc<Self> {
        Arc::new(Self {
            results: Mutex::default(),
            hangs: true,
            calls: AtomicUsize::new(0),
        })
    }

    /// How often somebody asked.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolver for FakeResolver {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.hangs {
            return pending().await;
        }
        let mut answers = self.results.lock().unwrap();
        let answer = match answers.len() {
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        };
        let known = !answer.is_empty();
        known
            .then_some(answer)
            .ok_or(io::ErrorKind::NotFound.into())
    }
}
