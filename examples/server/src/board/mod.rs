//! The reference board: a small but real board over SQLite or Postgres.
//!
//! One file per resource holds its queries and commands; `rules`, `access` and `settings` hold what is decided. Every
//! command runs in one transaction, which also notes what happened.

pub mod access;
pub mod accounts;
pub mod actor;
mod authority;
mod changes;
mod commands;
mod counts;
pub mod db;
pub mod demo;
mod edits;
mod events;
mod flood;
pub mod forums;
pub mod generate;
pub mod groups;
mod hints;
mod insert;
mod item;
pub mod look;
pub mod markdown;
mod members;
mod messages;
pub mod moderation;
pub mod passwords;
mod place;
#[cfg(test)]
mod plans;
mod polls;
mod position;
pub mod posts;
mod ratings;
mod replies;
mod rules;
mod schema;
mod search;
pub mod sessions;
pub mod settings;
mod sight;
mod subscriptions;
mod texts;
pub mod threads;
mod wake;

use std::sync::Arc;

use forum_api::Language;
use forum_api::host::{Member, Result};
use forum_api::model::Timestamp;
use forum_api::runtime::Clock;
use forum_api::store::SchemaStatus;
use forum_api::webhook::Event;

use actor::Actor;
pub use authority::Unseen;
use db::{Connection, Database, Doing, Transaction};
use events::Events;
use hints::Hints;
use texts::Texts;
use wake::Wake;

/// The board.
#[derive(Clone, Debug)]
pub struct Board {
    database: Database,
    clock: Arc<dyn Clock>,
    say: &'static Texts,
    wake: Wake,
    hints: Hints,
}

impl Board {
    /// The board in `database`, which speaks `language`.
    pub fn new(database: impl Into<Database>, clock: Arc<dyn Clock>, language: Language) -> Self {
        let say = Texts::of(language);
        Self {
            database: database.into(),
            clock,
            say,
            wake: Wake::default(),
            hints: Hints::default(),
        }
    }

    /// The board that calls `wake` whenever there are new events in the outbox. It has to be quick.
    pub fn with_wake(self, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let wake = Wake::new(wake);
        Self { wake, ..self }
    }

    /// Whether the database has a board already.
    pub async fn is_there(&self) -> Result<bool> {
        self.read_short(|connection| {
            Box::pin(async move { Ok(schema::is_there(connection).await?) })
        })
        .await
    }

    /// Compares the board's tables with those that this program needs.
    pub async fn schema_status(&self) -> Result<SchemaStatus> {
        self.read_short(|connection| Box::pin(async move { Ok(schema::status(connection).await?) }))
            .await
    }

    /// Applies the migrations that the board's tables lack.
    ///
    /// # Errors
    /// When the tables are those of a newer version: nothing is changed.
    pub async fn migrate(&self) -> Result<()> {
        if self.schema_status().await? == SchemaStatus::UpToDate {
            return Ok(());
        }
        let apply = self
            .database
            .migrate(|tx| Box::pin(async move { schema::apply(tx).await }));
        apply.await.map(drop)
    }

    /// Creates a board and fills it with `fill`, in one transaction. If there is a board, migrates its tables and returns
    /// `None`.
    pub async fn begin<T: Send + 'static>(
        &self,
        fill: impl for<'a> FnOnce(&'a Transaction<'a>, Timestamp) -> Doing<'a, T> + Send + 'static,
    ) -> Result<Option<T>> {
        let clock = self.clock.clone();
        let begin = self.database.migrate(move |tx| {
            Box::pin(async move {
                match schema::apply(tx).await? {
                    0 => fill(tx, clock.now()).await.map(Some),
                    _ => Ok(None),
                }
            })
        });
        begin.await
    }

    /// Looks at the board.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.database.read(look).await
    }

    /// Looks up something of the board by a key, which takes well below a millisecond.
    pub async fn read_short<T: Send + 'static>(
        &self,
        look: impl for<'a> FnOnce(&'a Connection<'a>) -> Doing<'a, T> + Send + 'static,
    ) -> Result<T> {
        self.database.read_short(look).await
    }

    /// Changes the board in one transaction, all of it or nothing; `change` notes what happens with it, which goes to
    /// the outbox with the change.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl for<'a> FnOnce(&'a Transaction<'a>, &'a mut Events) -> Doing<'a, T>
        + Send
        + 'static,
    ) -> Result<T> {
        let clock = self.clock.clone();
        let change = self.database.write(move |tx| {
            Box::pin(async move {
                let mut events = Events::at(clock.now());
                let done = change(tx, &mut events).await?;
                Ok((done, events.write(tx).await?))
            })
        });
        let (done, events): (T, Vec<Event>) = change.await?;
        self.wake.tell(&events);
        Ok(done)
    }

    /// Changes the board for `by`, who may what they may by then.
    async fn act<T: Send + 'static>(
        &self,
        by: &Member,
        command: impl for<'a> FnOnce(
            &'a Transaction<'a>,
            &'a mut Events,
            &'a Actor,
            &'static Texts,
        ) -> Doing<'a, T>
        + Send
        + 'static,
    ) -> Result<T> {
        let (member, say) = (by.user().number()?, self.say);
        let act = self.write(move |tx, events| {
            Box::pin(async move {
                let actor = Actor::acting(tx, member, say).await?;
                events.actor = actor.member;
                command(tx, events, &actor, say).await
            })
        });
        act.await
    }
}
