//! The id of a request, in its response and in the log.

use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::model::Timestamp;
use crate::runtime::RandomSource;

/// 128 bits in 32 lower-case hexadecimal digits.
#[derive(Clone, Copy)]
pub(super) struct Hex128([u8; 32]);

impl Hex128 {
    fn new(number: u128) -> Self {
        let mut digits = [b'0'; 32];
        // The length fits, so this cannot fail.
        let _ = base16ct::lower::encode(&number.to_be_bytes(), &mut digits);
        Self(digits)
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Makes the ids of a service. They do not tell how many there are.
#[derive(Debug)]
pub(super) struct RequestIdGenerator {
    seed: u64,
    counter: AtomicU64,
}

impl RequestIdGenerator {
    pub(super) fn new(entropy: &dyn RandomSource) -> Self {
        let mut seed = [0; 8];
        if let Err(none) = entropy.fill(&mut seed) {
            tracing::error!(error = %none, "no randomness for request ids; using the clock");
        }
        Self {
            seed: u64::from_le_bytes(seed),
            counter: AtomicU64::new(0),
        }
    }

    /// 48 bits of the time, so that ids sort, and 80 bits that no other request has.
    pub(super) fn next(&self, now: Timestamp) -> Hex128 {
        let count = self.counter.fetch_add(1, Ordering::Relaxed);
        let mixed = xxh3_128_with_seed(&count.to_le_bytes(), self.seed);
        let time = u128::from(now.as_millis().unsigned_abs()) << 80;
        Hex128::new(time | mixed >> 48)
    }
}
