//! Numbers that look random, and are the same for the same seed.

use forum_api::runtime::{Entropy, SeededEntropy};

use super::words;

/// How far apart the numbers of two seeds are: odd, so that no two seeds meet, and large.
const FAR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Numbers that follow from a seed.
#[derive(Debug)]
pub struct Random(SeededEntropy);

impl Random {
    /// Those that follow from `seed`, and from no other one for a long time.
    pub const fn new(seed: u64) -> Self {
        Self(SeededEntropy::new(seed.wrapping_mul(FAR)))
    }

    /// A number below `end`.
    pub fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes).unwrap_or_default();
        u64::from_le_bytes(bytes) % end.max(1)
    }

    /// One of `all`; `None` if there is none.
    pub fn one_of<T: Copy>(&self, all: &[T]) -> Option<T> {
        let place = self.below(all.len() as u64);
        all.get(place as usize).copied()
    }

    /// One of `all`, most often one of the last; `None` if there is none.
    pub fn one_of_the_last<T: Copy>(&self, all: &[T]) -> Option<T> {
        let back = self.rank() % all.len().max(1) as u64;
        all.iter().rev().nth(back as usize).copied()
    }

    /// A title.
    pub fn title(&self) -> String {
        self.words(3, 7)
    }

    /// A text of some sentences.
    pub fn text(&self) -> String {
        let sentences = (0..2 + self.below(7)).map(|_| self.words(6, 16) + ".");
        sentences.collect::<Vec<_>>().join(" ")
    }

    /// As many words as chance has it.
    fn words(&self, least: u64, most: u64) -> String {
        let count = least + self.below(most - least + 1);
        let words = (0..count).map(|_| self.word());
        words.collect::<Vec<_>>().join(" ")
    }

    /// A word.
    pub fn word(&self) -> String {
        words::word(self.rank())
    }

    fn rank(&self) -> u64 {
        words::rank(|end| self.below(end))
    }
}
