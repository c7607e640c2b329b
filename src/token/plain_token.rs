//! The token itself, as it is shown once and presented ever after.

use std::fmt;

use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

use super::SecretDigest;
use crate::base62;
use crate::runtime::{RandomError, RandomSource};

const PREFIX: &str = "forum_pat_";
const LOOKUP: usize = 16;
const RANDOM: usize = 43;
const CHECKSUM: usize = 6;
const LENGTH: usize = PREFIX.len() + LOOKUP + 1 + RANDOM + CHECKSUM;

/// The public part of a token: 16 characters by which it is found, listed and revoked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lookup([u8; LOOKUP]);

impl Lookup {
    /// Of no token.
    pub(crate) const DUMMY: Self = Self([b'0'; LOOKUP]);

    /// The lookup that `text` spells; `None` unless it is 16 of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = <[u8; LOOKUP]>::try_from(text.as_bytes()).ok()?;
        bytes
            .iter()
            .all(u8::is_ascii_alphanumeric)
            .then_some(Self(bytes))
    }

    /// The lookup as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(crate) fn as_bytes(&self) -> &[u8; LOOKUP] {
        &self.0
    }
}

impl fmt::Display for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lookup({self})")
    }
}

/// A whole token with its secret. It prints as its name only, and is zeroed when dropped.
pub struct PlainToken {
    lookup: Lookup,
    text: Zeroizing<String>,
}

/// The text is no token: a wrong prefix, length or character, or a checksum that does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the text is not a token")]
pub struct ParseTokenError;

impl PlainToken {
    /// A new token: a random lookup, 256 random bits, and their checksum.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn generate(entropy: &dyn RandomSource) -> Result<Self, RandomError> {
        let lookup = Lookup(base62::random(entropy)?);
        let mut bits = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bits)?;
        let random = Zeroizing::new(base62::encode::<RANDOM, _>(*bits));
        let mut text = Zeroizing::new(String::with_capacity(LENGTH));
        text.push_str(PREFIX);
        text.push_str(lookup.as_str());
        text.push('_');
        text.extend(random.iter().map(|byte| char::from(*byte)));
        let checksum = checksum(&text);
        text.extend(checksum.map(char::from));
        Ok(Self { lookup, text })
    }

    /// Reads a token that was presented.
    ///
    /// # Errors
    /// [`Malformed`] when it cannot be one, which needs no look-up to know.
    pub fn parse(text: &str) -> Result<Self, ParseTokenError> {
        let (lookup, _) = split(text)?;
        Ok(Self {
            lookup,
            text: Zeroizing::new(text.into()),
        })
    }

    /// The token's public part.
    pub fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// What is stored instead of the secret: its SHA-256.
    pub fn digest(&self) -> SecretDigest {
        let secret = self.text.get(LENGTH - RANDOM - CHECKSUM..);
        digest(secret.unwrap_or_default())
    }

    /// The whole token, secret included: to be shown once, and never logged.
    pub fn expose_secret(&self) -> &str {
        &self.text
    }
}

/// What a presented token is found by, and what has to be stored of it: no copy of it is made.
pub(crate) fn parse_presented(text: &str) -> Result<(Lookup, SecretDigest), ParseTokenError> {
    split(text).map(|(lookup, secret)| (lookup, digest(secret)))
}

/// The lookup and the secret of what reads like a token.
fn split(text: &str) -> Result<(Lookup, &str), ParseTokenError> {
    let (lookup, secret) = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_at_checked(LOOKUP))
        .and_then(|(lookup, rest)| Some((lookup, rest.strip_prefix('_')?)))
        .ok_or(ParseTokenError)?;
    let lookup = Lookup::parse(lookup).ok_or(ParseTokenError)?;
    let whole = secret.len() == RANDOM + CHECKSUM
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (before, found) = text
        .split_at_checked(LENGTH - CHECKSUM)
        .filter(|_| whole)
        .ok_or(ParseTokenError)?;
    (checksum(before) == found.as_bytes())
        .then_some((lookup, secret))
        .ok_or(ParseTokenError)
}

fn digest(secret: &str) -> SecretDigest {
    SecretDigest::new(Sha256::digest(secret.as_bytes()).into())
}

/// CRC-32 (IEEE) of everything before it, so that scanners know a token when they see one.
fn checksum(before: &str) -> [u8; CHECKSUM] {
    base62::encode(crc32fast::hash(before.as_bytes()).to_be_bytes())
}

opaque_debug!(PlainToken);

#[cfg(test)]
mod tests {
    use super::{ParseTokenError, PlainToken};
    use crate::runtime::SeededRandom;

    #[test]
    fn the_published_vector() {
        let token = format!("forum_pat_0123456789abcdEF_{}3mtIgJ", "A".repeat(43));
        let parsed = PlainToken::parse(&token).unwrap();
        assert_eq!(parsed.lookup().as_str(), "0123456789abcdEF");
        assert_eq!(parsed.expose_secret(), token);
        assert_eq!(format!("{parsed:?}"), "PlainToken");
    }

    #[test]
    fn what_was_minted_is_read_back() {
        let entropy = SeededRandom::new(7);
        for _ in 0..100 {
            let minted = PlainToken::generate(&entropy).unwrap();
            let parsed = PlainToken::parse(minted.expose_secret()).unwrap();
            assert_eq!(parsed.lookup(), minted.lookup());
            assert_eq!(parsed.digest(), minted.digest());
        }
    }

    #[test]
    fn any_other_text_is_malformed() {
        let token = PlainToken::generate(&SeededRandom::new(1)).unwrap();
        let good = token.expose_secret();
        let mut cases = vec![
            String::new(),
            "forum_pat_".into(),
            good.replace("pat", "PAT"),
            format!("{good}0"),
            good[..75].into(),
            format!(" {good}"),
            "ä".repeat(38),
        ];
        for place in [10, 26, 27, 40, 75] {
            let mut bytes = good.as_bytes().to_vec();
            bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
            cases.push(String::from_utf8(bytes).unwrap());
        }
        for case in cases {
            assert_eq!(
                PlainToken::parse(&case).err(),
                Some(ParseTokenError),
                "{case}"
            );
        }
    }
}
