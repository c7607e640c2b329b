//! Base 62: numbers and random text in the alphabet `0-9A-Za-z`.

use crate::runtime::{RandomError, RandomSource};

/// Number of digits of 256 bits.
pub(crate) const DIGITS_OF_256_BITS: usize = 43;

const ALPHABET: [u8; 62] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Encodes a big-endian number in `N` digits, padded with `0`. Drops higher digits.
pub(crate) fn encode<const N: usize, const BYTES: usize>(mut number: [u8; BYTES]) -> [u8; N] {
    let mut digits = [0; N];
    for last in digits.iter_mut().rev() {
        *last = digit(divide_by_62(&mut number));
    }
    digits
}

/// Divides a big-endian number by 62 in place, and returns the remainder.
fn divide_by_62(number: &mut [u8]) -> u16 {
    number.iter_mut().fold(0, |remainder, byte| {
        let dividend = remainder << 8 | u16::from(*byte);
        *byte = (dividend / 62) as u8;
        dividend % 62
    })
}

/// Generates `N` uniformly distributed characters.
pub(crate) fn random<const N: usize>(random: &dyn RandomSource) -> Result<[u8; N], RandomError> {
    let mut text = [0; N];
    let mut filled = 0;
    while filled < N {
        let mut bytes = [0; 32];
        random.fill(&mut bytes)?;
        // 248 is a multiple of 62: larger bytes would make some characters more likely.
        let unbiased = bytes.iter().filter(|byte| **byte < 248);
        for (next, byte) in text.iter_mut().skip(filled).zip(unbiased) {
            *next = digit(u16::from(*byte % 62));
            filled += 1;
        }
    }
    Ok(text)
}

/// Returns the text of an id: the prefix and the characters.
pub(crate) fn with_prefix(prefix: &str, characters: [u8; 22]) -> String {
    let characters = characters.iter().map(|byte| char::from(*byte));
    prefix.chars().chain(characters).collect()
}

fn digit(value: u16) -> u8 {
    ALPHABET.get(usize::from(value)).copied().unwrap_or(b'0')
}
