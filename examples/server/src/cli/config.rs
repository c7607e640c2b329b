//! Values of options from the environment and from a configuration file.
//!
//! Such a value becomes the default of its option: the command line takes precedence over the environment, and the
//! environment over the file. The options are those of the parser, so they are declared once.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Args};
use forum_api::host::{BoardError, BoardResult};
use toml::{Table, Value};

use crate::commands::config::EffectiveOption;
use crate::nearest::nearest;
use crate::options::{Common, CopyTarget, ServeArgs, without_password};
use crate::output;

/// The option that names the file. The file cannot contain it.
const CONFIG: &str = "config";

/// Beginning of the environment variables of options.
const PREFIX: &str = "FORUM_";

/// Values of options, by the names of the options.
#[derive(Debug, Default)]
pub struct Configuration(BTreeMap<String, ConfiguredOption>);

#[derive(Debug)]
struct ConfiguredOption {
    values: Vec<String>,
    /// The variable, or the path of the file.
    source: String,
}

/// Returns the options that can be configured: the options of `serve`, which include those of `worker`, the options of
/// every command, and the target of `copy`.
pub fn configurable_options() -> clap::Command {
    let common = Common::augment_args(clap::Command::new("options"));
    CopyTarget::augment_args(ServeArgs::augment_args(common))
}

/// Returns the path of the configuration file: `named` from the command line, otherwise the value of `FORUM_CONFIG`.
pub fn file(named: Option<PathBuf>) -> Option<PathBuf> {
    named.or_else(|| {
        env::var_os(variable_name(CONFIG)).filter(|path| !path.is_empty()).map(Into::into)
    })
}

impl Configuration {
    /// Reads the environment, and the file if there is one. Prints a warning about each unknown variable.
    ///
    /// # Errors
    /// If the file cannot be read, the file names an unknown option, or a value is invalid.
    pub fn load(file: Option<&Path>) -> BoardResult<Self> {
        let options = configurable_options();
        let mut all = Self::default();
        if let Some(path) = file {
            all.add_file(&options, path)?;
        }
        all.add_environment(&options)?;
        Ok(all)
    }

    fn add_file(&mut self, options: &clap::Command, path: &Path) -> BoardResult<()> {
        let shown = path.display().to_string();
        let failed = |error| format!("cannot read the configuration file \"{shown}\": {error}");
        let text = fs::read_to_string(path).map_err(|error| invalid(failed(error)))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let before = text.get(..error.span().map_or(0, |span| span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            let reason = error.message().lines().next().unwrap_or_default();
            invalid(format!("{shown}, line {line}: {reason}"))
        })?;
        for (key, value) in &table {
            let option = find_option(options, key).ok_or_else(|| {
                let names: Vec<_> = options
                    .get_arguments()
                    .filter_map(Arg::get_long)
                    .filter(|name| *name != CONFIG)
                    .collect();
                let hint = match nearest(key, names.iter().copied()) {
                    Some(name) => format!("did you mean \"{name}\"?"),
                    None => format!("expected one of {}", names.join(", ")),
                };
                invalid(format!("{shown}: unknown option \"{key}\"; {hint}"))
            })?;
            let values = texts(value).ok_or_else(|| {
                let expected = "expected a string, a number, true, false, or a list of strings";
                invalid(format!("{shown}: {key}: {expected}"))
            })?;
            self.add(option, values, &shown, &format!("{shown}: {key}"))?;
        }
        Ok(())
    }

    /// Adds the values of environment variables. An empty variable counts as absent.
    fn add_environment(&mut self, options: &clap::Command) -> BoardResult<()> {
        for (name, value) in env::vars_os() {
            let name = name.to_string_lossy();
            if !value.is_empty()
                && let Some(warning) = unknown_variable(options, &name)
            {
                output::warn(&warning);
            }
        }
        for option in options.get_arguments() {
            let Some(name) = option.get_long().filter(|name| *name != CONFIG) else {
                continue;
            };
            let variable = variable_name(name);
            let value = match env::var(&variable) {
                Ok(value) if !value.is_empty() => value,
                Err(env::VarError::NotUnicode(_)) => {
                    return Err(invalid(format!("{variable}: expected valid UTF-8")));
                }
                _ => continue,
            };
            let values = if is_list(option) {
                value.split(',').map(|item| item.trim().into()).collect()
            } else {
                vec![value]
            };
            self.add(option, values, &variable, &variable)?;
        }
        Ok(())
    }

    /// Adds the values of an option. `place` names their place in the error.
    fn add(
        &mut self,
        option: &Arg,
        values: Vec<String>,
        source: &str,
        place: &str,
    ) -> BoardResult<()> {
        let name = option.get_long().unwrap_or_default().to_owned();
        let values =
            check(option, values).map_err(|reason| invalid(format!("{place}: {reason}")))?;
        let source = source.to_owned();
        self.0.insert(name, ConfiguredOption { values, source });
        Ok(())
    }

    /// Makes the values the defaults of all options with these names.
    pub fn apply(&self, command: clap::Command) -> clap::Command {
        let default = |option: Arg| {
            let Some(configured) = option.get_long().and_then(|name| self.0.get(name)) else {
                return option;
            };
            option.required(false).default_values(configured.values.clone())
        };
        command.mut_args(default).mut_subcommands(|command| self.apply(command))
    }

    /// Returns the first configured value of an option; `None` if the option is not configured.
    pub fn first_value(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.values.first().map(String::as_str)
    }

    /// Returns the values in effect, without passwords, in the order of the help.
    pub fn effective(&self, matches: &ArgMatches) -> Vec<EffectiveOption> {
        let matches = innermost_matches(matches);
        let options = configurable_options();
        let named = options.get_arguments().filter(|option| {
            let name = option.get_long();
            name.is_some_and(|name| ![CONFIG, "json", "to"].contains(&name))
        });
        named.map(|option| self.effective_option(option, matches)).collect()
    }

    fn effective_option(&self, option: &Arg, matches: &ArgMatches) -> EffectiveOption {
        let name = option.get_long().unwrap_or_default();
        let id = option.get_id().as_str();
        let raw = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        let is_url = ["database", "database-replica", "redis"].contains(&name);
        let shown = raw.map(|value| match value.to_string_lossy() {
            url if is_url => without_password(&url),
            text => text.into_owned(),
        });
        let is_given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        let source = match self.0.get(name) {
            _ if is_given => "command line".into(),
            Some(configured) => configured.source.clone(),
            None => "default".into(),
        };
        EffectiveOption { option: name.into(), values: shown.collect(), source }
    }
}

fn invalid(reason: String) -> BoardError {
    BoardError::validation("configuration", reason)
}

/// Returns the name of an option's environment variable.
fn variable_name(name: &str) -> String {
    format!("{PREFIX}{}", name.to_uppercase().replace('-', "_"))
}

/// Returns the warning about a variable that names no option. The tests of the library (`FORUM_API_POSTGRES`) and clients
/// (`FORUM_TOKEN` in the samples of the reference page) have variables of their own.
fn unknown_variable(options: &clap::Command, name: &str) -> Option<String> {
    let text = name.strip_prefix(PREFIX)?;
    let known = || options.get_arguments().filter_map(Arg::get_long);
    if text == "TOKEN"
        || text.starts_with("API_")
        || known().any(|known| variable_name(known) == name)
    {
        return None;
    }
    let hint = match nearest(&text.to_lowercase().replace('_', "-"), known()) {
        Some(known) => format!("; did you mean {}?", variable_name(known)),
        None => String::new(),
    };
    Some(format!("{name}: unknown variable{hint}"))
}

fn find_option<'a>(options: &'a clap::Command, key: &str) -> Option<&'a Arg> {
    let mut arguments = options.get_arguments();
    arguments.find(|option| option.get_long() == Some(key) && key != CONFIG)
}

fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(value).map(|text| vec![text]),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(on) => Some(on.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// Checks values as the command line does. Returns them as the parser expects them.
fn check(option: &Arg, values: Vec<String>) -> Result<Vec<String>, String> {
    if values.len() != 1 && !is_list(option) {
        return Err("expected one value".into());
    }
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return values.iter().map(|value| flag(value)).collect();
    }
    let name = option.get_long().unwrap_or_default();
    let arguments = values.iter().map(|value| format!("--{name}={value}"));
    clap::Command::new("option")
        .no_binary_name(true)
        .arg(option.clone())
        .try_get_matches_from(arguments)
        .map_err(|error| reason(&error))?;
    Ok(values)
}

/// Parses the value of an option without a value on the command line, and returns `true` or `false`.
pub fn flag(value: &str) -> Result<String, String> {
    match value {
        "true" | "1" | "yes" | "on" => Ok("true".into()),
        "false" | "0" | "no" | "off" => Ok("false".into()),
        _ => Err("expected true or false".into()),
    }
}

/// Returns the parser's reason for an error, without the name of the option.
fn reason(error: &clap::Error) -> String {
    if let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue)
        && !known.is_empty()
    {
        return format!("expected one of {}", known.join(", "));
    }
    match error.source() {
        Some(reason) => reason.to_string(),
        None => "expected a value".into(),
    }
}

/// Returns the matches of the innermost command.
fn innermost_matches(matches: &ArgMatches) -> &ArgMatches {
    let mut matches = matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_one_of_four_pairs_of_values() {
        for (on, off) in [("true", "false"), ("1", "0"), ("yes", "no"), ("on", "off")] {
            assert_eq!(flag(on).as_deref(), Ok("true"), "{on}");
            assert_eq!(flag(off).as_deref(), Ok("false"), "{off}");
        }
        for value in ["", "TRUE", "2", "y"] {
            assert!(flag(value).is_err(), "{value}");
        }
    }
}
