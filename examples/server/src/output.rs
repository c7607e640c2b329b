//! What a command leaves on standard output and standard error, and its exit status.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use forum_api::host::{Refusal, Result};
use serde::Serialize;
use serde_json::json;

/// What there is to say: to people a text, to programs a JSON value.
#[derive(Debug)]
pub struct Output {
    text: String,
    json: String,
}

impl Output {
    /// To people `text`, to programs `json`.
    pub fn new(text: impl Display, json: impl Serialize) -> Result<Self> {
        let (text, json) = (text.to_string(), serde_json::to_string(&json));
        Ok(Self {
            text,
            json: json.map_err(Refusal::failed)?,
        })
    }

    /// To people a line for each, to programs all in an array.
    pub fn list(all: Vec<impl Display + Serialize>) -> Result<Self> {
        let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
        Self::new(lines.join("\n"), all)
    }

    /// Nothing but that it is done.
    pub fn done() -> Result<Self> {
        Self::done_with("")
    }

    /// That it is done: to people this `text`.
    pub fn done_with(text: impl Display) -> Result<Self> {
        Self::new(text, json!({ "ok": true }))
    }

    /// Says it on standard output.
    pub fn print(&self, as_json: bool) {
        if as_json {
            say(&self.json);
        } else if !self.text.is_empty() {
            say(&self.text.trim_end());
        }
    }
}

/// Says on standard error why something was refused: status 1.
pub fn refuse(refusal: Refusal, as_json: bool) -> ExitCode {
    let reason = sentence(refusal);
    if as_json {
        say(&json!({ "error": reason }));
    }
    drop(writeln!(io::stderr(), "error: {reason}"));
    ExitCode::FAILURE
}

/// That nobody reads it is no failure.
fn say(what: &impl Display) {
    let mut out = io::stdout();
    drop(writeln!(out, "{what}").and_then(|()| out.flush()));
}

fn sentence(refusal: Refusal) -> String {
    match refusal {
        Refusal::Forbidden(text)
        | Refusal::NotFound(text)
        | Refusal::Conflict(text)
        | Refusal::Invalid { message: text, .. }
        | Refusal::TooFast(text, _) => text,
        Refusal::Failed(source) => source.to_string(),
        other => format!("{other:?}"),
    }
}
