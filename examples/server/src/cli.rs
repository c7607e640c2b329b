//! The command line.

use std::env;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};
use forum_api::host::BoardResult;
use forum_api::runtime::TokioRuntime;
use forum_api::{ApiSettings, Environment, IpNet, openapi_document, scope};
use http::HeaderValue;

use crate::commands::board::{
    BoardCommand, ForumCommand, GenerateCommand, PostCommand, SettingCommand, ThreadCommand,
};
use crate::commands::delivery::{DeliveryCommand, WorkerCommand};
use crate::commands::member::MemberCommand;
use crate::commands::token::TokenCommand;
use crate::commands::webhook::WebhookCommand;

use crate::connect::{self, Migrations};
use crate::output::Output;
use crate::serve;
use crate::webhooks::{RetryOptions, WebhookOptions};

/// A forum server with a JSON API. Without a command, starts the server.
#[derive(Debug, Parser)]
#[command(name = "forum-server", version)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Database URL: sqlite:PATH, sqlite::memory: or postgres://…
    #[arg(
        long,
        global = true,
        value_name = "URL",
        default_value = "sqlite:forum.db"
    )]
    pub database: String,
    /// Print one JSON value instead of text
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server and send webhooks (default)
    Serve(Box<ServeArgs>),
    #[command(flatten)]
    Database(DatabaseCommand),
    /// Print the OpenAPI document
    Openapi {
        /// API surface to describe
        #[arg(long, value_enum, default_value = "full")]
        surface: SurfaceArg,
    },
}

/// A command that works on a board's database, beside a running server or without one.
#[derive(Debug, Subcommand)]
enum DatabaseCommand {
    /// Issue, list and revoke API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Take the board offline or online
    #[command(subcommand)]
    Board(BoardCommand),
    /// Add and ban members, set groups and passwords
    #[command(subcommand)]
    Member(MemberCommand),
    /// Add forums and moderators
    #[command(subcommand)]
    Forum(ForumCommand),
    /// Lock, unlock, pin and unpin threads
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// Approve and restore posts
    #[command(subcommand)]
    Post(PostCommand),
    /// Add, list, change and remove webhook endpoints
    Webhook(WebhookCommand),
    /// List, show, retry and remove webhook deliveries
    #[command(subcommand)]
    Delivery(DeliveryCommand),
    /// Send webhooks without serving the API
    Worker(WorkerCommand),
    /// List or change the board's settings
    Setting(SettingCommand),
    /// Fill the forums General, Help and Members with generated content
    Generate(GenerateCommand),
    /// Apply pending migrations to the database
    Migrate {
        /// Only check: exit with status 1 if migrations are pending
        #[arg(long)]
        check: bool,
    },
}

impl Cli {
    /// Parses the arguments of the process. Ends it with status 2 if they are wrong.
    pub fn read() -> Self {
        let arguments = options_behind_command(env::args_os().collect());
        let matches = parser().get_matches_from(arguments);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command and prints its output.
    pub async fn run(self) -> BoardResult<()> {
        let common = self.common;
        let output = match self.command {
            None => return serve::serve(&common, &self.serve).await,
            Some(Command::Serve(options)) => return serve::serve(&common, &options).await,
            Some(Command::Database(command)) => command.run(&common.database).await?,
            Some(Command::Openapi { surface }) => {
                let environment = Environment::new(TokioRuntime).surface(surface.into());
                let document = openapi_document(&ApiSettings::default(), &environment);
                Output::new(format!("{document:#}"), &document)?
            }
        };
        output.print(common.json);
        Ok(())
    }
}

impl DatabaseCommand {
    async fn run(self, url: &str) -> BoardResult<Output> {
        let migrations = match self {
            Self::Worker(_) | Self::Migrate { check: false } => Migrations::Apply,
            _ => Migrations::Require,
        };
        let (database, board) = connect::existing(url, migrations).await?;
        let outcome = match self {
            Self::Token(command) => command.run(&database, &board).await,
            Self::Board(command) => command.run(&board).await,
            Self::Member(command) => command.run(&board).await,
            Self::Forum(command) => command.run(&board).await,
            Self::Thread(command) => command.run(&board).await,
            Self::Post(command) => command.run(&board).await,
            Self::Webhook(command) => command.run(url, &database, &board).await,
            Self::Delivery(command) => command.run(&database).await,
            Self::Worker(command) => command.run(url, &database, &board).await,
            Self::Setting(command) => command.run(&board).await,
            Self::Generate(command) => command.run(&board).await,
            Self::Migrate { .. } => Output::done_with("The schema is up to date."),
        };
        database.close().await;
        outcome
    }
}

fn parser() -> clap::Command {
    // Clap's derive has no attribute that makes flattened options global.
    Cli::command().mut_subcommand("webhook", |webhook| {
        webhook.mut_args(|option| option.global(true))
    })
}

/// Moves options of `serve` that precede another command behind it, where that command takes or refuses them.
fn options_behind_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let options = ServeArgs::augment_args(clap::Command::new("options"));
    let ids: Vec<_> = options
        .get_arguments()
        .map(|option| option.get_id().clone())
        .collect();
    let parser = Common::augment_args(options)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .allow_external_subcommands(true);
    // The real parser reports what is wrong.
    let Ok(matches) = parser.try_get_matches_from(&arguments) else {
        return arguments;
    };
    let Some((_, command)) = matches.subcommand() else {
        return arguments;
    };
    let is_given =
        |id: &clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    if ids.iter().any(is_given) {
        // Apart from the options: the program, the command, and what follows the command.
        let others = 2 + command.get_raw("").map_or(0, Iterator::count);
        let options = arguments.len().saturating_sub(others);
        if let Some(arguments) = arguments.get_mut(1..) {
            arguments.rotate_left(options);
        }
    }
    arguments
}

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server options")]
pub struct ServeArgs {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen_address)]
    pub listen: SocketAddr,
    /// Redis URL for budgets shared by several servers; if Redis is unreachable, each server meters on its own
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// API surface to serve
    #[arg(long, value_enum, default_value = "full")]
    pub surface: SurfaceArg,
    /// Public URL of the server [default: http://ADDR]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    pub base_url: Option<String>,
    /// Units per token and window
    #[arg(long, value_name = "N", default_value = "600", value_parser = value_parser!(u32).range(1..))]
    pub token_budget: u32,
    /// Units per address prefix and window for requests without a token
    #[arg(long, value_name = "N", default_value = "120", value_parser = value_parser!(u32).range(1..))]
    pub guest_budget: u32,
    /// Length of a window in seconds
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = value_parser!(u32).range(1..))]
    pub window: u32,
    /// Proxies whose x-forwarded-for header is trusted
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum number of open connections, at most 1000000, lowered if the process cannot open enough files; further connections wait
    #[arg(long, value_name = "N", default_value = "10000", value_parser = max_connections)]
    pub max_connections: usize,
    /// Origin allowed to call the API from a browser, or * for any; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub cors_origin: Vec<HeaderValue>,
    /// Language of the API's error messages
    #[arg(long, value_enum, default_value = "en")]
    pub language: LanguageArg,
    #[command(flatten)]
    pub webhooks: WebhookOptions,
    #[command(flatten)]
    pub retries: RetryOptions,
    /// Do not send webhooks from this process
    #[arg(long)]
    pub no_worker: bool,
    /// Read the administrator's password for a new database from the first line of standard input
    #[arg(long)]
    pub admin_password_stdin: bool,
    /// Create a new database with groups and the administrator only
    #[arg(long)]
    pub empty: bool,
    #[command(flatten)]
    pub log: LogOptions,
}

/// Options of the log.
#[derive(Clone, Copy, Debug, Args)]
pub struct LogOptions {
    /// Format of the log on standard error; RUST_LOG filters it
    #[arg(long, value_enum, default_value = "text")]
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
    /// Only the endpoints that read, search and post
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

fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "expected an address and a port, for example 127.0.0.1:8080")
}

fn base_url(text: &str) -> Result<String, &'static str> {
    let url = text.trim_end_matches('/');
    let parsed: http::Uri = url
        .parse()
        .map_err(|_| "expected http://… or https://… without username, path, query or fragment")?;
    let is_web = matches!(parsed.scheme_str(), Some("http" | "https"));
    let fits = is_web && parsed.path() == "/" && !url.contains(['?', '#', '@']);
    fits.then(|| url.into())
        .ok_or("expected http://… or https://… without username, path, query or fragment")
}

/// An origin as a browser sends it, or `*`.
fn origin(text: &str) -> Result<HeaderValue, &'static str> {
    let parsed = text.parse().unwrap_or_else(|_| http::Uri::default());
    let (scheme, host) = (parsed.scheme_str().unwrap_or_default(), parsed.authority());
    let written = host.map(|host| format!("{scheme}://{host}"));
    let is_origin = text == "*" || written.as_deref() == Some(text) && !text.contains('@');
    let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
    value.ok_or("expected an origin, for example https://board.example:8443, or *")
}

fn max_connections(text: &str) -> Result<usize, &'static str> {
    let number = text.parse().ok();
    // The bound of the semaphore that counts them.
    let fits = number.filter(|number| (1..=1_000_000).contains(number));
    fits.ok_or("expected a number from 1 to 1000000")
}

/// A network, or a single address.
fn network(text: &str) -> Result<IpNet, &'static str> {
    let single = || IpAddr::from_str(text).map(IpNet::from);
    IpNet::from_str(text)
        .or_else(|_| single())
        .map_err(|_| "expected an IP address, or a network, for example 10.0.0.0/8")
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind::{DisplayHelp, ValueValidation};

    use super::*;

    const README: &str = include_str!("../../../README.md");
    const CLUSTERING: &str = include_str!("../../../src/guide/clustering.md");
    const OPERATIONS: &str = include_str!("../../../src/guide/operations.md");

    /// The arguments of the shell lines of a document that run the server.
    fn shell_lines(document: &str) -> impl Iterator<Item = &str> {
        let lines = document.lines().filter_map(|line| {
            let line = line.split(" #").next()?;
            let cargo = line.strip_prefix("cargo run -p forum-server");
            let arguments = cargo.map(|rest| rest.trim_start().trim_start_matches("-- "));
            arguments.or_else(|| line.strip_prefix("forum-server "))
        });
        lines.map(str::trim)
    }

    /// The commands of the table in the section "Commands".
    fn table(chapter: &str) -> impl Iterator<Item = &str> {
        let section = chapter.split("\n# Commands\n").nth(1).unwrap();
        let section = section.split("\n# ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.split(" | ").nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2))
    }

    /// Placeholders such as `ID` are not valid values.
    #[test]
    fn documented_commands_exist() {
        let documents = [README, CLUSTERING, OPERATIONS].into_iter();
        let commands: Vec<_> = documents
            .flat_map(shell_lines)
            .chain(table(OPERATIONS))
            .collect();
        assert!(commands.len() > 30, "{commands:?}");
        for command in commands {
            let arguments = ["forum-server"]
                .into_iter()
                .chain(command.split_whitespace());
            let arguments = options_behind_command(arguments.map(OsString::from).collect());
            if let Err(error) = parser().try_get_matches_from(arguments) {
                let is_known = matches!(error.kind(), DisplayHelp | ValueValidation);
                assert!(is_known, "{command}: {error}");
            }
        }
    }
}
