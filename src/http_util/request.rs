//! Requests: original URI, paths and body.

use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri};
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::build_error::BuildError;
use crate::host::BoxError;
use crate::mask_secrets::mask_secrets;

/// Finds the original URI of a request whose path prefix a router removed.
pub(crate) type OriginalUri = dyn Fn(&Parts) -> Option<&Uri> + Send + Sync;

/// Returns the default [`OriginalUri`]: the URI of the request is the original one.
pub(crate) fn no_original_uri() -> Box<OriginalUri> {
    Box::new(|_| None)
}

/// Replaces the URI of a request by the original one.
pub(crate) fn restore_uri(head: &mut Parts, original_uri: &OriginalUri) {
    if let Some(original) = original_uri(head).cloned() {
        head.uri = original;
    }
}

/// Checks that the base path is a path as clients send it, and removes the slashes at its end.
pub(crate) fn parse_base_path(
    setting: &'static str,
    base_path: &mut String,
    example: &str,
) -> Result<(), BuildError> {
    let path = base_path.parse::<PathAndQuery>();
    let is_path = base_path.starts_with('/') && path.is_ok_and(|path| path.path() == base_path);
    if !is_path {
        let expected =
            format!("a path such as `{example}`, with a leading slash and without a query");
        return Err(BuildError::new(setting, expected));
    }
    base_path.truncate(base_path.trim_end_matches('/').len());
    Ok(())
}

/// Returns the path of a request with secrets masked, for the log. `None` if it has other characters than ids and names
/// of operations have, because it can then contain a text, or is longer than 512 bytes.
pub(crate) fn loggable_path(uri: &Uri) -> Option<String> {
    let path = uri.path();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/@._-".contains(&byte);
    (path.len() <= 512 && path.bytes().all(is_plain)).then(|| mask_secrets(path))
}

/// Returns `true` if a `content-type` is `application/json`, with any parameters.
pub(crate) fn is_json(content_type: &HeaderValue) -> bool {
    let mut parts = content_type.as_bytes().split(|byte| *byte == b';');
    let media_type = parts.next().unwrap_or_default().trim_ascii();
    media_type.eq_ignore_ascii_case(b"application/json")
}

/// Error of [`RequestBody::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body is longer than the limit")]
    TooLong,
    #[error("the body arrived in too many parts")]
    TooManyParts,
    #[error("the body did not arrive completely")]
    Incomplete,
}

/// Number of parts that a body of any length may have, for clients that send each token of a JSON text as a chunk.
const MAX_PARTS: usize = 4096;

/// Number of bytes of a body for which it may have one more part. A full packet on the Internet holds more bytes.
const PART_LEN: usize = 256;

/// Body of a request, before a step reads it.
///
/// The caller of the steps owns it, because a timeout drops the steps: afterwards [`is_reading`](Self::is_reading) shows
/// whether they waited for the client.
pub(crate) struct RequestBody {
    body: UnsyncBoxBody<Bytes, io::Error>,
    /// Length in bytes; `None` if it is unknown before the body is read.
    #[cfg(feature = "mcp")]
    pub(crate) len: Option<u64>,
    is_reading: bool,
}

impl RequestBody {
    pub(crate) fn new<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Data: Buf + Send,
        B::Error: Into<BoxError>,
    {
        #[cfg(feature = "mcp")]
        let len = body.size_hint().exact();
        let copy = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        let body = body.map_frame(move |frame| frame.map_data(copy)).map_err(io::Error::other);
        Self {
            body: body.boxed_unsync(),
            #[cfg(feature = "mcp")]
            len,
            is_reading: false,
        }
    }

    /// Reads the whole body of at most `limit` bytes. Rejects a body in more parts than [`MAX_PARTS`] and one for each
    /// [`PART_LEN`] bytes, because a part of one byte takes as much work as a long one.
    pub(crate) async fn read(&mut self, limit: usize) -> Result<Bytes, BodyError> {
        self.is_reading = true;
        let result = self.read_parts(limit).await;
        self.is_reading = false;
        result
    }

    async fn read_parts(&mut self, limit: usize) -> Result<Bytes, BodyError> {
        let mut parts = 0;
        let mut first = Bytes::new();
        // The bytes of all parts, if there are several. A list of the parts would need more memory than their bytes.
        let mut joined = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| {
                tracing::debug!(%error, "request body incomplete");
                BodyError::Incomplete
            })?;
            let part = frame.into_data().unwrap_or_default();
            let len = first.len().max(joined.len()).saturating_add(part.len());
            parts += 1;
            if len > limit {
                return Err(BodyError::TooLong);
            }
            if parts > MAX_PARTS + len / PART_LEN {
                return Err(BodyError::TooManyParts);
            }
            if first.is_empty() {
                first = part;
            } else {
                if joined.is_empty() {
                    joined.extend_from_slice(&first);
                }
                joined.extend_from_slice(&part);
            }
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// Returns `true` if [`read`](Self::read) waits for the body, or was dropped while it waited.
    pub(crate) fn is_reading(&self) -> bool {
        self.is_reading
    }
}

/// Returns the value of `retry-after`: whole seconds, rounded up, at least 1.
pub(crate) fn retry_after(wait: Duration) -> u128 {
    wait.as_millis().div_ceil(1000).max(1)
}
