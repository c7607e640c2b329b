//! What serving prints to standard output once it listens.

use std::fmt;

use forum_api::token::PlainToken;
use serde::Serialize;

use crate::front::MOUNT;

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
    /// The administrator's password.
    pub password: String,
    /// A token with all scopes.
    pub token: PlainToken,
    /// Whose token it is.
    pub owner: &'static str,
    /// A thread in which its owner may post.
    pub thread: Option<i64>,
}

/// The greeting as an object: null where there is nothing.
#[derive(Serialize)]
pub struct Keys<'a> {
    api: String,
    docs: (),
    panel: (),
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
            docs: (),
            panel: (),
            user: ADMIN,
            password: new.map(|new| new.password.as_str()),
            token: new.map(|new| new.token.reveal()),
        }
    }

    fn api(&self) -> String {
        format!("{}{MOUNT}", self.base_url)
    }
}

impl fmt::Display for Greeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api, base_url) = (self.api(), &self.base_url);
        writeln!(f, "API       {api}")?;
        writeln!(f, "document  {api}/openapi.json")?;
        writeln!(f, "health    {base_url}/health")?;
        self.new.iter().try_for_each(|new| new.print(&api, f))
    }
}

impl New {
    fn print(&self, api: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.reveal();
        writeln!(f, "log-in    {ADMIN}, password {}", self.password)?;
        writeln!(f, "token     {token} ({}, all scopes)", self.owner)?;
        writeln!(f, "\nBoth are shown this once. Try:\n")?;
        let authorization = format!("-H 'authorization: Bearer {token}'");
        writeln!(f, "curl {api}/forums")?;
        match self.thread {
            Some(thread) => {
                let posts = format!("{api}/threads/{thread}/posts");
                writeln!(f, "curl {posts}")?;
                writeln!(
                    f,
                    "curl {authorization} -H 'content-type: application/json' -d '{{\"body\":\"Hello from the *API*.\"}}' {posts}"
                )
            }
            None => {
                writeln!(f, "curl {authorization} {api}/me")?;
                writeln!(f, "curl {api}/openapi.json")
            }
        }
    }
}
