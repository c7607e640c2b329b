//! Bodies: unread until step 7 of the pipeline, and read no further than the limit.

use std::pin::Pin;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::error::InputError;
use super::value::InputValue;
use crate::http_util::BodyError;
use crate::model::Expected;

/// A body of which nothing has been read.
pub(crate) type LazyBody<'a> = Pin<&'a mut (dyn Future<Output = Result<Bytes, BodyError>> + Send)>;

impl From<BodyError> for InputError {
    fn from(error: BodyError) -> Self {
        let expected = match error {
            BodyError::TooLong => Expected::SmallerBody,
            BodyError::Incomplete => Expected::CompleteBody,
        };
        Self::expected("body", expected)
    }
}

/// Checks that there is exactly one `content-type`, and that it is JSON.
pub(crate) fn require_json(headers: &HeaderMap) -> Result<(), InputError> {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let first = types.next().and_then(|value| value.to_str().ok());
    let essence = first.and_then(|value| value.split(';').next());
    let is_json =
        essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    if is_json && types.next().is_none() {
        return Ok(());
    }
    Err(InputError::expected("content-type", Expected::JsonType))
}

pub(crate) fn parse(body: &[u8]) -> Result<InputValue<'_>, InputError> {
    serde_json::from_slice(body).map_err(|_| InputError::expected("body", Expected::Json))
}
