//! `thread lock`, `thread unlock`, `thread pin`, `thread unpin`.

use clap::Subcommand;
use forum_api::host::Result;

use crate::board::Board;
use crate::board::moderation::{self, Mark};
use crate::output::Output;

/// The board's threads.
#[derive(Debug, Subcommand)]
pub enum Thread {
    /// Let nobody but moderators post in a thread, or change its posts
    Lock {
        /// The thread's id
        id: i64,
    },
    /// Let everybody post in a thread again
    Unlock {
        /// The thread's id
        id: i64,
    },
    /// Lift a thread to the top of the board's own pages
    Pin {
        /// The thread's id
        id: i64,
    },
    /// Let a thread go its way again
    Unpin {
        /// The thread's id
        id: i64,
    },
}

impl Thread {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        let (thread, mark, on) = match self {
            Self::Lock { id } => (id, Mark::Locked, true),
            Self::Unlock { id } => (id, Mark::Locked, false),
            Self::Pin { id } => (id, Mark::Pinned, true),
            Self::Unpin { id } => (id, Mark::Pinned, false),
        };
        let set = board.write(move |tx, _| Box::pin(moderation::mark(tx, thread, mark, on)));
        set.await?;
        Output::done()
    }
}
