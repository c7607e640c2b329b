//! Numbers in hexadecimal.

use std::fmt;

/// All digits of a number of 128 bits, in lower case.
#[derive(Clone, Copy)]
pub(super) struct Hex([[u8; 2]; 16]);

impl Hex {
    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(self.0.as_flattened()).unwrap_or_default()
    }
}

impl From<u128> for Hex {
    fn from(number: u128) -> Self {
        let halves = |byte: u8| [byte >> 4, byte & 15];
        Self(number.to_be_bytes().map(|byte| halves(byte).map(digit)))
    }
}

fn digit(half: u8) -> u8 {
    half + if half < 10 { b'0' } else { b'a' - 10 }
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Hex;

    #[test]
    fn is_what_the_formatter_writes() {
        for number in [0, 1, u128::MAX, 0x0123_4567_89ab_cdef_fedc_ba98_7654_3210] {
            assert_eq!(Hex::from(number).as_str(), format!("{number:032x}"));
        }
    }
}
