//! Bodies: unread until step 7 of the road, and read no further than the limit.

use std::pin::Pin;

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::api::extract::error::Complaint;
use crate::api::extract::value::Node;
use crate::host::BoxError;

/// A body of which nothing has been read.
pub(crate) type Unread<'a> = Pin<&'a mut (dyn Future<Output = Result<Bytes, Complaint>> + Send)>;

/// All of a body, which nothing reads before it is awaited.
pub(crate) async fn whole<B>(body: B, limit: usize) -> Result<Bytes, Complaint>
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    let whole = Limited::new(body, limit).collect().await;
    whole
        .map(|whole| whole.to_bytes())
        .map_err(|error| unreadable(&*error))
}

fn unreadable(error: &(dyn std::error::Error + 'static)) -> Complaint {
    let phrase = if error.is::<LengthLimitError>() {
        "a smaller body"
    } else {
        "a whole body"
    };
    Complaint::expected("body", phrase)
}

/// The bytes of a body that says to be JSON; `reading` is set while they are awaited.
pub(crate) async fn json(
    headers: &HeaderMap,
    body: Unread<'_>,
    reading: &mut bool,
) -> Result<Bytes, Complaint> {
    is_json(headers)?;
    *reading = true;
    let bytes = body.await?;
    *reading = false;
    Ok(bytes)
}

/// Exactly one `content-type`, which says JSON.
fn is_json(headers: &HeaderMap) -> Result<(), Complaint> {
    let mut types = headers
        .get_all(CONTENT_TYPE)
        .iter()
        .map(|value| value.to_str().unwrap_or_default());
    let essence = |value: &str| {
        value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let json = types
        .next()
        .is_some_and(|value| essence(value) == "application/json");
    let single = types.next().is_none();
    (json && single)
        .then_some(())
        .ok_or_else(|| Complaint::expected("content-type", "application/json"))
}

pub(crate) fn parse(body: &[u8]) -> Result<Node<'_>, Complaint> {
    serde_json::from_slice(body).map_err(|_| Complaint::expected("body", "JSON"))
}
