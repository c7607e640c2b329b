//! Versions of the protocol, and the results that describe the server.

use std::borrow::Cow;

use http::HeaderMap;
use serde_json::{Value, json};

use super::message::{Meta, Params, RpcError};
use crate::api::BoardDescription;
use crate::api::openapi::info::this_board;

const INSTRUCTIONS: &str = include_str!("instructions.md");

/// Version whose requests describe themselves in `_meta`, without `initialize`.
const MODERN: &str = "2026-07-28";

/// Versions that begin with `initialize`, newest first.
const INITIALIZED: [&str; 3] = ["2025-11-25", "2025-06-18", "2024-11-05"];

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

/// Milliseconds for which a client can keep the list of tools. It depends on the scopes of the token, which do not change.
const TOOLS_TTL: u32 = 300_000;

/// Form of requests and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// The client begins with `initialize`.
    Initialized,
    /// Each request has its version in `_meta`.
    Modern,
}

/// Texts about the server that its results contain.
#[derive(Clone, Debug)]
pub(super) struct Description {
    instructions: String,
    info: Value,
    /// The fields that each result of a request of [`Era::Modern`] has besides its own, as JSON that begins with a comma.
    modern_fields: String,
}

impl Description {
    /// Creates the texts, with those about the board that the OpenAPI document has.
    pub(super) fn new(board: &BoardDescription) -> Self {
        let instructions = INSTRUCTIONS.replace("{board}", &this_board(board));
        let mut info = json!({ "name": "forum-api", "version": env!("CARGO_PKG_VERSION") });
        if let (false, Some(fields)) = (board.name.is_empty(), info.as_object_mut()) {
            fields.insert("title".into(), board.name.as_str().into());
        }
        let meta = json!({ "io.modelcontextprotocol/serverInfo": info });
        Self {
            instructions: instructions.trim_end().to_owned(),
            info,
            modern_fields: format!(r#","resultType":"complete","_meta":{meta}"#),
        }
    }

    /// Returns the fields that each result has besides its own, as JSON that begins with a comma.
    pub(super) fn result_fields(&self, era: Era) -> &str {
        match era {
            Era::Initialized => "",
            Era::Modern => &self.modern_fields,
        }
    }

    /// Returns the fields of a list of tools besides the tools.
    pub(super) fn list_fields(&self, era: Era) -> String {
        match era {
            Era::Initialized => String::new(),
            Era::Modern => {
                format!(r#"{},"ttlMs":{TOOLS_TTL},"cacheScope":"private""#, self.modern_fields)
            }
        }
    }

    /// Returns the result of `initialize`. The version is the requested one, or the newest if the server does not know it.
    pub(super) fn initialize(&self, requested: Option<&Cow<'_, str>>) -> Value {
        let mut known = INITIALIZED.into_iter();
        let [newest, ..] = INITIALIZED;
        json!({
            "protocolVersion": known.find(|version| requested.is_some_and(|one| one == version)).unwrap_or(newest),
            "capabilities": { "tools": {} },
            "serverInfo": self.info,
            "instructions": self.instructions,
        })
    }

    /// Returns the result of `server/discover`.
    pub(super) fn discover(&self) -> Value {
        json!({
            "resultType": "complete",
            "supportedVersions": supported(),
            "capabilities": { "tools": {} },
            "instructions": self.instructions,
            "ttlMs": TOOLS_TTL,
            "cacheScope": "public",
            "_meta": { "io.modelcontextprotocol/serverInfo": self.info },
        })
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Checks the version of a request, and for the newest version that the headers match the message.
pub(super) fn check_version(
    headers: &HeaderMap,
    method: &str,
    params: &Params<'_>,
) -> Result<Era, RpcError> {
    let in_header = header(headers, VERSION_HEADER);
    let Meta { protocol_version, client_capabilities } = &params.meta;
    let in_meta = protocol_version.as_deref();
    // Some clients also send the version that they request in the header.
    if method == "initialize" && in_meta.is_none() {
        return Ok(Era::Initialized);
    }
    if in_header.zip(in_meta).is_some_and(|(one, other)| one != other) {
        return Err(mismatch(VERSION_HEADER));
    }
    if let Some(version) =
        [in_meta, in_header].into_iter().flatten().find(|version| !is_known(version))
    {
        return Err(unsupported(version));
    }
    if in_meta.is_none() && in_header != Some(MODERN) {
        return Ok(Era::Initialized);
    }
    if in_meta != Some(MODERN) || client_capabilities.is_none() {
        let fields = "`_meta` needs `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";
        return Err(RpcError::new(RpcError::INVALID_PARAMS, fields));
    }
    let name = (method == "tools/call").then_some(params.name.as_deref()).flatten();
    for (header_name, expected) in
        [(VERSION_HEADER, in_meta), (METHOD_HEADER, Some(method)), (NAME_HEADER, name)]
    {
        if expected.is_some() && header(headers, header_name) != expected {
            return Err(mismatch(header_name));
        }
    }
    Ok(Era::Modern)
}

fn mismatch(header_name: &str) -> RpcError {
    let message = format!("the header {header_name} does not match the message");
    RpcError::new(RpcError::HEADER_MISMATCH, message)
}

fn is_known(version: &str) -> bool {
    version == MODERN || INITIALIZED.contains(&version)
}

fn supported() -> Vec<&'static str> {
    [MODERN].into_iter().chain(INITIALIZED).collect()
}

fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(64).collect();
    let message = "Unsupported protocol version";
    RpcError {
        data: Some(json!({ "supported": supported(), "requested": requested })),
        ..RpcError::new(RpcError::UNSUPPORTED_VERSION, message)
    }
}
