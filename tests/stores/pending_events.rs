//! Events in a board's own key-value store: an ordered map. Each injected fault fails the rule that it breaks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::conformance::stores::{PendingEventFixture, StoreFactory, run};
use forum_api::conformance::{FixtureResult, TestFailure};
use forum_api::host::{BackendResult, OrInternal as _};
use forum_api::model::EventId;
use forum_api::store::{PendingEventStore, Stores, WebhookStores};
use forum_api::test_util::stores_in_memory;
use forum_api::webhook::Event;

/// A map from the number of an event to its JSON.
#[derive(Default)]
pub(crate) struct KeyValueEvents {
    rows: Mutex<BTreeMap<u64, String>>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    LosesForums,
    NewestFirst,
    IgnoresLimit,
    RemovesAll,
    RemovesNone,
    RemovesWhenRead,
    NewIdOnEachRead,
}

#[async_trait]
impl PendingEventStore for KeyValueEvents {
    async fn pending(&self, limit: u32) -> BackendResult<Vec<Event>> {
        let mut rows = self.rows.lock().unwrap();
        let decoded = rows.values().map(|json| serde_json::from_str(json).or_internal());
        let mut events: Vec<Event> = decoded.collect::<Result<_, _>>()?;
        match self.fault {
            Fault::NewestFirst => events.reverse(),
            Fault::LosesForums => events.iter_mut().for_each(|event| event.forum_id = None),
            Fault::NewIdOnEachRead => {
                for (event, row) in events.iter_mut().zip(rows.values_mut()) {
                    event.id = EventId::parse(&format!("{}x", event.id)).or_internal()?;
                    *row = serde_json::to_string(event).or_internal()?;
                }
            }
            Fault::RemovesWhenRead => rows.clear(),
            _ => {}
        }
        if self.fault != Fault::IgnoresLimit {
            events.truncate(limit as usize);
        }
        Ok(events)
    }

    async fn remove(&self, ids: &[EventId]) -> BackendResult<()> {
        let mut rows = self.rows.lock().unwrap();
        rows.retain(|_, row| match self.fault {
            Fault::RemovesAll => false,
            Fault::RemovesNone => true,
            _ => {
                let event: Event = serde_json::from_str(row).unwrap();
                !ids.contains(&event.id)
            }
        });
        Ok(())
    }
}

#[async_trait]
impl PendingEventFixture for KeyValueEvents {
    async fn insert(&self, event: &Event) -> FixtureResult<()> {
        let mut rows = self.rows.lock().unwrap();
        let number = rows.last_key_value().map_or(0, |(last, _)| last + 1);
        rows.insert(number, serde_json::to_string(event)?);
        Ok(())
    }
}

struct Faulty(Fault);

#[async_trait]
impl StoreFactory for Faulty {
    async fn create(&self) -> FixtureResult<(Stores, WebhookStores)> {
        Ok(stores_in_memory())
    }

    async fn create_pending_events(&self) -> FixtureResult<Option<Arc<dyn PendingEventFixture>>> {
        let fault = self.0;
        Ok(Some(Arc::new(KeyValueEvents { fault, ..KeyValueEvents::default() })))
    }
}

#[tokio::test]
async fn each_fault_of_pending_events_fails_its_rule() {
    const ORDER: &str = "pending_events::inserted_events_are_pending_in_order";
    const REMOVAL: &str = "pending_events::only_the_named_events_are_removed";
    const KILLS: &str =
        "pending_events::a_kill_between_any_steps_neither_loses_nor_repeats_an_event";
    for (fault, rule) in [
        (Fault::LosesForums, ORDER),
        (Fault::NewestFirst, ORDER),
        (Fault::IgnoresLimit, ORDER),
        (Fault::RemovesAll, REMOVAL),
        (Fault::RemovesNone, REMOVAL),
        (Fault::RemovesWhenRead, KILLS),
        (Fault::NewIdOnEachRead, KILLS),
    ] {
        let result = run(rule, &Faulty(fault)).await;
        let has_failed = matches!(result, Err(TestFailure::Failed(_)));
        assert!(has_failed, "{fault:?}: {result:?}");
        assert_eq!(run(rule, &Faulty(Fault::None)).await, Ok(()), "{rule}");
    }
}
