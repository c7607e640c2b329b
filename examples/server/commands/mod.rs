//! The commands beside serving: a file each, with what it takes and what it does.

mod board;
mod forum;
mod generate;
mod member;
mod openapi;
mod post;
mod setting;
mod thread;
pub mod token;

use clap::Subcommand;
use forum_api::host::Result;
use forum_api::scope::Surface;

use crate::cli::Common;
use crate::open;
use crate::output::Output;

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    OnBoard(OnBoard),
    /// Print the OpenAPI document
    Openapi(openapi::Openapi),
}

/// A command that works on a board's database, beside a running server or without one.
#[derive(Debug, Subcommand)]
pub enum OnBoard {
    /// Issue, list and revoke API tokens
    #[command(subcommand)]
    Token(token::Token),
    /// Take the board offline, or online again
    #[command(subcommand)]
    Board(board::Board),
    /// Add and ban members, put them into groups, and give them passwords
    #[command(subcommand)]
    Member(member::Member),
    /// Add forums, and name their moderators
    #[command(subcommand)]
    Forum(forum::Forum),
    /// Lock and pin threads
    #[command(subcommand)]
    Thread(thread::Thread),
    /// Approve and restore posts
    #[command(subcommand)]
    Post(post::Post),
    /// List the board's settings, or change one
    Setting(setting::Setting),
    /// Fill the forums General, Help and Members with made-up content
    Generate(generate::Generate),
}

impl Command {
    /// Whether it takes `--surface`.
    pub fn takes_surface(&self) -> bool {
        matches!(
            self,
            Self::OnBoard(OnBoard::Token(token::Token::Issue(_))) | Self::Openapi(_)
        )
    }

    /// Carries it out, and prints what it has to say. `surface` is the one that was named before the command.
    pub async fn run(self, common: &Common, surface: Surface) -> Result<()> {
        let output = match self {
            Self::OnBoard(command) => command.run(&common.database, surface).await?,
            Self::Openapi(openapi) => openapi.run(surface)?,
        };
        output.print(common.json);
        Ok(())
    }
}

impl OnBoard {
    async fn run(self, url: &str, surface: Surface) -> Result<Output> {
        let (database, board) = open::existing(url).await?;
        let outcome = match self {
            Self::Token(token) => token.run(&database, &board, surface).await,
            Self::Board(command) => command.run(&board).await,
            Self::Member(member) => member.run(&board).await,
            Self::Forum(forum) => forum.run(&board).await,
            Self::Thread(thread) => thread.run(&board).await,
            Self::Post(post) => post.run(&board).await,
            Self::Setting(setting) => setting.run(&board).await,
            Self::Generate(generate) => generate.run(&board).await,
        };
        database.close().await;
        outcome
    }
}
