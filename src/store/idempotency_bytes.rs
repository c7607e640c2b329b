//! Encoding of a record of an idempotency key for stores without columns.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{IdempotencyProgress, IdempotencyRecord, ResourceIds, StoredResponse};
use crate::error::ParseError;
use crate::model::{ForumId, PostId, ThreadId, Timestamp};

#[derive(Deserialize)]
struct Fields {
    fingerprint: String,
    started_at: i64,
    has_ended: bool,
    response: Option<Response>,
}

#[derive(Serialize, Deserialize)]
struct Response {
    body: String,
    forum_id: Option<String>,
    location: Option<String>,
    post_id: Option<String>,
    status: u16,
    thread_id: Option<String>,
}

impl IdempotencyRecord {
    /// Encodes the record for a key-value store. Later versions of the library decode these bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let response = match &self.progress {
            IdempotencyProgress::Responded(response) => Some(Response::new(response)),
            IdempotencyProgress::InProgress | IdempotencyProgress::OutcomeUnknown => None,
        };
        let fields = json!({
            "fingerprint": base16ct::lower::encode_string(&self.fingerprint),
            "has_ended": self.progress != IdempotencyProgress::InProgress,
            "response": response,
            "started_at": self.started_at.as_millis(),
        });
        fields.to_string().into_bytes()
    }

    /// Decodes the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`ParseError`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        let malformed = ParseError::new("the bytes of a record of an idempotency key");
        let fields: Fields = serde_json::from_slice(bytes).map_err(|_| malformed)?;
        let mut fingerprint = [0; 32];
        match base16ct::lower::decode(&fields.fingerprint, &mut fingerprint) {
            Ok(decoded) if decoded.len() == 32 => {}
            _ => return Err(malformed),
        }
        let response = fields.response.map(Response::decode).transpose()?;
        Ok(Self {
            fingerprint,
            started_at: Timestamp::from_millis(fields.started_at),
            progress: if fields.has_ended {
                response.into()
            } else {
                IdempotencyProgress::InProgress
            },
        })
    }
}

impl Response {
    fn new(response: &StoredResponse) -> Self {
        let ResourceIds {
            forum_id,
            thread_id,
            post_id,
        } = &response.resource;
        Self {
            status: response.status,
            location: response.location.clone(),
            body: STANDARD.encode(&response.body),
            forum_id: forum_id.as_ref().map(ToString::to_string),
            thread_id: thread_id.as_ref().map(ToString::to_string),
            post_id: post_id.as_ref().map(ToString::to_string),
        }
    }

    fn decode(self) -> Result<StoredResponse, ParseError> {
        let body = STANDARD.decode(self.body);
        Ok(StoredResponse {
            status: self.status,
            location: self.location,
            body: body.map_err(|_| ParseError::new("base64"))?.into(),
            resource: ResourceIds {
                forum_id: self.forum_id.as_deref().map(ForumId::parse).transpose()?,
                thread_id: self.thread_id.as_deref().map(ThreadId::parse).transpose()?,
                post_id: self.post_id.as_deref().map(PostId::parse).transpose()?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_bytes_are_decoded_and_encoded() {
        let response = StoredResponse {
            status: 201,
            location: Some("/posts/40".into()),
            body: "{\"é\":1}".into(),
            resource: ResourceIds {
                forum_id: Some(ForumId::from(2)),
                thread_id: ThreadId::parse("t17").ok(),
                post_id: None,
            },
        };
        for (progress, recorded) in [
            (
                IdempotencyProgress::InProgress,
                r#""has_ended":false,"response":null"#,
            ),
            (
                IdempotencyProgress::OutcomeUnknown,
                r#""has_ended":true,"response":null"#,
            ),
            (
                IdempotencyProgress::Responded(response),
                r#""has_ended":true,"response":{"body":"eyLDqSI6MX0=","forum_id":"2","location":"/posts/40","post_id":null,"status":201,"thread_id":"t17"}"#,
            ),
        ] {
            let record = IdempotencyRecord {
                fingerprint: [0xab; 32],
                started_at: Timestamp::from_millis(-7),
                progress,
            };
            let fingerprint = "ab".repeat(32);
            let recorded =
                format!(r#"{{"fingerprint":"{fingerprint}",{recorded},"started_at":-7}}"#);
            assert_eq!(String::from_utf8(record.to_bytes()).unwrap(), recorded);
            assert_eq!(
                IdempotencyRecord::from_bytes(recorded.as_bytes()),
                Ok(record)
            );
            let short = recorded.replacen("abab", "ab", 1);
            assert!(IdempotencyRecord::from_bytes(short.as_bytes()).is_err());
        }
    }
}
