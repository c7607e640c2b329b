//! Random choices of a simulation, which depend only on its seed.

use std::sync::Mutex;

use forum_api::runtime::{RandomError, RandomSource};

/// Generator of random numbers: SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }

    /// Returns a number below `end`, which is at least 1.
    pub(crate) const fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns an index of a list, which is not empty.
    pub(crate) const fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns `true` with this probability.
    pub(crate) const fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Random source of a process.
#[derive(Debug)]
pub(crate) struct ProcessRandom(Mutex<Random>);

impl ProcessRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(Random::new(seed)))
    }
}

impl RandomSource for ProcessRandom {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut random = self.0.lock().unwrap();
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&random.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
