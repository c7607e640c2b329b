//! Board-specific fields of resources ([protocol](crate::guide::protocol), section 11.3).

use std::any::Any;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::json_schema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::serde_helpers::inline_schema;
use crate::error::BoxError;

/// Additional fields of a resource, as a JSON object of at most 4 KiB.
///
/// A host uses it for board-specific fields, such as the URL of a link thread or the tags of a post. The
/// library sends the object unchanged and does not examine it:
///
/// - It must contain only data that the caller of the request may see.
/// - Webhook events contain the object of the thread or post that the host passes to the constructor of the event.
///   Every member who can see the forum can receive the event, so this object must not contain a field that depends on
///   the caller. Events of deleted posts omit the object.
///
/// # Examples
/// ```
/// use forum_api::model::{Extra, ExtraError};
/// use serde_json::json;
///
/// let extra = Extra::new(json!({"url": "https://example.org/", "score": 12}))?;
/// assert_eq!(extra.get("score"), Some(&json!(12)));
/// assert_eq!(extra, extra.to_string().parse()?);
///
/// assert!(matches!(Extra::new([1, 2]), Err(ExtraError::NotAnObject)));
/// let long = json!({"text": "x".repeat(4096)});
/// assert!(matches!(Extra::new(long), Err(ExtraError::TooLong(4107))));
/// # Ok::<(), ExtraError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Extra(Map<String, Value>);

/// Error of a value that cannot be an [`Extra`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExtraError {
    /// The value has no JSON form, or the text is not JSON.
    #[error("the value cannot be represented as JSON")]
    InvalidJson(#[source] BoxError),
    /// The JSON value is not an object.
    #[error("the value is not a JSON object")]
    NotAnObject,
    /// The object is too long. Holds its length in bytes.
    #[error("the JSON object has {0} bytes, more than {max}", max = Extra::MAX_LEN)]
    TooLong(usize),
}

impl Extra {
    /// Maximum length of the compact JSON text, in bytes.
    pub const MAX_LEN: usize = 4096;

    /// Creates the fields from a value that serialises to a JSON object, such as a struct or a `serde_json::Value`.
    ///
    /// # Errors
    /// - [`ExtraError::InvalidJson`] if the value cannot be serialised, or is nested too deeply to be parsed.
    /// - [`ExtraError::NotAnObject`] if it serialises to another JSON value.
    /// - [`ExtraError::TooLong`] if the object has more than [`MAX_LEN`](Self::MAX_LEN) bytes.
    pub fn new(fields: impl Serialize) -> Result<Self, ExtraError> {
        let text = serde_json::to_string(&fields).map_err(invalid_json)?;
        text.parse()
    }

    /// Returns the value of a field; `None` if the object does not have it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

/// Parses the text of a JSON object. White space does not count towards the length.
impl FromStr for Extra {
    type Err = ExtraError;

    fn from_str(text: &str) -> Result<Self, ExtraError> {
        let value = serde_json::from_str(text).map_err(invalid_json)?;
        let Value::Object(fields) = value else {
            return Err(ExtraError::NotAnObject);
        };
        let extra = Self(fields);
        match extra.to_string().len() {
            0..=Self::MAX_LEN => Ok(extra),
            len => Err(ExtraError::TooLong(len)),
        }
    }
}

fn invalid_json(error: serde_json::Error) -> ExtraError {
    ExtraError::InvalidJson(error.into())
}

/// Writes the compact JSON text.
impl fmt::Display for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.0).map_err(|_| fmt::Error)?)
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        Self::new(fields).map_err(D::Error::custom)
    }
}

inline_schema!(
    Extra,
    json_schema!({
        "type": "object",
        "additionalProperties": true,
        "examples": [json!({ "url": "https://example.org/", "score": 12 })],
    })
);

/// Fields of the host in the body of a request, decoded into the type that the host registered with
/// [`ForumApiBuilder::extra`](crate::ForumApiBuilder::extra).
///
/// `Debug` prints only the name of this type, because the fields can contain a message.
#[derive(Clone)]
pub struct BodyExtra(Arc<dyn Any + Send + Sync>);

impl BodyExtra {
    /// Creates the fields, so that a host's web form can run the same command as the API.
    pub fn new<T: Send + Sync + 'static>(fields: T) -> Self {
        Self(Arc::new(fields))
    }

    /// Returns the fields; `None` if the host registered another type.
    pub fn downcast_ref<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

opaque_debug!(BodyExtra);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_at_most_4096_bytes_of_compact_json() {
        let with = |len: usize| Extra::new(json!({ "a": "x".repeat(len - 8) }));
        assert_eq!(with(4096).unwrap().to_string().len(), 4096);
        assert!(matches!(with(4097), Err(ExtraError::TooLong(4097))));
        let spaces = format!("{{{}}}", " ".repeat(5000));
        assert_eq!(spaces.parse::<Extra>().unwrap().to_string(), "{}");
    }

    #[test]
    fn other_values_are_rejected() {
        for text in ["null", "true", "1", "\"a\"", "[]"] {
            let error = text.parse::<Extra>().unwrap_err();
            assert!(matches!(error, ExtraError::NotAnObject), "{text}: {error}");
        }
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "{} {}", "{\"a\":}", &deep] {
            let error = text.parse::<Extra>().unwrap_err();
            let is_invalid = matches!(error, ExtraError::InvalidJson(_));
            assert!(is_invalid, "{text}: {error}");
        }
        let keys = std::collections::BTreeMap::from([([1, 2], 3)]);
        assert!(matches!(Extra::new(keys), Err(ExtraError::InvalidJson(_))));
    }

    #[test]
    fn deserialization_applies_the_same_checks() {
        let parse = |text: &str| serde_json::from_str::<Extra>(text).ok();
        assert_eq!(parse("{\"a\":1}"), Extra::new(json!({ "a": 1 })).ok());
        assert_eq!(parse("[]"), None);
        assert_eq!(parse(&format!("{{\"a\":\"{}\"}}", "x".repeat(4096))), None);
    }
}
