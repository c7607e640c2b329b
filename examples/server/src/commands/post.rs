//! `post approve`, `post restore`.

use clap::Subcommand;
use forum_api::host::Result;

use crate::board::{Board, moderation};
use crate::output::Output;

/// The board's posts; a thread's first post stands for the thread.
#[derive(Debug, Subcommand)]
pub enum Post {
    /// Let everybody see a post that awaits approval
    Approve {
        /// The post's id
        id: i64,
    },
    /// Bring a deleted post back
    Restore {
        /// The post's id
        id: i64,
    },
}

impl Post {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        let done = board.write(move |tx, events| {
            Box::pin(async move {
                match self {
                    Self::Approve { id } => moderation::approve(tx, events, id).await,
                    Self::Restore { id } => moderation::restore(tx, events, id).await,
                }
            })
        });
        done.await?;
        Output::done()
    }
}
