//! Interfaces to the clock, the random source and the executor: [`Clock`], [`RandomSource`], [`Runtime`].
//!
//! The library reads the time, generates random bytes and starts tasks only through these traits. Exceptions: the SQL
//! and Redis stores, the HTTP transport, the system's resolver and the check of an endpoint's URL also use the clocks,
//! threads and timers of std and tokio. TLS and hash tables have random sources of their own.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use thiserror::Error;

use crate::error::{BoxError, impl_into_backend_error};
use crate::model::Timestamp;

/// A boxed future that is `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Source of the current time.
pub trait Clock: Debug + Send + Sync + 'static {
    /// Returns the current time. The time can go backwards, for example when the system clock is adjusted. Must not panic.
    fn now(&self) -> Timestamp;
}

impl_for_pointers!(Clock {
    fn now() -> Timestamp;
});

/// Cryptographically secure source of random bytes. Tokens and secrets depend on it.
pub trait RandomSource: Debug + Send + Sync + 'static {
    /// Fills `bytes` with random bytes.
    ///
    /// # Errors
    /// [`RandomError`] if the source is not available.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError>;
}

impl_for_pointers!(RandomSource {
    fn fill(bytes: &mut [u8]) -> Result<(), RandomError>;
});

/// Error of a random source that is not available.
///
/// `?` converts it to a [`BackendError`](crate::host::BackendError) and to a [`BoardError`](crate::host::BoardError).
#[derive(Debug, Error)]
#[error("the random source failed")]
#[non_exhaustive]
pub struct RandomError(#[source] BoxError);

impl RandomError {
    /// Creates an error from its source.
    pub fn new(source: impl Into<BoxError>) -> Self {
        Self(source.into())
    }
}

impl_into_backend_error!(RandomError: RandomError);

/// The host's executor.
///
/// An HTTP server drops the future of a request when the client disconnects. The library [spawns](Self::spawn) each
/// write as a task, so that the write is not interrupted.
pub trait Runtime: Debug + Send + Sync + 'static {
    /// Starts `work` as a task that completes even if the returned future is dropped. The returned future is ready when
    /// the task has completed or panicked.
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;

    /// Returns a future that is ready after `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

impl_for_pointers!(Runtime {
    fn spawn(work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()>;
    fn sleep(duration: Duration) -> BoxFuture<'static, ()>;
});

/// Clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

/// Clock that a test sets and advances.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock with the time `now`.
    pub const fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_millis()))
    }

    /// Sets the time.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Advances the time by `duration`.
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

/// Random source of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsRandom;

impl RandomSource for OsRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        getrandom::fill(bytes).map_err(RandomError::new)
    }
}

/// Predictable random source that generates the same bytes for the same seed, for tests.
#[derive(Debug, Default)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// Creates a source with a seed. Sources with nearby seeds generate overlapping bytes: do not use them for values
    /// that must differ.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

/// After the cloning, the clone and the original generate the same bytes.
impl Clone for SeededRandom {
    fn clone(&self) -> Self {
        Self::new(self.0.load(Ordering::SeqCst))
    }
}

impl RandomSource for SeededRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for chunk in bytes.chunks_mut(8) {
            let step = self.0.fetch_add(1, Ordering::SeqCst);
            let word = xxhash_rust::xxh3::xxh3_64(&step.to_le_bytes()).to_le_bytes();
            let bytes = chunk.iter_mut().zip(word);
            bytes.for_each(|(byte, random)| *byte = random);
        }
        Ok(())
    }
}

/// Executor without background tasks, for tests: a task runs only while the future that [`spawn`](Runtime::spawn)
/// returned is polled. Timers never fire.
#[cfg(feature = "test-util")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlineRuntime;

/// Returns the runtime for the concurrent calls of a test: that of the calling task if it runs on tokio.
#[cfg(feature = "conformance")]
pub(crate) fn of_test() -> &'static dyn Runtime {
    #[cfg(feature = "tokio")]
    if tokio::runtime::Handle::try_current().is_ok() {
        return &TokioRuntime;
    }
    &InlineRuntime
}

#[cfg(feature = "test-util")]
impl Runtime for InlineRuntime {
    fn spawn(&self, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        work
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// The tokio runtime of the calling task (feature `tokio`). Its methods panic outside of a tokio runtime.
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
