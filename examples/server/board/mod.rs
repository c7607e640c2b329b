//! The reference board: a small but real board over SQLite.
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
pub mod demo;
mod edits;
mod events;
mod flood;
pub mod forums;
pub mod generate;
pub mod groups;
mod insert;
mod item;
pub mod look;
mod markdown;
mod members;
mod messages;
pub mod moderation;
pub mod passwords;
mod place;
#[cfg(test)]
mod plans;
mod polls;
mod position;
mod posts;
mod ratings;
mod replies;
mod row;
mod rules;
mod search;
pub mod settings;
mod sight;
mod subscriptions;
mod texts;
mod threads;
mod wake;

use std::sync::Arc;

use forum_api::Language;
use forum_api::clock::Clock;
use forum_api::host::{Member, Result};
use forum_api::model::Timestamp;
use forum_api::store::sqlite::{Database, migrate};
use forum_api::webhook::Event;
use rusqlite::{Connection, Savepoint};

use actor::Actor;
pub use authority::Unseen;
use events::Events;
use texts::Texts;
use wake::Wake;

/// The board's schema, in the steps in which it came to be.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The table that holds which of them were applied.
const MIGRATIONS: &str = "board_migrations";

/// The board.
#[derive(Clone, Debug)]
pub struct Board {
    database: Database,
    clock: Arc<dyn Clock>,
    say: &'static Texts,
    wake: Wake,
}

impl Board {
    /// The board in `database`, which speaks `language`.
    pub fn new(database: Database, clock: Arc<dyn Clock>, language: Language) -> Self {
        let say = Texts::of(language);
        Self {
            database,
            clock,
            say,
            wake: Wake::default(),
        }
    }

    /// The board that calls `wake` whenever there are new events in the outbox. It has to be quick.
    pub fn with_wake(self, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let wake = Wake::new(wake);
        Self { wake, ..self }
    }

    /// Whether the database has a board already.
    pub async fn is_there(&self) -> Result<bool> {
        self.read(|connection| Ok(look::is_there(connection)?))
            .await
    }

    /// Brings the tables of a board that is there up to date.
    pub async fn migrate(&self) -> Result<()> {
        let steps = self.read(|connection| Ok(look::steps(connection)?)).await?;
        if steps as usize >= STEPS.len() {
            return Ok(());
        }
        let migrated = self.write(|tx, _| Ok(migrate(tx, MIGRATIONS, STEPS)?));
        migrated.await.map(drop)
    }

    /// Begins a board with what `fill` puts there, all of it or nothing; `None`, and nothing, where there is one.
    pub async fn begin<T: Send + 'static>(
        &self,
        fill: impl FnOnce(&Savepoint<'_>, Timestamp) -> Result<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let begun = self.write(|tx, events| match migrate(tx, MIGRATIONS, STEPS)? {
            0 => fill(tx, events.now).map(Some),
            _ => Ok(None),
        });
        begun.await
    }

    /// Looks at one state of the board.
    pub async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.database.read(look).await
    }

    /// Changes the board in one transaction, all of it or nothing; `change` notes what happens with it, which goes to
    /// the outbox with the change.
    pub async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Savepoint<'_>, &mut Events) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let clock = self.clock.clone();
        let change = self.database.write(move |tx| {
            let mut events = Events::at(clock.now());
            let done = change(tx, &mut events)?;
            events.write(tx).map(|events| (done, events))
        });
        let (done, events): (T, Vec<Event>) = change.await?;
        self.wake.tell(&events);
        Ok(done)
    }

    /// Changes the board for `by`, who may what they may by then.
    async fn act<T: Send + 'static>(
        &self,
        by: &Member,
        command: impl FnOnce(&Savepoint<'_>, &mut Events, &Actor, &Texts) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (member, say) = (by.user().number()?, self.say);
        let act = self.write(move |tx, events| {
            let actor = Actor::acting(tx, member, say)?;
            events.actor = actor.member;
            command(tx, events, &actor, say)
        });
        act.await
    }
}
