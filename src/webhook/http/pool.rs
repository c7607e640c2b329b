//! Connections that wait for the next attempt.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use url::Host;

use super::client::Client;
use crate::webhook::Target;

/// Where a connection leads, and whose certificate was seen on it, if there is TLS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Way {
    host: Host,
    address: SocketAddr,
    is_secure: bool,
}

impl Way {
    pub(super) fn new(target: &Target, address: SocketAddr) -> Self {
        Self {
            host: target.host().clone(),
            address,
            is_secure: target.is_secure(),
        }
    }
}

/// Connections that wait, each for so long at most.
#[derive(Default)]
pub(super) struct Idle(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    clients: HashMap<Way, Vec<(Client, Instant)>>,
    /// Whether a task closes those whose time is over.
    is_swept: bool,
}

impl Idle {
    /// The connection that has waited least.
    pub(super) fn take(&self, way: &Way) -> Option<Client> {
        let mut waiting = self.lock();
        let (mut client, until) = waiting.clients.get_mut(way)?.pop()?;
        client.has_waited = true;
        (until > Instant::now()).then_some(client)
    }

    /// Lets a connection wait.
    pub(super) fn put(self: &Arc<Self>, client: Client, keep: Duration) {
        let until = Instant::now() + keep;
        let mut waiting = self.lock();
        let alike = waiting.clients.entry(client.way.clone()).or_default();
        alike.push((client, until));
        if !waiting.is_swept {
            waiting.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self), until));
        }
    }

    /// Closes those whose time is over; when the next one's will be.
    fn close(&self, now: Instant) -> Option<Instant> {
        let mut waiting = self.lock();
        waiting.clients.retain(|_, clients| {
            clients.retain(|(_, until)| *until > now);
            !clients.is_empty()
        });
        let all = waiting.clients.values().flatten();
        let next = all.map(|(_, until)| *until).min();
        waiting.is_swept = next.is_some();
        next
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes connections until none waits any more, or nobody would take one.
async fn sweep(idle: Weak<Idle>, mut next: Instant) {
    loop {
        sleep_until(next).await;
        let Some(idle) = idle.upgrade() else { return };
        match idle.close(Instant::now()) {
            Some(later) => next = later,
            None => return,
        }
    }
}
