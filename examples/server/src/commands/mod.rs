//! The commands beside serving: a file each, with what it takes and what it does.

mod board;
mod delivery;
mod forum;
mod generate;
mod member;
mod openapi;
mod post;
mod setting;
mod thread;
pub mod token;
pub mod webhook;
mod worker;

use clap::Subcommand;
use forum_api::host::Result;

use crate::cli::{Common, Serve};
use crate::open::{self, Migrations};
use crate::output::Output;
use crate::serve;

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the board and send webhooks: the default
    Serve(Box<Serve>),
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
    /// Register endpoints that receive webhooks, and change them
    Webhook(webhook::Webhook),
    /// List deliveries of webhooks, retry and remove them
    #[command(subcommand)]
    Delivery(delivery::Delivery),
    /// Send webhooks, and do nothing else
    Worker(worker::Worker),
    /// List the board's settings, or change one
    Setting(setting::Setting),
    /// Fill the forums General, Help and Members with made-up content
    Generate(generate::Generate),
    /// Apply the migrations that the database lacks
    Migrate {
        /// Apply nothing; exit with status 1 if the database lacks migrations
        #[arg(long)]
        check: bool,
    },
}

impl Command {
    /// Whether it takes an option of serving, which may stand before it.
    pub fn takes(&self, option: &str) -> bool {
        let taken: &[&str] = match self {
            Self::Serve(_) => return true,
            Self::Openapi(_) | Self::OnBoard(OnBoard::Token(token::Token::Issue(_))) => {
                &["surface"]
            }
            Self::OnBoard(OnBoard::Webhook(_)) => &["allow_private_webhooks", "secret_key_file"],
            Self::OnBoard(OnBoard::Worker(_)) => &[
                "allow_private_webhooks",
                "secret_key_file",
                "webhook_initial_backoff",
                "webhook_max_backoff",
                "webhook_timeout",
                "webhook_keep",
                "log",
                "log_panics",
            ],
            Self::OnBoard(_) => &[],
        };
        taken.contains(&option)
    }

    /// Carries it out, and prints what it has to say. `before` is what stood before the command.
    pub async fn run(self, common: &Common, before: &Serve) -> Result<()> {
        let output = match self {
            Self::Serve(_) => return serve::serve(common, before).await,
            Self::OnBoard(command) => command.run(&common.database, before).await?,
            Self::Openapi(openapi) => openapi.run(before.surface.into())?,
        };
        output.print(common.json);
        Ok(())
    }
}

impl OnBoard {
    async fn run(self, url: &str, before: &Serve) -> Result<Output> {
        let migrations = match self {
            Self::Worker(_) | Self::Migrate { check: false } => Migrations::Apply,
            _ => Migrations::Require,
        };
        let (database, board) = open::existing(url, migrations).await?;
        let outcome = match self {
            Self::Token(token) => token.run(&database, &board, before.surface.into()).await,
            Self::Board(command) => command.run(&board).await,
            Self::Member(member) => member.run(&board).await,
            Self::Forum(forum) => forum.run(&board).await,
            Self::Thread(thread) => thread.run(&board).await,
            Self::Post(post) => post.run(&board).await,
            Self::Webhook(webhook) => webhook.run(url, &database, &board, &before.addresses).await,
            Self::Delivery(delivery) => delivery.run(&database).await,
            Self::Worker(worker) => worker.run(url, &database, &board, before).await,
            Self::Setting(setting) => setting.run(&board).await,
            Self::Generate(generate) => generate.run(&board).await,
            Self::Migrate { .. } => Output::done_with("The schema is up to date."),
        };
        database.close().await;
        outcome
    }
}
