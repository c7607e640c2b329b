//! What serving prints to standard output once it listens.

use std::fmt;

use forum_api::token::PlainToken;
use serde::Serialize;

use crate::front::{DOCS, MOUNT, PANEL};

/// Where the server is reached, and how to begin.
#[derive(Debug)]
pub struct Greeting {
    /// The address in front of all paths.
    pub base_url: String,
    /// What only a new board gives.
    pub new: Option<New>,
}

/// The keys of a new board.
#[derive(Debug)]
pub struct New {
    /// The administrator's password, if it was made here.
    pub password: Option<String>,
    /// What the demo board can be tried with.
    pub trial: Option<Try>,
}

/// A way into the demo board.
#[derive(Debug)]
pub struct Try {
    /// A token with all scopes.
    pub token: PlainToken,
    /// Whose token it is.
    pub owner: &'static str,
    /// A thread in which its owner may post.
    pub thread: i64,
}

/// The greeting as an object: null where there is nothing.
#[derive(Serialize)]
pub struct Keys<'a> {
    api: String,
    docs: String,
    panel: String,
    user: &'static str,
    password: Option<&'a str>,
    token: Option<&'a str>,
}

/// The administrator's name.
pub const ADMIN: &str = "admin";

impl Greeting {
    /// The greeting for programs.
    pub fn keys(&self) -> Keys<'_> {
        let new = self.new.as_ref();
        Keys {
            api: self.api(),
            docs: self.docs(),
            panel: self.panel(),
            user: ADMIN,
            password: new.and_then(|new| new.password.as_deref()),
            token: new
                .and_then(|new| new.trial.as_ref())
                .map(|trial| trial.token.reveal()),
        }
    }

    fn api(&self) -> String {
        format!("{}{MOUNT}", self.base_url)
    }

    fn docs(&self) -> String {
        format!("{}{DOCS}", self.base_url)
    }

    fn panel(&self) -> String {
        format!("{}{PANEL}", self.base_url)
    }
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api, base_url) = (self.api(), &self.base_url);
        writeln!(f, "API       {api}")?;
        writeln!(f, "docs      {}", self.docs())?;
        writeln!(f, "document  {api}/openapi.json")?;
        writeln!(f, "panel     {}", self.panel())?;
        writeln!(f, "health    {base_url}/health")?;
        let Some(new) = &self.new else { return Ok(()) };
        let shown = new.password.as_deref().unwrap_or("as it was given");
        writeln!(f, "log-in    {ADMIN}, password {shown}")?;
        new.trial.iter().try_for_each(|trial| trial.print(&api, f))
    }
}

impl Try {
    fn print(&self, api: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (token, posts) = (
            self.token.reveal(),
            format!("{api}/threads/{}/posts", self.thread),
        );
        writeln!(f, "token     {token} ({}, all scopes)", self.owner)?;
        writeln!(f, "\nThey are shown this once. Try:\n")?;
        writeln!(f, "curl {api}/forums")?;
        writeln!(f, "curl {posts}")?;
        let (header, json) = ("authorization: Bearer", "content-type: application/json");
        let body = r#"{"body":"Hello from the *API*."}"#;
        writeln!(
            f,
            "curl -H '{header} {token}' -H '{json}' -d '{body}' {posts}"
        )
    }
}
