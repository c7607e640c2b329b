//! What happens on the board, noted by the transaction in which it does and written to the outbox by the same.

mod around;
mod happening;

use forum_api::host::{Refusal, Result};
use forum_api::model::Timestamp;
use forum_api::runtime::SystemEntropy;
use forum_api::webhook::{Event, Occasion};

use super::db::Transaction;
pub use around::Around;
pub use happening::{
    EDITED, Happening, OfPoll, REPLIED, REPLY_DELETED, REPLY_RESTORED, STARTED, THREAD_DELETED,
    THREAD_RESTORED, Tell,
};

/// The time of one transaction, and what happened in it.
///
/// The time is taken where writes stand in line, so that it never runs against the order of ids.
#[derive(Debug)]
pub struct Events {
    /// When it happens.
    pub now: Timestamp,
    /// The member who does it; `None` for an operator.
    pub actor: Option<i64>,
    happened: Vec<Happening>,
}

impl Events {
    /// Nothing yet.
    pub const fn at(now: Timestamp) -> Self {
        Self {
            now,
            actor: None,
            happened: Vec::new(),
        }
    }

    /// Notes that something happened, which everybody who sees the forum may be told of.
    pub fn note(&mut self, happening: Happening) {
        self.happened.push(happening);
    }

    /// Writes the events of all that was noted to the outbox, as things are when the command is done.
    pub async fn write(self, tx: &Transaction<'_>) -> Result<Vec<Event>> {
        let mut events = Vec::new();
        for happening in &self.happened {
            events.extend(happening.tell(tx, self.actor, || self.occasion()).await?);
        }
        for event in &events {
            tx.change_texts(Event::INSERT, &event.parameters()).await?;
        }
        Ok(events)
    }

    fn occasion(&self) -> Result<Occasion> {
        Occasion::new(&SystemEntropy, self.now).map_err(Refusal::failed)
    }
}
