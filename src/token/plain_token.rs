//! Plain tokens: generation, parsing and hashing.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::base62::{self, DIGITS_OF_256_BITS};
use crate::error::{ParseError, impl_as_str, impl_from_str};
use crate::runtime::{RandomError, RandomSource};

const PREFIX: &str = "forum_pat_";

/// Length of the lookup, in bytes.
const LOOKUP_LEN: usize = 16;

/// Length of the random part of the secret, in bytes.
const RANDOM_LEN: usize = DIGITS_OF_256_BITS;

/// Length of the checksum, in bytes.
const CHECKSUM_LEN: usize = 6;

/// Length of a token, in bytes.
const TOKEN_LEN: usize = PREFIX.len() + LOOKUP_LEN + 1 + RANDOM_LEN + CHECKSUM_LEN;

/// Public part of a token: 16 characters of `[0-9A-Za-z]` that identify it in lists, logs and the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Lookup([u8; LOOKUP_LEN]);

impl Lookup {
    /// Lookup of the dummy record, which no token has.
    pub(crate) const DUMMY: Self = Self([b'0'; LOOKUP_LEN]);

    /// Parses a lookup.
    ///
    /// # Errors
    /// [`ParseError`] unless the text is 16 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let bytes = <[u8; LOOKUP_LEN]>::try_from(text.as_bytes())
            .ok()
            .filter(|bytes| bytes.iter().all(u8::is_ascii_alphanumeric));
        bytes.map(Self).ok_or(ParseError::new("16 letters and digits"))
    }

    /// Returns the characters of the lookup.
    pub(crate) const fn to_bytes(self) -> [u8; LOOKUP_LEN] {
        self.0
    }

    /// Returns the lookup as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(crate) fn as_bytes(&self) -> &[u8; LOOKUP_LEN] {
        &self.0
    }
}

impl_from_str!(Lookup);

impl TryFrom<String> for Lookup {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Lookup> for String {
    fn from(lookup: Lookup) -> Self {
        lookup.as_str().into()
    }
}

impl_as_str!(Lookup);

display_debug!(Lookup);

/// SHA-256 of a token's secret. `Debug` output omits the value; comparisons take constant time.
#[derive(Clone, Copy, Eq, Serialize, Deserialize)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// Creates a digest from the bytes of the hash.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// Returns the bytes of the hash, for a store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for SecretDigest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

opaque_debug!(SecretDigest);

/// A token with its secret. `Debug` output omits the value; the memory is zeroed on drop.
///
/// ```
/// use forum_api::runtime::OsRandom;
/// use forum_api::token::PlainToken;
///
/// let token = PlainToken::generate(&OsRandom).unwrap();
/// let text = token.expose_secret();
/// assert!(text.starts_with(&format!("forum_pat_{}_", token.lookup())));
/// assert_eq!(text.len(), 76);
///
/// let parsed = PlainToken::parse(text).unwrap();
/// assert_eq!(parsed.digest(), token.digest());
/// assert!(PlainToken::parse(&text[1..]).is_err());
/// ```
pub struct PlainToken {
    lookup: Lookup,
    text: Zeroizing<String>,
}

/// Error of a text with a wrong prefix, length, character or checksum.
const PARSE_ERROR: ParseError = ParseError::new("a complete token that begins with forum_pat_");

impl PlainToken {
    /// Generates a token: a random lookup, 256 random bits, and a checksum.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let lookup = Lookup(base62::random(random)?);
        let mut bits = Zeroizing::new([0; 32]);
        random.fill(&mut *bits)?;
        let secret = Zeroizing::new(base62::encode::<RANDOM_LEN, _>(*bits));
        let mut text = Zeroizing::new(String::with_capacity(TOKEN_LEN));
        text.push_str(PREFIX);
        text.push_str(lookup.as_str());
        text.push('_');
        text.extend(secret.iter().map(|byte| char::from(*byte)));
        let checksum = checksum(&text);
        text.extend(checksum.map(char::from));
        Ok(Self { lookup, text })
    }

    /// Parses a token and verifies its checksum. Does not check that the token was issued.
    ///
    /// # Errors
    /// [`ParseError`] if the text has another format, or the checksum does not match.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let (lookup, _) = split(text)?;
        let text = Zeroizing::new(text.into());
        Ok(Self { lookup, text })
    }

    /// Returns the public part of the token.
    pub fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// Returns the SHA-256 of the secret, which is stored instead of the secret.
    pub fn digest(&self) -> SecretDigest {
        let secret = self.text.get(TOKEN_LEN - RANDOM_LEN - CHECKSUM_LEN..);
        SecretDigest::of(secret.unwrap_or_default())
    }

    /// Returns the whole token with its secret. Show it once; do not log or store it.
    pub fn expose_secret(&self) -> &str {
        &self.text
    }
}

impl_from_str!(PlainToken);

/// Parses the token of a request without copying its secret.
pub(crate) fn parse_presented(text: &str) -> Result<(Lookup, SecretDigest), ParseError> {
    split(text).map(|(lookup, secret)| (lookup, SecretDigest::of(secret)))
}

/// Splits a token into lookup and secret, and verifies the checksum.
fn split(text: &str) -> Result<(Lookup, &str), ParseError> {
    let (lookup, secret) = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.split_at_checked(LOOKUP_LEN))
        .and_then(|(lookup, rest)| Some((lookup, rest.strip_prefix('_')?)))
        .ok_or(PARSE_ERROR)?;
    let lookup = Lookup::parse(lookup).map_err(|_| PARSE_ERROR)?;
    let is_complete = secret.len() == RANDOM_LEN + CHECKSUM_LEN
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let parts = text.split_at_checked(TOKEN_LEN - CHECKSUM_LEN);
    let (before, expected) = parts.filter(|_| is_complete).ok_or(PARSE_ERROR)?;
    if checksum(before) == expected.as_bytes() { Ok((lookup, secret)) } else { Err(PARSE_ERROR) }
}

/// Returns the CRC-32 (IEEE) of the preceding text in base 62. Secret scanners recognise a token by this checksum.
fn checksum(text: &str) -> [u8; CHECKSUM_LEN] {
    base62::encode(crc32fast::hash(text.as_bytes()).to_be_bytes())
}

opaque_debug!(PlainToken);

#[cfg(test)]
mod tests {
    use super::{PARSE_ERROR, PlainToken};
    use crate::runtime::SeededRandom;

    #[test]
    fn the_published_vector_is_parsed() {
        let token = format!("forum_pat_0123456789abcdEF_{}3mtIgJ", "A".repeat(43));
        let parsed = PlainToken::parse(&token).unwrap();
        assert_eq!(parsed.lookup().as_str(), "0123456789abcdEF");
        assert_eq!(parsed.expose_secret(), token);
        assert_eq!(format!("{parsed:?}"), "PlainToken");
    }

    #[test]
    fn other_texts_are_rejected() {
        let token = PlainToken::generate(&SeededRandom::new(1)).unwrap();
        let valid = token.expose_secret();
        let mut cases = vec![
            String::new(),
            "forum_pat_".into(),
            valid.replace("pat", "PAT"),
            format!("{valid}0"),
            valid[..75].into(),
            format!(" {valid}"),
            "ä".repeat(38),
        ];
        for position in [10, 26, 27, 40, 75] {
            let mut bytes = valid.as_bytes().to_vec();
            bytes[position] = if bytes[position] == b'x' { b'y' } else { b'x' };
            cases.push(String::from_utf8(bytes).unwrap());
        }
        for case in cases {
            let error = PlainToken::parse(&case).err();
            assert_eq!(error, Some(PARSE_ERROR), "{case}");
        }
    }
}
