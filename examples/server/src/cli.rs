//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, ValueEnum, value_parser};
use forum_api::{IpNet, scope};
use http::HeaderValue;

use crate::commands::Command;
use crate::webhooks::{Addresses, Pace};

/// A discussion board with a JSON API; without a command, it is served.
#[derive(Debug, Parser)]
#[command(name = "server", version)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub serve: Serve,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Common {
    /// Where the board is kept: sqlite:PATH, sqlite::memory: or postgres://…
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

/// What serving takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for serving")]
pub struct Serve {
    /// The address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// The Redis in which several servers share budgets; while it is out of reach, each meters by itself
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// Which interface to serve
    #[arg(long, value_enum, default_value = "full")]
    pub surface: Surface,
    /// Under which address clients reach the server [default: http://ADDR]
    #[arg(long, value_name = "URL", value_parser = base_url)]
    pub base_url: Option<String>,
    /// The units that a token has in one window
    #[arg(long, value_name = "N", default_value = "600", value_parser = value_parser!(u32).range(1..))]
    pub token_budget: u32,
    /// The units that the guests of one address prefix have in one window
    #[arg(long, value_name = "N", default_value = "120", value_parser = value_parser!(u32).range(1..))]
    pub guest_budget: u32,
    /// How many seconds a window lasts
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = value_parser!(u32).range(1..))]
    pub window: u32,
    /// The proxies whose x-forwarded-for is believed
    #[arg(long, value_name = "CIDR,…", value_delimiter = ',', value_parser = network)]
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum number of open connections, up to 1000000; further ones wait. Lowered if too few files can be open
    #[arg(long, value_name = "N", default_value = "10000", value_parser = max_connections)]
    pub max_connections: usize,
    /// A web page's origin that may call the API, or * for any; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub cors_origin: Vec<HeaderValue>,
    /// The language of messages
    #[arg(long, value_enum, default_value = "en")]
    pub language: Language,
    #[command(flatten)]
    pub addresses: Addresses,
    #[command(flatten)]
    pub pace: Pace,
    /// Serve without sending webhooks
    #[arg(long)]
    pub no_worker: bool,
    /// Read the administrator's password for a new database from the first line of standard input
    #[arg(long)]
    pub admin_password_stdin: bool,
    /// Give a new database its groups and the administrator, and nothing else
    #[arg(long)]
    pub empty: bool,
    /// How to write the log to standard error; RUST_LOG filters it
    #[arg(long, value_enum, default_value = "text")]
    pub log: Log,
    /// Log formatted panic messages in full; they may quote posts and messages
    #[arg(long)]
    pub log_panics: bool,
}

/// Which interface is served.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Surface {
    /// 21 endpoints and 13 scopes
    Full,
    /// 7 endpoints and 8 scopes
    Compact,
}

impl From<Surface> for scope::Surface {
    fn from(surface: Surface) -> Self {
        match surface {
            Surface::Full => Self::Full,
            Surface::Compact => Self::Compact,
        }
    }
}

/// The language of messages.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Language {
    /// English
    En,
    /// German
    De,
}

impl From<Language> for forum_api::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::En => Self::English,
            Language::De => Self::German,
        }
    }
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// A line for people
    Text,
    /// A JSON object per line
    Json,
}

impl Cli {
    /// What the process was started with. Ends it with status 2 when that makes no sense.
    pub fn read() -> Self {
        // Clap's derive cannot say it of options that are flattened.
        let anywhere = |webhook: clap::Command| webhook.mut_args(|option| option.global(true));
        let matches = Self::command()
            .mut_subcommand("webhook", anywhere)
            .get_matches();
        let mut cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        if let Some(("serve", after)) = matches.subcommand() {
            cli.serve = merged(&matches, after);
        }
        if let Some(command) = &cli.command {
            refuse_options_for_serving(command, &matches);
        }
        cli
    }
}

/// Returns the options of `serve` given before the command and after it.
fn merged(before: &ArgMatches, after: &ArgMatches) -> Serve {
    let command = Serve::augment_args(clap::Command::new("serve")).no_binary_name(true);
    let mut given = Vec::<OsString>::new();
    for option in command.get_arguments() {
        let (id, name) = (
            option.get_id().as_str(),
            option.get_long().unwrap_or_default(),
        );
        for matches in [before, after] {
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            if !option.get_action().takes_values() {
                given.push(format!("--{name}").into());
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let mut argument = OsString::from(format!("--{name}="));
                argument.push(value);
                given.push(argument);
            }
        }
    }
    let matches = command.get_matches_from(given);
    Serve::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Options may stand before a command, but not those that it does not take.
fn refuse_options_for_serving(command: &Command, matches: &ArgMatches) {
    let options = Serve::augment_args(clap::Command::new("serve"));
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    for option in options.get_arguments() {
        let id = option.get_id().as_str();
        if given(id) && !command.takes(id) {
            let message = format!("this command does not take '--{}'", id.replace('_', "-"));
            Cli::command()
                .error(ErrorKind::ArgumentConflict, message)
                .exit();
        }
    }
}

fn base_url(text: &str) -> Result<String, &'static str> {
    let url = text.trim_end_matches('/');
    let parsed: http::Uri = url.parse().map_err(|_| "not a URL")?;
    let is_web = matches!(parsed.scheme_str(), Some("http" | "https"));
    let fits = is_web && !url.contains(['?', '#', '@']);
    fits.then(|| url.into())
        .ok_or("expected http://… or https://… without user, query and fragment")
}

/// An origin as a browser sends it, or `*`.
fn origin(text: &str) -> Result<HeaderValue, &'static str> {
    let parsed = text.parse().unwrap_or_else(|_| http::Uri::default());
    let (scheme, host) = (parsed.scheme_str().unwrap_or_default(), parsed.authority());
    let written = host.map(|host| format!("{scheme}://{host}"));
    let is_origin = text == "*" || written.as_deref() == Some(text) && !text.contains('@');
    let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
    value.ok_or("expected an origin as https://board.example:8443, or *")
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
        .map_err(|_| "expected a network as 10.0.0.0/8, or an address")
}
