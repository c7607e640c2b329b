//! Random words and texts, the same for the same seed.

use forum_api::runtime::{RandomSource, SeededRandom};

/// Exponent of the number of words, which is 2¹⁷ - 1.
const DOUBLINGS: u64 = 17;

const CONSONANTS: [char; 14] =
    ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'];
const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];

/// Returns the word of a rank: 1 is the most common one. Common words are short.
pub fn word(rank: u64) -> String {
    let mut letters = String::new();
    let mut rest = rank as usize;
    while rest > 0 || letters.is_empty() {
        let consonant = rest % CONSONANTS.len();
        let vowel = rest / CONSONANTS.len();
        letters.extend(CONSONANTS.get(consonant));
        letters.extend(VOWELS.get(vowel % VOWELS.len()));
        rest = vowel / VOWELS.len();
    }
    letters
}

/// Returns a random rank. The probability of a rank is about inversely proportional to the rank. `pick` returns a
/// number below its argument.
pub fn rank(mut pick: impl FnMut(u64) -> u64) -> u64 {
    let first = 1 << pick(DOUBLINGS);
    first + pick(first)
}

/// Multiplier of seeds: odd and large, so that the random numbers of two seeds do not overlap.
const SEED_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random numbers that are the same for the same seed.
#[derive(Clone, Debug)]
pub struct Random(SeededRandom);

impl Random {
    /// Creates a generator whose numbers do not overlap with those of other seeds.
    pub const fn new(seed: u64) -> Self {
        Self(SeededRandom::new(seed.wrapping_mul(SEED_MULTIPLIER)))
    }

    pub fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes).unwrap_or_default();
        u64::from_le_bytes(bytes) % end.max(1)
    }

    /// Returns a random item; `None` if there are none.
    pub fn choose<T: Copy>(&self, all: &[T]) -> Option<T> {
        let index = self.below(all.len() as u64);
        all.get(index as usize).copied()
    }

    /// Returns a random item, most often one of the last; `None` if there are none.
    pub fn choose_recent<T: Copy>(&self, all: &[T]) -> Option<T> {
        let back = self.rank() % all.len().max(1) as u64;
        all.iter().rev().nth(back as usize).copied()
    }

    pub fn title(&self) -> String {
        self.words(3, 7)
    }

    pub fn text(&self) -> String {
        let sentences = (0..2 + self.below(7)).map(|_| self.words(6, 16) + ".");
        sentences.collect::<Vec<_>>().join(" ")
    }

    fn words(&self, least: u64, most: u64) -> String {
        let count = least + self.below(most - least + 1);
        let words = (0..count).map(|_| self.word());
        words.collect::<Vec<_>>().join(" ")
    }

    pub fn word(&self) -> String {
        word(self.rank())
    }

    fn rank(&self) -> u64 {
        rank(|end| self.below(end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{DOUBLINGS, rank, word};

    #[test]
    fn different_ranks_have_different_words() {
        let words: HashSet<String> = (0..1 << DOUBLINGS).map(word).collect();
        assert_eq!(words.len(), 1 << DOUBLINGS);
        assert_eq!([word(1), word(14), word(70)], ["da", "be", "bada"]);
    }

    #[test]
    fn ranks_are_between_one_and_the_number_of_words() {
        assert_eq!(rank(|_| 0), 1);
        assert_eq!(rank(|below| below - 1), (1 << DOUBLINGS) - 1);
    }
}
