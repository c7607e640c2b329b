//! Startup message of `serve` on stdout: addresses, sign-in data and example calls.

use std::fmt;

use forum_api::token::PlainToken;
use serde::Serialize;

use crate::http::paths::{API, DOCS, MCP, PANEL};

/// Name of the administrator.
pub const ADMIN: &str = "admin";

/// Addresses of the server, and the sign-in data of a new board.
#[derive(Debug)]
pub struct StartupBanner {
    /// URL to which paths are appended.
    pub base_url: String,
    /// URL to which `/metrics` and `/health` are appended.
    pub monitor_url: String,
    /// `true` if the server serves [`MCP`].
    pub has_mcp: bool,
    /// URL of the database without its password.
    pub database: String,
    /// Present for a new board only.
    pub new: Option<NewBoard>,
}

/// Sign-in data of a new board.
#[derive(Debug)]
pub struct NewBoard {
    /// The administrator's password, if it was generated.
    pub password: Option<String>,
    /// Present for the demo board only.
    pub example_calls: Option<ExampleCalls>,
}

/// Data for the first calls of the demo board's API.
#[derive(Debug)]
pub struct ExampleCalls {
    /// A token with all scopes.
    pub token: PlainToken,
    /// Name of its owner.
    pub owner: &'static str,
    /// A thread in which the owner may reply.
    pub thread: i64,
}

/// The output of `serve --json`.
#[derive(Serialize)]
pub struct StartupInfo<'a> {
    api: String,
    docs: String,
    panel: String,
    user: &'static str,
    password: Option<&'a str>,
    token: Option<&'a str>,
}

impl StartupBanner {
    /// Returns the output of `serve --json`.
    pub fn info(&self) -> StartupInfo<'_> {
        let new = self.new.as_ref();
        let calls = new.and_then(|new| new.example_calls.as_ref());
        StartupInfo {
            api: self.at(API),
            docs: self.at(DOCS),
            panel: self.at(PANEL),
            user: ADMIN,
            password: new.and_then(|new| new.password.as_deref()),
            token: calls.map(|calls| calls.token.expose_secret()),
        }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

impl fmt::Display for StartupBanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let api = self.at(API);
        writeln!(f, "forum     {}", self.at("/"))?;
        writeln!(f, "API       {api}/forums")?;
        writeln!(f, "docs      {}", self.at(DOCS))?;
        writeln!(f, "OpenAPI   {api}/openapi.json")?;
        if self.has_mcp {
            writeln!(f, "MCP       {}, for assistants and agents", self.at(MCP))?;
        }
        writeln!(f, "panel     {}", self.at(PANEL))?;
        writeln!(f, "health    {}/health", self.monitor_url)?;
        writeln!(f, "metrics   {}/metrics", self.monitor_url)?;
        writeln!(f, "data      {}", self.database)?;
        writeln!(f, "stop      Ctrl-C")?;
        let Some(new) = &self.new else {
            return writeln!(
                f,
                "sign-in   {ADMIN}, with the password of the first start; `forum-server member password {ADMIN}` sets a new one"
            );
        };
        let password = new.password.as_deref().unwrap_or("from standard input");
        writeln!(f, "sign-in   {ADMIN}, password {password}")?;
        let Some(calls) = &new.example_calls else {
            return match new.password {
                Some(_) => writeln!(f, "\nThe password is not shown again."),
                None => Ok(()),
            };
        };
        let token = calls.token.expose_secret();
        let posts = format!("{api}/threads/{}/posts", calls.thread);
        writeln!(f, "token     {token} ({}, all scopes)", calls.owner)?;
        writeln!(f, "\nThe sign-in data and the token are not shown again. Try:\n")?;
        writeln!(f, "curl {api}/forums")?;
        writeln!(f, "curl {posts}")?;
        writeln!(
            f,
            "curl -H 'authorization: Bearer {token}' -H 'content-type: application/json' \
             -d '{{\"body\":\"Hello from the *API*.\"}}' {posts}"
        )
    }
}

#[cfg(test)]
mod tests {
    use forum_api::runtime::OsRandom;
    use serde_json::json;

    use super::*;

    fn banner(new: Option<NewBoard>) -> StartupBanner {
        StartupBanner {
            base_url: "https://board.example".into(),
            monitor_url: "http://127.0.0.1:9090".into(),
            has_mcp: new.is_none(),
            database: "/var/lib/forum.db".into(),
            new,
        }
    }

    #[test]
    fn the_second_start_says_how_to_sign_in() {
        let lines = "\
forum     https://board.example/
API       https://board.example/api/v1/forums
docs      https://board.example/docs
OpenAPI   https://board.example/api/v1/openapi.json
MCP       https://board.example/mcp, for assistants and agents
panel     https://board.example/panel
health    http://127.0.0.1:9090/health
metrics   http://127.0.0.1:9090/metrics
data      /var/lib/forum.db
stop      Ctrl-C
sign-in   admin, with the password of the first start; `forum-server member password admin` sets a new one
";
        assert_eq!(banner(None).to_string(), lines);
    }

    #[test]
    fn the_first_start_shows_the_sign_in_data() {
        let lines = "\
forum     https://board.example/
API       https://board.example/api/v1/forums
docs      https://board.example/docs
OpenAPI   https://board.example/api/v1/openapi.json
panel     https://board.example/panel
health    http://127.0.0.1:9090/health
metrics   http://127.0.0.1:9090/metrics
data      /var/lib/forum.db
stop      Ctrl-C
";
        let given = "sign-in   admin, password from standard input\n";
        let generated = "sign-in   admin, password hunter22\n";
        let once = "\nThe password is not shown again.\n";
        for (password, sign_in, end) in [(None, given, ""), (Some("hunter22"), generated, once)] {
            let password = password.map(str::to_owned);
            let token = PlainToken::generate(&OsRandom).unwrap();
            let secret = token.expose_secret().to_owned();
            let empty = NewBoard { password: password.clone(), example_calls: None };
            assert_eq!(banner(Some(empty)).to_string(), format!("{lines}{sign_in}{end}"));
            let calls = ExampleCalls { token, owner: "alice", thread: 7 };
            let demo = NewBoard { password: password.clone(), example_calls: Some(calls) };
            let shown = banner(Some(demo));
            let calls = format!(
                "\
token     {secret} (alice, all scopes)

The sign-in data and the token are not shown again. Try:

curl https://board.example/api/v1/forums
curl https://board.example/api/v1/threads/7/posts
curl -H 'authorization: Bearer {secret}' -H 'content-type: application/json' \
-d '{{\"body\":\"Hello from the *API*.\"}}' https://board.example/api/v1/threads/7/posts
"
            );
            assert_eq!(shown.to_string(), format!("{lines}{sign_in}{calls}"));
            let info = serde_json::to_value(shown.info()).unwrap();
            let expected = json!({
                "api": "https://board.example/api/v1",
                "docs": "https://board.example/docs",
                "panel": "https://board.example/panel",
                "user": "admin",
                "password": password,
                "token": secret,
            });
            assert_eq!(info, expected);
        }
    }
}
