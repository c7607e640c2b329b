//! What a request is called, in its answer and in the log.

use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::hex::Hex;
use crate::model::Timestamp;
use crate::runtime::Entropy;

/// The ids that a service gives: a seed makes them its own, and nobody reads in them how many there are.
#[derive(Debug)]
pub(super) struct RequestIds {
    seed: u64,
    given: AtomicU64,
}

impl RequestIds {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let mut seed = [0; 8];
        if let Err(none) = entropy.fill(&mut seed) {
            tracing::error!(%none, "request ids are not random");
        }
        Self {
            seed: u64::from_le_bytes(seed),
            given: AtomicU64::new(0),
        }
    }

    /// 128 bits: the time, so that ids sort, and what no other request has.
    pub(super) fn next(&self, now: Timestamp) -> Hex {
        let count = self.given.fetch_add(1, Ordering::Relaxed);
        let mixed = xxh3_128_with_seed(&count.to_le_bytes(), self.seed);
        let time = u128::from(now.as_millis().unsigned_abs()) << 80;
        Hex::from(time | mixed >> 48)
    }
}
