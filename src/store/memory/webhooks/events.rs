//! Events in memory.

use std::collections::{BTreeSet, HashMap};

use crate::model::{EventId, Timestamp};
use crate::webhook::Event;

/// Events that wait or that a delivery needs.
#[derive(Debug, Default)]
pub(super) struct Events {
    kept: HashMap<EventId, Entry>,
    waiting: BTreeSet<Place>,
    /// How many have come.
    count: u64,
}

/// Where an event is among those that wait: by time, and within one moment as they came.
type Place = (Timestamp, u64, EventId);

#[derive(Debug)]
struct Entry {
    event: Event,
    /// How many came before it.
    number: u64,
    /// How many deliveries need it.
    needed: usize,
}

impl Entry {
    fn place(&self) -> Place {
        (self.event.occurred_at, self.number, self.event.id.clone())
    }
}

impl Events {
    /// Adds an event that waits, unless it is there.
    pub(super) fn put(&mut self, event: &Event) {
        if self.keep(event) {
            let place = self.kept.get(&event.id).map(Entry::place);
            self.waiting.extend(place);
        }
    }

    /// Adds an event that does not wait; whether it was not there.
    pub(super) fn keep(&mut self, event: &Event) -> bool {
        let is_new = !self.kept.contains_key(&event.id);
        if is_new {
            let entry = Entry {
                event: event.clone(),
                number: self.count,
                needed: 0,
            };
            self.count += 1;
            self.kept.insert(event.id.clone(), entry);
        }
        is_new
    }

    pub(super) fn get(&self, id: &EventId) -> Option<&Event> {
        self.kept.get(id).map(|entry| &entry.event)
    }

    /// Those that wait, the oldest first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Event> {
        self.waiting.iter().filter_map(|(.., id)| self.get(id))
    }

    /// The event, if it waits. From now on it does not.
    pub(super) fn take_waiting(&mut self, id: &EventId) -> Option<Event> {
        let entry = self.kept.get(id)?;
        let waited = self.waiting.remove(&entry.place());
        waited.then(|| entry.event.clone())
    }

    /// One more delivery needs the event.
    pub(super) fn need(&mut self, id: &EventId) {
        if let Some(entry) = self.kept.get_mut(id) {
            entry.needed += 1;
        }
    }

    /// One delivery that needed the event is away.
    pub(super) fn leave(&mut self, id: &EventId) {
        if let Some(entry) = self.kept.get_mut(id) {
            entry.needed -= 1;
        }
        self.forget_unneeded(id);
    }

    /// Forgets the event if it neither waits nor is needed.
    pub(super) fn forget_unneeded(&mut self, id: &EventId) {
        let is_unneeded =
            |entry: &Entry| entry.needed == 0 && !self.waiting.contains(&entry.place());
        if self.kept.get(id).is_some_and(is_unneeded) {
            self.kept.remove(id);
        }
    }
}
