//! The guide: embedding the API in a forum, chapter by chapter. Every example compiles.
//!
//! The chapters are in reading order. [`clustering`] and [`observability`] are also for operators;
//! `docs/operating.md` in the repository describes the operation of the example server.
//!
//! | chapter | content |
//! |---|---|
//! | [`getting_started`] | Implementing the API step by step: authorizer, lists, writes, errors, search, `main`. |
//! | [`request_lifecycle`] | The steps of a request before and after the board's code. |
//! | [`resources`] | Values for fields that a board does not have. |
//! | [`existing_boards`] | The API on an existing board: commands, ids, order, indexes, permissions, and differing fields. |
//! | [`custom_operations`] | Operations, scopes and body fields that only this board has. |
//! | [`board_rules`] | What the rules for boards have in common: permissions, states of content, events. |
//! | [`testing`] | The in-process client and the conformance suite. |
//! | [`mounting`] | axum, hyper and other servers, proxies, CORS, compression, settings. |
//! | [`mcp`] | The API as tools for language models. |
//! | [`stores`] | Tokens, rate limits, idempotency keys and webhooks in memory, SQLite, Postgres and Redis. |
//! | [`outbox`] | Writing events in the board's own transactions. |
//! | [`without_sql`] | Events of a board whose transactions cannot write to the library's tables. |
//! | [`webhooks`] | Sending deliveries, managing endpoints, verifying signatures. |
//! | [`clustering`] | Several servers and workers on one Postgres and one Redis: failures, restores, upgrades. |
//! | [`observability`] | Traces, log lines, metrics, health checks, alerts. |
//! | [`performance`] | Cost of a request, and recommendations for a host. |
//! | [`protocol`] | The behaviour of the HTTP API and of the webhooks. The documentation refers to its sections. |
//! | [`semver`] | Versions, additions that do not break a host, exhaustive types, supported Rust versions. |
//!
//! Read the first sections of [`getting_started`] to run a first program, then [`testing`]. While you implement the
//! methods, use the module [`rules`](crate::conformance::rules) as a reference. `examples/existing_board` in the
//! repository adds the API to a board with its own tables, pages and forms; `examples/server` is a complete board.
//!
// The chapters name items and chapters as code. With these definitions rustdoc checks the names.
#![doc = include_str!("links.txt")]

/// Shows a file that `tests/mounts` or `tests/sqlx` compiles: its crates are no dependencies of this crate.
macro_rules! code {
    ($name:literal) => {
        concat!(
            "### `",
            $name,
            ".rs`\n\n```rust,ignore\n",
            include_str!(concat!("code/", $name, ".rs")),
            "```\n"
        )
    };
}

#[doc = include_str!("getting_started.md")]
pub mod getting_started {}

#[doc = include_str!("request_lifecycle.md")]
pub mod request_lifecycle {}

#[doc = include_str!("resources.md")]
pub mod resources {}

#[doc = include_str!("existing_boards.md")]
///
/// # Code of the transactions
///
#[doc = code!("diesel")]
pub mod existing_boards {}

#[doc = include_str!("custom_operations.md")]
pub mod custom_operations {}

#[doc = include_str!("board_rules.md")]
pub mod board_rules {}

#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("mounting.md")]
///
/// # Code of the adapters
///
#[doc = code!("axum_0_7")]
#[doc = code!("hyper")]
#[doc = code!("hyper_0_14")]
#[doc = code!("actix_web")]
#[doc = code!("rocket")]
#[doc = code!("poem")]
#[doc = code!("salvo")]
#[doc = code!("warp")]
#[doc = code!("lambda_http")]
#[doc = code!("unix_socket")]
pub mod mounting {}

#[doc = include_str!("mcp.md")]
pub mod mcp {}

#[doc = include_str!("stores.md")]
///
/// # Code of the drivers
///
#[doc = code!("sqlx")]
#[doc = code!("sqlx_migrator")]
#[doc = code!("sea_orm")]
#[doc = code!("diesel_async")]
pub mod stores {}

#[doc = include_str!("outbox.md")]
pub mod outbox {}

#[doc = include_str!("without_sql.md")]
pub mod without_sql {}

#[doc = include_str!("webhooks.md")]
///
#[doc = include_str!("receivers.md")]
pub mod webhooks {}

#[doc = include_str!("clustering.md")]
pub mod clustering {}

#[doc = include_str!("observability.md")]
pub mod observability {}

#[doc = include_str!("performance.md")]
pub mod performance {}

#[doc = include_str!("../../docs/protocol.md")]
pub mod protocol {}

#[doc = include_str!("semver.md")]
pub mod semver {}
