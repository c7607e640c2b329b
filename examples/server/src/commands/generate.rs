//! `generate`.

use clap::{Args, value_parser};
use forum_api::host::Result;
use indicatif::{ProgressBar, ProgressStyle};

use crate::board::generate::{self, Amount};
use crate::board::{Board, demo};
use crate::confirm::Confirm;
use crate::output::Output;

/// Bulk content: half of the threads in General, and half of the replies in one of them.
#[derive(Debug, Args)]
pub struct Generate {
    /// How many members
    #[arg(long, value_name = "N", default_value = "100", value_parser = value_parser!(u64).range(1..=MOST))]
    members: u64,
    /// How many threads [default: a tenth of the posts]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MOST))]
    threads: Option<u64>,
    /// How many posts, the first ones of the threads among them
    #[arg(long, value_name = "N", default_value = "1000", value_parser = value_parser!(u64).range(1..=MOST))]
    posts: u64,
    /// The same number makes the same content
    #[arg(long, default_value = "1")]
    seed: u64,
    #[command(flatten)]
    confirm: Confirm,
}

const MOST: u64 = 1_000_000_000;

/// How far it is, and how long it will take.
const STYLE: &str = "{bar:40} {human_pos} of {human_len}, {eta} to go";

impl Generate {
    /// Carries it out.
    pub async fn run(self, board: &Board) -> Result<Output> {
        let fresh = board.read(|connection| Box::pin(demo::is_fresh(connection)));
        if !fresh.await? {
            let what =
                "This board holds more than the demo content. Generated content cannot be removed.";
            self.confirm.ask(what)?;
        }
        let amount = Amount {
            members: self.members,
            threads: self.threads.unwrap_or_else(|| (self.posts / 10).max(1)),
            posts: self.posts,
        };
        let style =
            ProgressStyle::with_template(STYLE).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(amount.total()).with_style(style);
        generate::run(board, amount, self.seed, |made| bar.set_position(made)).await?;
        bar.finish_and_clear();
        Output::done()
    }
}
