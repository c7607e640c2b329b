//! The doors to time, randomness and tasks: [`Clock`], [`Entropy`], [`Runtime`]. For threads and time limits of their
//! own, stores and the HTTP transport ask std and tokio themselves.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::Timestamp;

/// A boxed future, as [`Runtime`] takes and gives them.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tells the time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Gives bytes that nobody can guess.
pub trait RandomSource: Debug + Send + Sync + 'static {
    /// Fills `bytes` with random ones.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

/// The source of randomness did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the random source failed")]
pub struct RandomError;

/// The host's executor: what a write and a deadline need of it.
///
/// A client that hangs up makes an HTTP server drop the request's future. A write must not be cut off with it, so
/// it runs [detached](Self::detach).
pub trait Runtime: Debug + Send + Sync + 'static {
    /// Starts `work`, which runs to its end even when the future that is returned is dropped. That future is ready
    /// when the work has ended.
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;

    /// Is ready after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::default().saturating_add(since)
    }
}

/// A clock that stands still until it is told: for tests.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at `now`.
    pub const fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_millis()))
    }

    /// Sets the time, which may go back.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Goes on by `duration`.
    pub fn advance(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// The system's source of randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsRandom;

impl RandomSource for OsRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(|_| RandomError)
    }
}

/// The same bytes in the same order each time, which anybody can guess: for tests.
#[derive(Debug, Default)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// Bytes that follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl RandomSource for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for chunk in bytes.chunks_mut(8) {
            let step = self.0.fetch_add(1, Ordering::SeqCst);
            let word = xxhash_rust::xxh3::xxh3_64(&step.to_le_bytes()).to_le_bytes();
            chunk
                .iter_mut()
                .zip(word)
                .for_each(|(byte, random)| *byte = random);
        }
        Ok(())
    }
}

/// No executor: work runs inside the request's own future, and no deadline ever rings.
///
/// A client that hangs up cuts a write off between two awaits. For synchronous tests, and for hosts whose server
/// never drops a request's future.
#[derive(Clone, Copy, Debug, Default)]
pub struct InlineRuntime;

impl Runtime for InlineRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// The tokio runtime that the request runs on (feature `tokio`).
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioRuntime;

#[cfg(feature = "tokio")]
impl Runtime for TokioRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let task = tokio::spawn(work);
        Box::pin(async move { drop(task.await) })
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}
