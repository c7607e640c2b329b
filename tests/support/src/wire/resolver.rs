//! A resolver with prepared results, which counts its calls.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::webhook::Resolver;

/// Resolves all names to the same addresses, which may change from one call to the next.
#[derive(Debug)]
pub struct FakeResolver {
    /// Results of the next calls. The last one stays; without results, calls do not return.
    results: Mutex<VecDeque<Vec<IpAddr>>>,
    calls: AtomicUsize,
}

impl FakeResolver {
    /// Creates a resolver that resolves each name to these addresses. Without addresses, names are unknown.
    pub fn resolving_to(addresses: &[&str]) -> Arc<Self> {
        Self::with_results(&[addresses])
    }

    /// Creates a resolver that returns these results one after another, and then repeats the last one.
    pub fn with_results(results: &[&[&str]]) -> Arc<Self> {
        let parse = |address: &&str| address.parse().unwrap();
        let results = results.iter().map(|addresses| addresses.iter().map(parse).collect());
        Arc::new(Self { results: Mutex::new(results.collect()), calls: AtomicUsize::new(0) })
    }

    /// Creates a resolver whose calls do not return.
    pub fn hanging() -> Arc<Self> {
        Self::with_results(&[])
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn next(&self) -> Option<Vec<IpAddr>> {
        let mut results = self.results.lock().unwrap();
        match results.len() {
            1 => results.front().cloned(),
            _ => results.pop_front(),
        }
    }
}

#[async_trait]
impl Resolver for FakeResolver {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let Some(addresses) = self.next() else {
            return pending().await;
        };
        if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
    }
}
