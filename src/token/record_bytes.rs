//! Encoding of a token record for stores without columns.

use serde::Deserialize;
use serde_json::json;

use super::plain_token::{Lookup, SecretDigest};
use super::record::TokenRecord;
use crate::error::ParseError;
use crate::model::{Timestamp, UserId};

#[derive(Deserialize)]
struct Fields {
    lookup: String,
    digest: String,
    owner: String,
    label: String,
    scopes: Vec<String>,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TokenRecord {
    /// Encodes the record for a key-value store. Later versions of the library decode these bytes.
    ///
    /// ```
    /// use forum_api::model::{Timestamp, UserId};
    /// use forum_api::token::{Lookup, SecretDigest, TokenRecord};
    ///
    /// let record = TokenRecord {
    ///     lookup: Lookup::parse("0123456789abcdEF").unwrap(),
    ///     digest: SecretDigest::new([7; 32]),
    ///     owner: UserId::from(3),
    ///     label: String::new(),
    ///     scopes: ["forums:read".to_owned()].into(),
    ///     created_at: Timestamp::from_millis(0),
    ///     expires_at: None,
    ///     revoked_at: None,
    ///     last_used_at: None,
    /// };
    /// assert_eq!(TokenRecord::from_bytes(&record.to_bytes()), Ok(record));
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self {
            lookup,
            digest,
            owner,
            label,
            scopes,
            created_at,
            expires_at,
            revoked_at,
            last_used_at,
        } = self;
        let fields = json!({
            "created_at": created_at.as_millis(),
            "digest": base16ct::lower::encode_string(digest.as_bytes()),
            "expires_at": expires_at.map(Timestamp::as_millis),
            "label": label,
            "last_used_at": last_used_at.map(Timestamp::as_millis),
            "lookup": lookup.as_str(),
            "owner": owner,
            "revoked_at": revoked_at.map(Timestamp::as_millis),
            "scopes": &**scopes,
        });
        fields.to_string().into_bytes()
    }

    /// Decodes the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`ParseError`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let malformed = ParseError::new("the bytes of a token record");
        let fields: Fields = serde_json::from_slice(bytes).map_err(|_| malformed)?;
        let mut digest = [0; 32];
        match base16ct::lower::decode(&fields.digest, &mut digest) {
            Ok(decoded) if decoded.len() == 32 => {}
            _ => return Err(malformed),
        }
        Ok(Self {
            lookup: Lookup::parse(&fields.lookup)?,
            digest: SecretDigest::new(digest),
            owner: UserId::parse(&fields.owner)?,
            label: fields.label,
            scopes: fields.scopes.into(),
            created_at: Timestamp::from_millis(fields.created_at),
            expires_at: fields.expires_at.map(Timestamp::from_millis),
            revoked_at: fields.revoked_at.map(Timestamp::from_millis),
            last_used_at: fields.last_used_at.map(Timestamp::from_millis),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of version 0.1.
    const RECORDED: &str = r#"{"created_at":-1,"digest":"0707070707070707070707070707070707070707070707070707070707070707","expires_at":2,"label":"é\"","last_used_at":null,"lookup":"0123456789abcdEF","owner":"a_Member-01","revoked_at":3,"scopes":["forums:read","x:y"]}"#;

    #[test]
    fn recorded_bytes_are_decoded_and_encoded() {
        let record = TokenRecord {
            lookup: Lookup::parse("0123456789abcdEF").unwrap(),
            digest: SecretDigest::new([7; 32]),
            owner: UserId::parse("a_Member-01").unwrap(),
            label: "é\"".into(),
            scopes: ["forums:read".to_owned(), "x:y".to_owned()].into(),
            created_at: Timestamp::from_millis(-1),
            expires_at: Some(Timestamp::from_millis(2)),
            revoked_at: Some(Timestamp::from_millis(3)),
            last_used_at: None,
        };
        assert_eq!(
            TokenRecord::from_bytes(RECORDED.as_bytes()).as_ref(),
            Ok(&record)
        );
        assert_eq!(String::from_utf8(record.to_bytes()).unwrap(), RECORDED);
    }

    #[test]
    fn malformed_bytes_are_rejected() {
        for (former, malformed) in [
            ("0707", "07"),
            ("0123456789abcdEF", "0123456789abcdE"),
            ("\"owner\":\"a_Member-01\",", ""),
            ("a_Member-01", "a member"),
            ("}", ""),
        ] {
            let bytes = RECORDED.replacen(former, malformed, 1);
            assert!(
                TokenRecord::from_bytes(bytes.as_bytes()).is_err(),
                "{bytes}"
            );
        }
    }
}
