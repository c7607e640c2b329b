//! Made-up words, of which a few are in almost every text and most are in hardly any, as in a language.

/// How often the number of words doubles: there are 2¹⁷ - 1 of them.
const DOUBLINGS: u64 = 17;

const CONSONANTS: [char; 14] = [
    'b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z',
];
const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];

/// The word of a rank: 1 is the most common one. Common words are short.
pub fn word(rank: u64) -> String {
    let (mut word, mut rest) = (String::new(), rank as usize);
    while rest > 0 || word.is_empty() {
        let (consonant, vowel) = (rest % CONSONANTS.len(), rest / CONSONANTS.len());
        word.extend(CONSONANTS.get(consonant));
        word.extend(VOWELS.get(vowel % VOWELS.len()));
        rest = vowel / VOWELS.len();
    }
    word
}

/// A rank as chance has it: about in inverse proportion to the rank. `pick` gives a number below the one that it is
/// given.
pub fn rank(mut pick: impl FnMut(u64) -> u64) -> u64 {
    let first = 1 << pick(DOUBLINGS);
    first + pick(first)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{DOUBLINGS, rank, word};

    #[test]
    fn no_two_words_are_the_same() {
        let words: HashSet<String> = (0..1 << DOUBLINGS).map(word).collect();
        assert_eq!(words.len(), 1 << DOUBLINGS);
        assert_eq!([word(1), word(14), word(70)], ["da", "be", "bada"]);
    }

    #[test]
    fn ranks_begin_at_the_most_common_one() {
        assert_eq!(rank(|_| 0), 1);
        assert_eq!(rank(|below| below - 1), (1 << DOUBLINGS) - 1);
    }
}
