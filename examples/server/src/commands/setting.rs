//! `setting list`, `setting KEY VALUE`.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use forum_api::host::{Refusal, Result};
use serde_json::Value;

use crate::board::{Board, settings};
use crate::output::Output;

/// The board's settings.
#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
pub struct Setting {
    #[command(subcommand)]
    list: Option<List>,
    /// The setting's name
    #[arg(required = true)]
    key: Option<String>,
    /// Its new value
    #[arg(required = true, allow_hyphen_values = true)]
    value: Option<String>,
}

#[derive(Debug, Subcommand)]
enum List {
    /// List all settings with their values
    List,
}

impl Setting {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        match (self.key, self.value) {
            (Some(key), Some(value)) => set(board, key, value).await,
            _ => list(board).await,
        }
    }
}

async fn list(board: &Board) -> Result<Output> {
    let values =
        board.read(|connection| Box::pin(async move { Ok(settings::all(connection).await?) }));
    let values = values.await?;
    let lines: Vec<String> = values
        .iter()
        .map(|(key, value)| format!("{key} {}", plain(value)))
        .collect();
    let object: BTreeMap<&str, Value> = values.into_iter().collect();
    Output::new(lines.join("\n"), object)
}

/// A value as text: a word without quotation marks.
fn plain(value: &Value) -> String {
    let word = value.as_str().map(Into::into);
    word.unwrap_or_else(|| value.to_string())
}

async fn set(board: &Board, key: String, value: String) -> Result<Output> {
    let setting = settings::named(&key)
        .ok_or_else(|| Refusal::NotFound(format!("there is no setting {key:?}")))?;
    let set = board.write(move |tx, _| {
        Box::pin(async move {
            let set = setting.set(tx, &value).await?;
            set.ok_or_else(|| Refusal::invalid("value", format!("{key} is {}", setting.rule())))
        })
    });
    set.await?;
    Output::done()
}
