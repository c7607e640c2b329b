//! Command `config`.

use clap::Subcommand;
use forum_api::host::BoardResult;
use serde_json::{Map, Value};

use crate::keys;
use crate::options::{Common, ServeArgs};
use crate::output::{self, Column, Output, Table};
use crate::server_parts::ServerParts;

/// The configuration of the server.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check the options, key file, database file and root certificates, and print the value and the source of each
    /// option
    Check(Box<ServeArgs>),
}

/// An option with its values. `values` is empty for an option without a value.
#[derive(Debug)]
pub struct EffectiveOption {
    pub option: String,
    pub values: Vec<String>,
    pub source: String,
}

impl ConfigCommand {
    pub async fn run(self, common: &Common, options: Vec<EffectiveOption>) -> BoardResult<Output> {
        let Self::Check(arguments) = self;
        ServerParts::new(common, &arguments).await?;
        let key_file = arguments.webhooks.secret_key_file.as_deref();
        for weakness in keys::weaknesses(&common.database, key_file) {
            output::warn(weakness);
        }
        const COLUMNS: &[Column] =
            &[Column::new("OPTION"), Column::new("VALUE").long(), Column::new("SOURCE")];
        let mut table = Table::new(COLUMNS);
        let mut values = Map::new();
        for EffectiveOption { option, values: texts, source } in options {
            let shown = if texts.is_empty() { "-".into() } else { texts.join(",") };
            table.row([option.clone(), shown, source]);
            let texts = texts.into_iter().map(Value::String).collect();
            values.insert(option, Value::Array(texts));
        }
        Output::new(table, values)
    }
}
