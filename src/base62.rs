//! Numbers and random text in the alphabet `0-9A-Za-z`.

use crate::runtime::{RandomError, RandomSource};

const ALPHABET: [u8; 62] = *b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A big-endian number in `N` digits, padded with `0`; digits that find no place are lost.
pub(crate) fn encode<const N: usize, const BYTES: usize>(mut rest: [u8; BYTES]) -> [u8; N] {
    let mut digits = [0; N];
    for place in digits.iter_mut().rev() {
        *place = digit(divide_by_62(&mut rest));
    }
    digits
}

/// Long division in place; gives the remainder.
fn divide_by_62(number: &mut [u8]) -> u16 {
    number.iter_mut().fold(0, |remainder, byte| {
        let dividend = remainder << 8 | u16::from(*byte);
        *byte = (dividend / 62) as u8;
        dividend % 62
    })
}

/// `N` random characters, each as likely as any other.
pub(crate) fn random<const N: usize>(entropy: &dyn RandomSource) -> Result<[u8; N], RandomError> {
    let mut text = [0; N];
    let mut filled = 0;
    while filled < N {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes)?;
        let fair = bytes.iter().filter(|byte| **byte < 248);
        for (place, byte) in text.iter_mut().skip(filled).zip(fair) {
            *place = digit(u16::from(*byte % 62));
            filled += 1;
        }
    }
    Ok(text)
}

fn digit(value: u16) -> u8 {
    ALPHABET.get(usize::from(value)).copied().unwrap_or(b'0')
}
