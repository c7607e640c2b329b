//! The commands that work on a board's database.

use clap::Subcommand;
use forum_api::host::BoardResult;

use super::audit::AuditCommand;
use super::board::{
    BoardCommand, ForumCommand, GenerateCommand, PostCommand, SettingCommand, ThreadCommand,
};
use super::delivery::DeliveryCommand;
use super::member::MemberCommand;
use super::token::TokenCommand;
use super::webhook::WebhookCommand;
use crate::connect;
use crate::database_lock::DatabaseLock;
use crate::http::paths::web_urls;
use crate::output::{Output, counted};

const UP_TO_DATE: &str = "The database is up to date.";

/// A command that works on a board's database, beside a running server or without one.
#[derive(Debug, Subcommand)]
pub enum DatabaseCommand {
    /// Issue, list, revoke and purge API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Take the board offline or online
    #[command(subcommand)]
    Board(BoardCommand),
    /// List, add, ban and erase members, set groups and passwords
    #[command(subcommand)]
    Member(MemberCommand),
    /// List and add forums, add moderators
    #[command(subcommand)]
    Forum(ForumCommand),
    /// List, lock, unlock, pin and unpin threads
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// List, delete, approve and restore posts
    #[command(subcommand)]
    Post(PostCommand),
    /// Add, list, change and remove webhook endpoints
    Webhook(WebhookCommand),
    /// List, show, retry, remove and purge webhook deliveries
    #[command(subcommand)]
    Delivery(DeliveryCommand),
    /// List changes in the control panel and on the command line
    #[command(subcommand)]
    Audit(AuditCommand),
    /// List or change the board's settings
    Setting(SettingCommand),
    /// Fill forums with generated content
    ///
    /// The forums are General, Help and Members. On a board without forums, these forums are added first.
    Generate(GenerateCommand),
    /// Apply pending migrations to the database
    Migrate {
        /// Only check: exit with status 1 if migrations are pending
        #[arg(long)]
        check: bool,
    },
}

impl DatabaseCommand {
    /// Runs the command. Only `migrate` accepts a database with pending migrations.
    pub async fn run(self, url: &str) -> BoardResult<Output> {
        let _lock = DatabaseLock::shared(url)?;
        if let Self::Migrate { check: false } = self {
            let applied = connect::migrate(url).await?;
            let migrations = counted(applied.len(), "migration", "migrations");
            let done = format!("Applied {migrations}: {}.", applied.join(", "));
            return Output::message_if_changed(!applied.is_empty(), done, UP_TO_DATE.into());
        }
        let mut board = connect::open_current(url).await?;
        // Events of commands have the URLs of the pages of the server that was started last.
        if let Some(base_url) = board.base_url().await?.filter(|base_url| !base_url.is_empty()) {
            board = board.with_web_urls(&web_urls(&base_url));
        }
        let outcome = match self {
            Self::Token(command) => command.run(&board).await,
            Self::Board(command) => command.run(&board).await,
            Self::Member(command) => command.run(&board).await,
            Self::Forum(command) => command.run(&board).await,
            Self::Thread(command) => command.run(&board).await,
            Self::Post(command) => command.run(&board).await,
            Self::Webhook(command) => command.run(url, &board).await,
            Self::Delivery(command) => command.run(&board.database).await,
            Self::Audit(command) => command.run(&board).await,
            Self::Setting(command) => command.run(&board).await,
            Self::Generate(command) => command.run(&board).await,
            Self::Migrate { .. } => Output::message(UP_TO_DATE),
        };
        board.database.close().await;
        outcome
    }
}
