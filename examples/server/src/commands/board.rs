//! `board offline`, `board online`.

use clap::Subcommand;
use forum_api::host::Result;

use crate::board::{self, settings};
use crate::output::Output;

/// The whole board.
#[derive(Debug, Subcommand)]
pub enum Board {
    /// Let nobody but administrators see it
    Offline,
    /// Let everybody see it again
    Online,
}

impl Board {
    /// Carries it out.
    pub async fn run(self, board: &board::Board) -> Result<Output> {
        let offline = matches!(self, Self::Offline);
        let set = board.write(move |tx, _| {
            Box::pin(async move { Ok(settings::set_offline(tx, offline).await?) })
        });
        set.await?;
        Output::done()
    }
}
