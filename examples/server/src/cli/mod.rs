//! The command line.

mod config;

use std::env;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use forum_api::host::{BoardError, BoardResult};
use serde_json::json;

use config::Configuration;

use crate::commands::backup::BackupCommand;
use crate::commands::config::{ConfigCommand, EffectiveOption};
use crate::commands::copy::CopyCommand;
use crate::commands::database::DatabaseCommand;
use crate::commands::health::HealthCommand;
use crate::commands::restore::RestoreCommand;
use crate::commands::status::StatusCommand;
use crate::commands::worker::WorkerCommand;
use crate::options::{COMMON_OPTIONS, Common, ServeArgs, SurfaceArg};
use crate::output::{self, Output};
use crate::serve;

/// A forum server with a JSON API. Without a command, starts the server.
#[derive(Debug, Parser)]
#[command(
    name = "forum-server",
    version,
    after_help = "Options of `serve` need no command: see `forum-server serve --help`."
)]
pub struct Cli {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    command: Option<Command>,
    /// The values of options that `config check` shows.
    #[arg(skip)]
    effective: Vec<EffectiveOption>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server and send webhooks (default)
    Serve(Box<ServeArgs>),
    /// Show the state of the database, the webhooks and the nodes
    Status(StatusCommand),
    /// Exit with status 0 if a running server or worker is ready
    Health(HealthCommand),
    #[command(flatten)]
    Database(DatabaseCommand),
    /// Send webhooks without serving the API
    Worker(WorkerCommand),
    /// Write a backup of a SQLite database
    Backup(BackupCommand),
    /// Replace a SQLite database with a backup, while no process uses it
    Restore(RestoreCommand),
    /// Copy a board from SQLite to Postgres, or from Postgres to SQLite
    ///
    /// The board is offline, and the target is an empty database.
    Copy(CopyCommand),
    /// Check the options of `serve` and show their values
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print shell completions
    Completions {
        /// Name of the shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the OpenAPI document
    Openapi {
        /// API surface to describe
        #[arg(long, value_enum, default_value = "full")]
        surface: SurfaceArg,
    },
}

/// Error of an invalid configuration.
#[derive(Debug)]
pub struct InvalidConfiguration {
    pub error: BoardError,
    /// `true` if the error is also printed as JSON.
    pub json: bool,
}

impl Cli {
    /// Parses the arguments of the process, with the values of the environment and the configuration file as defaults.
    /// Ends the process with status 2 if the arguments are wrong.
    ///
    /// # Errors
    /// [`InvalidConfiguration`] if the environment or the file is wrong.
    pub fn read() -> Result<Self, InvalidConfiguration> {
        let arguments = options_behind_command(env::args_os().collect());
        let cli = Self::from(&parse(unconfigured_parser(), &arguments));
        let file = config::file(cli.common.config);
        let configuration = Configuration::load(file.as_deref())
            .map_err(|error| InvalidConfiguration { error, json: is_json(&arguments) })?;
        let matches = parse(configuration.apply(new_parser()), &arguments);
        let mut cli = Self::from(&matches);
        match &mut cli.command {
            Some(Command::Config(_)) => cli.effective = configuration.effective(&matches),
            Some(Command::Restore(command)) => {
                let key_file = configuration.first_value("secret-key-file");
                command.configured_key_file = key_file.map(Into::into);
            }
            _ => {}
        }
        Ok(cli)
    }

    fn from(matches: &ArgMatches) -> Self {
        Self::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command and prints its output.
    pub async fn run(self) -> BoardResult<()> {
        let common = self.common;
        let output = match self.command {
            None => return serve::serve(&common, &self.serve).await,
            Some(Command::Serve(options)) => return serve::serve(&common, &options).await,
            Some(Command::Status(command)) => command.run(&common.database).await?,
            Some(Command::Health(command)) => command.run().await?,
            Some(Command::Database(command)) => command.run(&common.database).await?,
            Some(Command::Worker(command)) => command.run(&common).await?,
            Some(Command::Backup(command)) => command.run(&common.database)?,
            Some(Command::Restore(command)) => command.run(&common.database).await?,
            Some(Command::Copy(command)) => command.run(&common.database).await?,
            Some(Command::Config(command)) => command.run(&common, self.effective).await?,
            Some(Command::Completions { shell }) => {
                let mut script = Vec::new();
                let mut parser = new_parser();
                clap_complete::generate(shell, &mut parser, "forum-server", &mut script);
                let script = String::from_utf8_lossy(&script);
                Output::new(&script, json!({ "ok": true }))?
            }
            Some(Command::Openapi { surface }) => {
                let document = serve::document(surface.into())?;
                Output::new(format!("{document:#}"), &document)?
            }
        };
        output.print(common.json)
    }
}

/// Returns whether the command line or the environment selects output as JSON. The configuration file is not read yet.
fn is_json(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.any(|option| option == "--json")
        || env::var("FORUM_JSON").is_ok_and(|json| config::flag(&json).as_deref() == Ok("true"))
}

/// Parses the arguments. Ends the process with status 2 if they are wrong, and also prints the reason as JSON if
/// [`is_json`] returns `true`.
fn parse(mut parser: clap::Command, arguments: &[OsString]) -> ArgMatches {
    parser.try_get_matches_from_mut(arguments).unwrap_or_else(|error| {
        let error = with_known_names(error, &parser, arguments);
        if error.use_stderr() && is_json(arguments) {
            output::print_error_json(&reason(&error));
        }
        error.exit()
    })
}

/// Adds the known names to the error about an unknown command or option, unless the error names a similar one.
fn with_known_names(
    mut error: clap::Error,
    parser: &clap::Command,
    arguments: &[OsString],
) -> clap::Error {
    let similar = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg];
    if similar.into_iter().any(|kind| error.get(kind).is_some()) {
        return error;
    }
    let mut command = parser;
    for argument in arguments.iter().skip(1) {
        command = command.find_subcommand(argument).unwrap_or(command);
    }
    let is_option = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(name)) if name.starts_with('-')
    );
    let names: Vec<_> = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            command.get_subcommands().map(|command| command.get_name().to_owned()).collect()
        }
        ErrorKind::UnknownArgument if is_option => command
            .get_arguments()
            .filter_map(Arg::get_long)
            .map(|name| format!("--{name}"))
            .collect(),
        _ => return error,
    };
    let expected = format!("expected one of {}", names.join(", "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![expected.into()]));
    error
}

/// Returns the reason of a usage error on one line, without the usage.
fn reason(error: &clap::Error) -> String {
    let message = error.to_string();
    let text = message.strip_prefix("error: ").unwrap_or(&message);
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage: "))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("; ").replace(":; ", ": ")
}

/// Returns the parser. The help of the program does not contain the options of `serve`.
fn new_parser() -> clap::Command {
    let server = ServeArgs::augment_args(clap::Command::new("options"));
    let server_options: Vec<_> = server.get_arguments().map(Arg::get_id).cloned().collect();
    let parser = Cli::command()
        .mut_args(|option| {
            let is_hidden = server_options.contains(option.get_id());
            option.hide(is_hidden)
        })
        // Clap's derive has no attribute that makes flattened options global.
        .mut_subcommand("webhook", |webhook| {
            webhook.mut_args(|option| option.global(true).help_heading(COMMON_OPTIONS))
        });
    with_negative_numbers(parser)
}

/// Accepts a negative number as a value of each option, so that the parser of the value reports its range.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|option| {
            let takes_values = option.get_action().takes_values();
            option.allow_negative_numbers(takes_values)
        })
        .mut_subcommands(with_negative_numbers)
}

/// Returns a parser that does not require the target of `copy`, because it can be configured.
fn unconfigured_parser() -> clap::Command {
    let optional = |to: clap::Arg| to.required(false).default_value("").hide_default_value(true);
    new_parser().mut_subcommand("copy", |copy| copy.mut_arg("to", optional))
}

/// Moves options of `serve` that precede another command to the place after that command. The command then accepts or
/// rejects them.
fn options_behind_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let options = ServeArgs::augment_args(clap::Command::new("options"));
    let ids: Vec<_> = options.get_arguments().map(Arg::get_id).cloned().collect();
    let parser = Common::augment_args(options)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .allow_external_subcommands(true);
    // The parser of the program reports the error later.
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
        // What follows `--` is no option.
        let is_end = |index: &usize| arguments.get(*index).is_some_and(|text| text == "--");
        let end = (1 + options..arguments.len()).find(is_end).unwrap_or(arguments.len());
        if let Some(arguments) = arguments.get_mut(1..end) {
            arguments.rotate_left(options);
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion, ValueValidation};

    use super::*;
    use crate::board::db::READS;
    use crate::http::metrics;
    use crate::log::DROPPED_LINES;

    const README: &str = include_str!("../../../../README.md");
    const OPERATING: &str = include_str!("../../../../docs/operating.md");
    const RULES: &str = include_str!("../../deploy/prometheus-rules.yml");
    const DASHBOARD: &str = include_str!("../../deploy/grafana-dashboard.json");

    /// The arguments of the shell lines of a document that run the server.
    fn shell_lines(document: &str) -> impl Iterator<Item = &str> {
        document.lines().filter_map(|line| {
            let line = line.trim_start().split(" #").next()?;
            let arguments = match line.strip_prefix("cargo run -p forum-server") {
                Some(rest) => rest.trim_start().trim_start_matches("-- "),
                None => line.strip_prefix("forum-server ")?,
            };
            arguments.split(" || ").next().map(str::trim)
        })
    }

    /// The texts between backticks of a document, without its code blocks.
    fn code(document: &str) -> impl Iterator<Item = &str> {
        let prose = document.split("```").step_by(2);
        prose.flat_map(|text| text.split('`').skip(1).step_by(2))
    }

    /// The commands of the table in the section "Commands".
    fn table(document: &str) -> impl Iterator<Item = &str> {
        let after_heading = document.split("\n## Commands\n").nth(1).unwrap();
        let section = after_heading.split("\n## ").next().unwrap();
        let cells = section.lines().filter_map(|line| line.split(" | ").nth(1));
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2))
    }

    /// Placeholders such as `ID` are not valid values.
    #[test]
    fn documented_commands_exist() {
        let operating = OPERATING.replace("forumctl ", "forum-server ");
        let documents = [README, &operating].into_iter();
        let commands: Vec<_> = documents
            .flat_map(shell_lines)
            .chain(table(OPERATING))
            .chain(code(&operating).filter_map(|code| code.strip_prefix("forum-server ")))
            .collect();
        assert!(commands.len() > 60, "{commands:?}");
        for command in commands {
            let words = ["forum-server"].into_iter().chain(command.split_whitespace());
            let arguments = options_behind_command(words.map(OsString::from).collect());
            if let Err(error) = unconfigured_parser().try_get_matches_from(arguments) {
                let kind = error.kind();
                let is_known = matches!(kind, DisplayHelp | DisplayVersion | ValueValidation);
                assert!(is_known, "{command}: {error}");
            }
        }
    }

    #[test]
    fn only_options_of_serve_move_behind_a_command() {
        for (line, expected) in [
            ("--json member unban -- -x", "--json member unban -- -x"),
            ("--listen 1 config check", "config check --listen 1"),
            ("--secret-key-file k restore -- -x", "restore --secret-key-file k -- -x"),
        ] {
            let words = ["forum-server"].into_iter().chain(line.split(' '));
            let moved = options_behind_command(words.map(OsString::from).collect());
            let words: Vec<_> = moved.iter().skip(1).map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }

    #[test]
    fn an_error_about_an_unknown_name_has_a_similar_one_or_the_known_ones() {
        for (line, expected) in [
            ("tokn list", "'token'"),
            ("foo", "one of serve, status, health, token"),
            ("--database x token foo --json", "one of issue, list,"),
            ("token list --ownr x", "'--owner'"),
            ("token list --zzz", "one of --owner, --state,"),
            ("--zzz", "--listen, --admin-listen,"),
        ] {
            let words = ["forum-server"].into_iter().chain(line.split(' '));
            let arguments: Vec<_> = words.map(OsString::from).collect();
            let mut parser = new_parser();
            let error = parser.try_get_matches_from_mut(&arguments).unwrap_err();
            let shown = reason(&with_known_names(error, &parser, &arguments));
            assert!(shown.contains(expected), "{line}: {shown}");
        }
    }

    #[test]
    fn numbers_have_the_documented_limits() {
        let number = ["1", "4294967295", "0", "4294967296"];
        let count = ["1", "1000000", "0", "1000001"];
        let seconds = ["0.001", "31536000", "0.0009", "31536000.5"];
        for (option, [least, most, too_small, too_large]) in [
            ("serve --postgres-connections", ["1", "1000", "0", "1001"]),
            ("serve --sqlite-readers", ["1", "1000", "0", "1001"]),
            ("serve --sqlite-cache", count),
            ("serve --token-budget", number),
            ("serve --guest-budget", number),
            ("serve --window", number),
            ("serve --redis-timeout", seconds),
            ("serve --max-connections", count),
            ("serve --max-connections-per-address", ["0", "1000000", "-1", "1000001"]),
            ("serve --request-timeout", seconds),
            ("serve --client-timeout", seconds),
            ("serve --idle-timeout", seconds),
            ("serve --drain-timeout", seconds),
            ("serve --drain-delay", ["0", "3600", "-1", "3600.5"]),
            ("worker --webhook-initial-backoff", seconds),
            ("worker --webhook-max-backoff", seconds),
            ("worker --webhook-timeout", seconds),
            ("worker --webhook-retention", seconds),
            ("worker --webhook-dead-retention", seconds),
            ("worker --event-retention", ["0", "87600", "-1", "87600.5"]),
            ("worker --webhook-concurrency", number),
            ("worker --webhook-endpoint-concurrency", number),
            ("generate --members", ["1", "1000000000", "0", "1000000001"]),
            ("generate --threads", ["1", "1000000000", "0", "1000000001"]),
            ("generate --posts", ["1", "1000000000", "0", "1000000001"]),
            ("generate --seed", ["0", "18446744073709551615", "-1", "18446744073709551616"]),
            ("token usage --days", ["1", "30", "0", "31"]),
            ("token purge --older-than", ["0", "36500", "-1", "36501"]),
            ("member list --limit", count),
        ] {
            let parse = |value: &str| {
                let line = format!("forum-server {option} {value}");
                new_parser().try_get_matches_from(line.split(' ')).err().map(|error| error.kind())
            };
            let refused = Some(ValueValidation);
            let expected = [None, None, refused, refused];
            let found = [least, most, too_small, too_large].map(parse);
            assert_eq!(found, expected, "{option}");
        }
    }

    #[test]
    fn commands_and_common_options_have_other_names() {
        let parse = |line: &str| new_parser().try_get_matches_from(line.split(' ')).unwrap();
        let cli = Cli::from(&parse("forum-server -l 81 -d board.db -c forum.toml"));
        assert_eq!(cli.serve.address.listen.to_string(), "127.0.0.1:81");
        assert_eq!(cli.common.database, "sqlite:board.db");
        assert_eq!(cli.common.config.unwrap().to_str(), Some("forum.toml"));
        for (line, expected) in [
            ("forum-server member set-password alice", "password"),
            ("forum-server member set-groups alice members", "groups"),
            ("forum-server forum add-moderator 2 alice", "moderator"),
            ("forum-server delivery redeliver dlv_0123456789abcdef0123", "retry"),
        ] {
            let matches = parse(line);
            let (_, command) = matches.subcommand().unwrap();
            assert_eq!(command.subcommand_name(), Some(expected), "{line}");
        }
    }

    #[test]
    fn every_command_has_a_help() {
        let mut parser = new_parser();
        parser.build();
        parser.clone().debug_assert();
        let mut commands = vec![&parser];
        while let Some(command) = commands.pop() {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            commands.extend(command.get_subcommands());
        }
    }

    /// These usages are written by hand.
    #[test]
    fn the_usages_of_settings_and_retries_are_commands() {
        for (command, count) in [("setting", 3), ("delivery retry", 2)] {
            let line = format!("forum-server {command} --help");
            let help = new_parser().try_get_matches_from(line.split(' ')).unwrap_err().to_string();
            let (_, usage) = help.split_once("Usage: ").unwrap();
            let lines: Vec<_> = usage.lines().take_while(|line| !line.is_empty()).collect();
            assert_eq!(lines.len(), count, "{help}");
            for line in lines {
                let line = line
                    .replace("[OPTIONS] ", "")
                    .replace("--endpoint <ID>", "--endpoint whe_0123456789abcdef0123")
                    .replace("<ID>", "dlv_0123456789abcdef0123");
                for form in [line.replace("[set] ", ""), line] {
                    let form = form.replace(['[', ']'], "");
                    let parsed = new_parser().try_get_matches_from(form.split_whitespace());
                    assert!(parsed.is_ok(), "{form}: {parsed:?}");
                }
            }
        }
    }

    #[test]
    fn the_help_fits_a_screen() {
        const COLUMNS: usize = 80;
        let help = new_parser().render_help().to_string();
        let lengths = help.lines().map(|line| line.chars().count());
        let lines: usize = lengths.map(|length| length.div_ceil(COLUMNS).max(1)).sum();
        assert!(lines <= 40, "{lines} lines:\n{help}");
        assert!(!help.contains("--listen"), "{help}");
        let serve = new_parser()
            .try_get_matches_from(["forum-server", "serve", "-h"])
            .unwrap_err()
            .to_string();
        assert!(serve.contains("--listen"), "{serve}");
        for group in ["Listening", "Database", "Limits", "Webhooks", "Security", "Log", "Board"] {
            assert!(serve.contains(&format!("\n{group}:\n")), "{group}: {serve}");
        }
    }

    #[test]
    fn options_of_a_command_precede_common_options() {
        const COMMANDS: [&[&str]; 4] =
            [&["token", "issue"], &["webhook", "add"], &["delivery", "list"], &["backup"]];
        for command in COMMANDS {
            let arguments = [&["forum-server"][..], command, &["-h"]].concat();
            let error = new_parser().try_get_matches_from(arguments).unwrap_err();
            let help = error.to_string();
            let (own, common) = help.split_once(COMMON_OPTIONS).unwrap();
            assert!(own.contains("--help"), "{help}");
            assert!(common.contains("--database"), "{help}");
        }
    }

    #[test]
    fn reseal_is_another_name_of_reencrypt() {
        let arguments = ["forum-server", "webhook", "reseal", "--help"];
        let help = new_parser().try_get_matches_from(arguments).unwrap_err();
        assert_eq!(help.kind(), DisplayHelp);
        assert!(help.to_string().contains("webhook reencrypt"), "{help}");
    }

    /// The keys of the TOML blocks, and the words in backticks that have the form of an option of two words.
    #[test]
    fn options_in_the_operations_guide_exist() {
        let parser = config::configurable_options();
        let options: BTreeSet<_> = parser.get_arguments().filter_map(Arg::get_long).collect();
        let blocks = OPERATING.split("```toml\n").skip(1);
        let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
        let keys: Vec<_> = lines.filter_map(|line| line.trim_start().split_once(" = ")).collect();
        assert!(keys.len() > 5, "{keys:?}");
        for (key, _) in keys {
            assert!(options.contains(key), "{key}");
        }
        let is_lowercase_or_hyphen = |byte: u8| byte == b'-' || byte.is_ascii_lowercase();
        let is_option =
            |text: &&str| text.contains('-') && text.bytes().all(is_lowercase_or_hyphen);
        let not_options = [
            "forum-server",
            "x-forwarded-for",
            "x-logging",
            "retry-after",
            "down-after-milliseconds",
            "cluster-node-timeout",
            "--help",
            "--online",
            "--password-stdin",
            "--yes",
        ];
        let named: Vec<_> =
            code(OPERATING).filter(is_option).filter(|text| !not_options.contains(text)).collect();
        assert!(named.len() > 10, "{named:?}");
        for name in named {
            let name = name.trim_start_matches("--");
            assert!(options.contains(name), "{name}");
        }
    }

    #[test]
    fn the_rules_and_the_dashboard_show_all_metrics() {
        let is_part = |character: char| !(character.is_ascii_lowercase() || character == '_');
        let names = |text: &'static str| -> BTreeSet<_> {
            let prefixes = ["forum_api_", "forum_server_", "process_"];
            text.split(is_part)
                .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
                .map(|name| name.trim_end_matches("_bucket"))
                .collect()
        };
        let library = forum_api::metrics::ALL.iter().map(|metric| metric.name);
        let own = metrics::GAUGES.map(|(name, _)| name);
        let known = library.chain(own).chain([READS, DROPPED_LINES]).collect();
        assert_eq!(&names(RULES) | &names(DASHBOARD), known);
        let tables = BTreeSet::from(["forum_api_audit_log", "forum_api_events"]);
        let known_names = &known | &tables;
        assert!(names(OPERATING).is_subset(&known_names));
        let alerts = RULES.lines().filter_map(|line| line.split_once("alert: "));
        for (_, alert) in alerts {
            assert!(OPERATING.contains(&format!("`{alert}`")), "{alert}");
        }
    }
}
