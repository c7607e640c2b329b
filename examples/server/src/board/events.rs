//! Events of a transaction: commands record them, and they are written to the outbox with the change.

use forum_api::host::{BoardResult, RequestInfo, WebUrls};
use forum_api::model::Timestamp;
use forum_api::webhook::{Event, EventMeta};

use super::access::actor::Actor;
use super::db::{LastChange, Transaction};
use super::texts::Texts;

/// The time of one command, and its events, which are written at its end.
///
/// A command that locks rows sets the time after it has the locks, so that times follow the order of the posts of a
/// thread.
#[derive(Debug)]
pub struct EventRecorder {
    pub now: Timestamp,
    /// `None` for an operator, and for a change that loads no actor.
    pub actor: Option<i64>,
    /// The request that caused the command. `None` in the same cases as `actor`.
    pub request: Option<RequestInfo>,
    /// `false` if the board has no feed and no webhook endpoint is enabled: events are then not recorded. `true` if this is not
    /// known.
    pub has_readers: bool,
    web_urls: WebUrls,
    recorded: Vec<Event>,
    is_committed: bool,
}

impl EventRecorder {
    pub const fn at(now: Timestamp, web_urls: WebUrls) -> Self {
        Self {
            now,
            actor: None,
            request: None,
            has_readers: true,
            web_urls,
            recorded: Vec::new(),
            is_committed: false,
        }
    }

    /// Returns the number of events that are recorded.
    pub const fn count(&self) -> usize {
        self.recorded.len()
    }

    /// Records an event, unless it has no readers.
    pub fn record(&mut self, event: impl FnOnce(EventMeta) -> Event) -> BoardResult<()> {
        if self.has_readers {
            let caused = match &self.request {
                Some(request) => request.event(self.now)?,
                None => RequestInfo::background(self.now).event(self.now)?,
            };
            let meta = caused.web_urls(&self.web_urls);
            self.recorded.push(event(meta));
        }
        Ok(())
    }

    /// Runs `change`, writes the recorded events to the outbox, and commits. The command can neither run another
    /// statement nor record another event.
    pub async fn commit_with(
        &mut self,
        tx: &Transaction<'_>,
        change: Option<LastChange<'_>>,
    ) -> BoardResult<()> {
        let insert =
            |event: &Event| LastChange::Texts(Event::INSERT_SQL, event.insert_parameters());
        let changes: Vec<_> = change.into_iter().chain(self.recorded.iter().map(insert)).collect();
        tx.commit_with(&changes).await?;
        self.is_committed = true;
        Ok(())
    }

    /// Commits, unless the command has, and returns the events.
    pub async fn commit(mut self, tx: &Transaction<'_>) -> BoardResult<Vec<Event>> {
        if !self.is_committed {
            self.commit_with(tx, None).await?;
        }
        Ok(self.recorded)
    }
}

/// What a command runs with.
#[derive(Debug)]
pub struct Command<'a> {
    pub tx: &'a Transaction<'a>,
    pub events: &'a mut EventRecorder,
    /// The member who runs the command.
    pub actor: &'a Actor,
    /// The texts of errors.
    pub texts: &'static Texts,
}
