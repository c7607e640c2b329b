//! Options of the server, of workers and of every command.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use clap::{Args, ValueEnum};
use forum_api::{IpNet, scope};
use http::HeaderValue;

use super::values::{
    base_url, color, count, database, delay, listen_address, network, number, origin, seconds,
    whole,
};
use super::webhooks::{RetryOptions, WEBHOOKS, WebhookOptions};

/// Name of a board without the option `--board-name`.
pub const DEFAULT_BOARD_NAME: &str = "Forum";

/// Heading of the options that several commands share.
pub const COMMON_OPTIONS: &str = "Common options";

const BOARD: &str = "Board";
const DATABASE: &str = "Database";
const LIMITS: &str = "Limits";
const LISTENING: &str = "Listening";
const SECURITY: &str = "Security";

/// Program and version.
pub const NODE: &str = concat!("forum-server/", env!("CARGO_PKG_VERSION"));

/// Maximum length of a host name in the name of a node. Postgres cuts the names of connections at 63 bytes.
const MAX_HOST_LEN: usize = 30;

/// Returns the name of this server or worker, which Postgres shows for its connections: program, version, host and
/// process, for example `forum-server/0.1.0 web1/4711`.
pub fn node_name() -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name_of_node(&host, process::id())
}

fn name_of_node(host: &str, process: u32) -> String {
    let printable =
        host.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.'));
    let host: String = printable.take(MAX_HOST_LEN).collect();
    format!("{NODE} {host}/{process}")
}

/// Options of every command. Help shows them after the other options of the heading.
#[derive(Debug, Args)]
#[command(next_help_heading = COMMON_OPTIONS)]
pub struct Common {
    /// Database: a path, sqlite:PATH, sqlite::memory: or a postgres:// URL
    #[arg(
        short,
        long,
        global = true,
        display_order = 1001,
        value_name = "URL",
        default_value = "sqlite:forum.db",
        value_parser = database
    )]
    pub database: String,
    /// TOML file with values for the options of `serve`
    ///
    /// Other commands use the values of the options that they share with `serve`. Environment variables such as
    /// FORUM_TOKEN_BUDGET set the same options.
    #[arg(short, long, global = true, display_order = 1002, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print one JSON value instead of text
    #[arg(long, global = true, display_order = 1003)]
    pub json: bool,
}

/// Address of a server.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = LISTENING)]
pub struct ServerAddress {
    /// Address and port to listen on; a port without an address is a port of 127.0.0.1; port 0 picks a free port
    #[arg(short, long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen_address)]
    pub listen: SocketAddr,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub address: ServerAddress,
    #[command(flatten)]
    pub admin: AdminOptions,
    #[command(flatten)]
    pub drain: DrainOptions,
    /// Time after SIGTERM or SIGHUP in which requests are still served, /ready is 503 and each response closes its connection; a
    /// second signal ends it early
    #[arg(help_heading = LISTENING, long, value_name = "SECONDS", default_value = "0", value_parser = delay)]
    pub drain_delay: Duration,
    /// Public URL of the server, without a path [default: http:// and the address of --listen]
    #[arg(help_heading = LISTENING, long, value_name = "URL", value_parser = base_url)]
    pub base_url: Option<String>,
    #[command(flatten)]
    pub connections: DatabaseOptions,
    /// URL of a read replica of the Postgres of --database, with one host; repeatable; each gets as many connections as
    /// --database
    #[arg(help_heading = DATABASE, long, value_name = "URL")]
    pub database_replica: Vec<String>,
    /// Create a new board without demo content: with groups and the administrator only; ignored if the database already
    /// contains a board
    #[arg(help_heading = DATABASE, long)]
    pub empty: bool,
    /// Rate limit of each token, in units per window; an operation costs 1 to 10 units
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "600", value_parser = number)]
    pub token_budget: u32,
    /// Rate limit of requests without a token, in units per window and address prefix
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "120", value_parser = number)]
    pub guest_budget: u32,
    /// Length of the rate limit window in seconds
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", default_value = "300", value_parser = number)]
    pub window: u32,
    /// Redis URL for rate limits shared by several servers: redis://…, redis+sentinel://HOST,…/MASTER,
    /// redis+cluster://HOST,…, or rediss… with TLS; if Redis is unreachable, each server applies the limits on its own
    #[arg(help_heading = LIMITS, long, value_name = "URL")]
    pub redis: Option<String>,
    /// Time limit of a request to Redis
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", default_value = "0.25", value_parser = seconds)]
    pub redis_timeout: Duration,
    /// Maximum number of open connections, at most 1000000; further connections wait; the server lowers the number if
    /// it cannot open enough files
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "10000", value_parser = count)]
    pub max_connections: usize,
    /// Maximum number of open connections of one address, or of one IPv6 prefix of 64 bits, except of trusted proxies;
    /// further connections are closed; 0 is no limit
    #[arg(help_heading = LIMITS, long, value_name = "N", default_value = "256", value_parser = whole::<0, 1_000_000, usize>)]
    pub max_connections_per_address: usize,
    /// Time limit of a request to the API
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub request_timeout: Duration,
    /// Time limit for a client to send a request head, and to read the next part of a response
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub client_timeout: Duration,
    /// Time for which a connection stays open between two requests; a proxy must close its idle connections earlier, or
    /// it loses requests
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", default_value = "75", value_parser = seconds)]
    pub idle_timeout: Duration,
    #[command(flatten)]
    pub webhooks: WebhookOptions,
    #[command(flatten)]
    pub retries: RetryOptions,
    /// Do not send webhooks from this process
    #[arg(help_heading = WEBHOOKS, long)]
    pub no_worker: bool,
    /// Proxies whose x-forwarded-for header is trusted
    #[arg(help_heading = SECURITY, long, value_name = "CIDR,…", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// Origin allowed to call the API from a browser, or * for any; repeatable
    #[arg(help_heading = SECURITY, long, value_name = "ORIGIN", value_parser = origin)]
    pub cors_origin: Vec<HeaderValue>,
    /// Read the administrator's password for a new database from the first line of standard input (at least 8
    /// characters) [default: generate and print one]
    #[arg(help_heading = SECURITY, long)]
    pub admin_password_stdin: bool,
    /// Name of the board, on its pages, in the OpenAPI document and for assistants
    #[arg(help_heading = BOARD, long, value_name = "NAME", default_value = DEFAULT_BOARD_NAME)]
    pub board_name: String,
    /// Accent colour of the pages, as #rrggbb
    #[arg(help_heading = BOARD, long, value_name = "COLOR", value_parser = color)]
    pub accent_color: Option<String>,
    /// Language of the API's error messages
    #[arg(help_heading = BOARD, long, value_enum, default_value = "en")]
    pub language: LanguageArg,
    /// API surface to serve
    #[arg(help_heading = BOARD, long, value_enum, default_value = "full")]
    pub surface: SurfaceArg,
    /// Do not serve the API as tools for language models (Model Context Protocol)
    #[arg(help_heading = BOARD, long)]
    pub no_mcp: bool,
    /// Where a member who is not an administrator gets a token, as a URL or as sentences in Markdown; the API document
    /// contains it
    #[arg(help_heading = BOARD, long, value_name = "TEXT", default_value = "")]
    pub token_source: String,
    #[command(flatten)]
    pub log: LogOptions,
}

/// Options of connections to the database, of a server or a worker.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = DATABASE)]
pub struct DatabaseOptions {
    /// Maximum number of connections to Postgres
    #[arg(long, value_name = "N", default_value = "16", value_parser = whole::<1, 1000, usize>)]
    pub postgres_connections: usize,
    /// Number of threads that read from SQLite [default: the number of CPU cores]
    #[arg(long, value_name = "N", value_parser = whole::<1, 1000, usize>)]
    pub sqlite_readers: Option<usize>,
    /// Page cache of each SQLite connection in MiB
    #[arg(long, value_name = "MIB", default_value = "32", value_parser = whole::<1, 1_000_000, u32>)]
    pub sqlite_cache: u32,
    /// `true` for a server or a worker, which `status` lists.
    #[arg(skip = true)]
    pub is_node: bool,
}

impl DatabaseOptions {
    /// Options of a command that runs once, not of a server or a worker.
    pub const COMMAND: Self =
        Self { postgres_connections: 4, sqlite_readers: Some(1), sqlite_cache: 32, is_node: false };
}

/// Target of `copy`. It can be configured, because the URL can contain a password.
#[derive(Debug, Args)]
pub struct CopyTarget {
    /// URL of the target: postgres://… names an empty database, sqlite:PATH a file that does not exist; FORUM_TO and
    /// the key "to" of the --config file set it as well, so that a password is not visible in the list of processes
    #[arg(long, value_name = "URL", value_parser = database)]
    pub to: String,
}

/// Options of the listener for the operator.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = LISTENING)]
pub struct AdminOptions {
    /// Separate address and port for /metrics, /health and /ready; with it, `serve` does not serve /metrics on the
    /// --listen address
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub admin_listen: Option<SocketAddr>,
}

/// Options of the end of a server or a worker.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = LISTENING)]
pub struct DrainOptions {
    /// Time limit for requests and deliveries in progress when the process stops
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub drain_timeout: Duration,
}

/// Options of the log.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct LogOptions {
    /// Format of the log on standard error; RUST_LOG filters it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub log: LogFormat,
    /// Log panic messages in full; they can quote posts and private messages
    #[arg(long)]
    pub log_panics: bool,
}

/// The surface that is served.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SurfaceArg {
    /// All endpoints
    Full,
    /// 7 endpoints: the token's owner, forums, threads, posts, replies and search
    Compact,
}

impl From<SurfaceArg> for scope::Surface {
    fn from(surface: SurfaceArg) -> Self {
        match surface {
            SurfaceArg::Full => Self::Full,
            SurfaceArg::Compact => Self::Compact,
        }
    }
}

/// Language of messages.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LanguageArg {
    /// English
    En,
    /// German
    De,
}

impl From<LanguageArg> for forum_api::Language {
    fn from(language: LanguageArg) -> Self {
        match language {
            LanguageArg::En => Self::English,
            LanguageArg::De => Self::German,
        }
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LogFormat {
    /// One line per event
    Text,
    /// One JSON object per line
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A space or a line feed would end the name in the list of nodes, and Postgres cuts a longer name.
    #[test]
    fn the_name_of_a_node_contains_its_host() {
        for (host, expected) in
            [("web-1.example\n", "web-1.example"), ("a b/c\u{e9}", "abc"), ("", "")]
        {
            assert_eq!(name_of_node(host, 7), format!("{NODE} {expected}/7"));
        }
        assert!(name_of_node(&"x".repeat(64), u32::MAX).len() <= 63);
    }
}
