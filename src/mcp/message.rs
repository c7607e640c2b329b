//! Messages of JSON-RPC 2.0.

use std::borrow::Cow;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Text of the error of a string with half of a surrogate pair.
pub(super) const HALF_PAIR: &str = "the message has half of a surrogate pair in a text";

/// A message of the client.
#[derive(serde::Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    pub(super) jsonrpc: Cow<'a, str>,
    /// `None` for a notification. It can be an invalid value.
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
}

/// Parameters of the methods that the server knows.
#[derive(Default, serde::Deserialize)]
pub(super) struct Params<'a> {
    /// Name of a tool.
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// Arguments of a tool.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
    /// Version that `initialize` requests.
    #[serde(borrow, default, rename = "protocolVersion")]
    pub(super) protocol_version: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "_meta")]
    pub(super) meta: Meta<'a>,
}

/// Metadata of a request.
#[derive(Default, serde::Deserialize)]
pub(super) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(super) protocol_version: Option<Cow<'a, str>>,
    #[serde(default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(super) client_capabilities: Option<IgnoredAny>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// Returns `true` if a JSON value is an object.
pub(super) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

impl Message<'_> {
    /// Returns `true` if the id is a string or a number.
    pub(super) fn has_valid_id(&self) -> bool {
        let first = self.id.and_then(|id| id.get().bytes().next());
        first.is_some_and(|byte| byte == b'"' || byte == b'-' || byte.is_ascii_digit())
    }
}

/// Error of JSON-RPC or of the protocol.
#[derive(Clone, Debug)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Value>,
}

impl RpcError {
    pub(super) const PARSE_ERROR: i32 = -32700;
    pub(super) const INVALID_REQUEST: i32 = -32600;
    pub(super) const METHOD_NOT_FOUND: i32 = -32601;
    pub(super) const INVALID_PARAMS: i32 = -32602;
    pub(super) const HEADER_MISMATCH: i32 = -32020;
    pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

    pub(super) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Returns the response with this error. The id is null if the request has none.
    pub(super) fn response(&self, id: Option<&RawValue>) -> Bytes {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Some(error)) = (&self.data, error.as_object_mut()) {
            error.insert("data".into(), data.clone());
        }
        respond(id, "error", error.to_string().as_bytes())
    }
}

/// Returns the response with this result, which is JSON.
pub(super) fn result(id: &RawValue, result: &[u8]) -> Bytes {
    respond(Some(id), "result", result)
}

fn respond(id: Option<&RawValue>, name: &str, value: &[u8]) -> Bytes {
    let id = id.map_or("null", RawValue::get);
    let begin = begin_response(id, name);
    [begin.as_bytes(), value, b"}"].concat().into()
}

fn begin_response(id: &str, name: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":"#)
}

/// Returns the response with the result of a tool call: the body of the API's response as text, and as JSON if it is an
/// object. An empty body becomes an empty object.
pub(super) fn tool_result(id: &RawValue, body: &[u8], is_error: bool, more: &str) -> Bytes {
    let body = str::from_utf8(body).ok().filter(|json| !json.is_empty()).unwrap_or("{}");
    // The text contains the body with escapes: a tenth more than the body.
    let mut response = Vec::with_capacity(body.len() * 2 + body.len() / 8 + 256);
    response.extend_from_slice(begin_response(id.get(), "result").as_bytes());
    response.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut response, body);
    response.extend_from_slice(b"}]");
    if body.starts_with('{') {
        response.extend_from_slice(br#","structuredContent":"#);
        response.extend_from_slice(body.as_bytes());
    }
    response.extend_from_slice(format!(r#","isError":{is_error}{more}}}}}"#).as_bytes());
    // A slow client can keep the response for long.
    response.shrink_to_fit();
    response.into()
}
