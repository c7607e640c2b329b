//! Events in memory.

use std::collections::{BTreeSet, HashMap};

use crate::model::{EventId, Timestamp};
use crate::webhook::Event;

/// Events that wait or that a delivery needs.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Each with how many deliveries need it.
    kept: HashMap<EventId, (Event, usize)>,
    waiting: BTreeSet<(Timestamp, EventId)>,
}

impl Events {
    /// Adds an event that waits, unless it is there.
    pub(super) fn put(&mut self, event: &Event) {
        if self.keep(event) {
            self.waiting.insert(place(event));
        }
    }

    /// Adds an event that does not wait; whether it was not there.
    pub(super) fn keep(&mut self, event: &Event) -> bool {
        let is_new = !self.kept.contains_key(&event.id);
        if is_new {
            self.kept.insert(event.id.clone(), (event.clone(), 0));
        }
        is_new
    }

    pub(super) fn get(&self, id: &EventId) -> Option<&Event> {
        self.kept.get(id).map(|(event, _)| event)
    }

    /// Those that wait, the oldest first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Event> {
        self.waiting.iter().filter_map(|(_, id)| self.get(id))
    }

    /// The event, if it waits. From now on it does not.
    pub(super) fn take_waiting(&mut self, id: &EventId) -> Option<Event> {
        let event = self.get(id)?.clone();
        self.waiting.remove(&place(&event)).then_some(event)
    }

    /// One more delivery needs the event.
    pub(super) fn need(&mut self, id: &EventId) {
        if let Some((_, needed)) = self.kept.get_mut(id) {
            *needed += 1;
        }
    }

    /// One delivery that needed the event is away.
    pub(super) fn leave(&mut self, id: &EventId) {
        if let Some((_, needed)) = self.kept.get_mut(id) {
            *needed -= 1;
        }
        self.forget_unneeded(id);
    }

    /// Forgets the event if it neither waits nor is needed.
    pub(super) fn forget_unneeded(&mut self, id: &EventId) {
        let is_unneeded = |(event, needed): &(Event, usize)| {
            *needed == 0 && !self.waiting.contains(&place(event))
        };
        if self.kept.get(id).is_some_and(is_unneeded) {
            self.kept.remove(id);
        }
    }
}

fn place(event: &Event) -> (Timestamp, EventId) {
    (event.occurred_at, event.id.clone())
}
