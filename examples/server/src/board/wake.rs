//! Whoever is to know that there are new events in the outbox.

use std::fmt;
use std::sync::Arc;

use forum_api::webhook::Event;

/// What is called when there are new events; nothing by default.
#[derive(Clone, Default)]
pub struct Wake(Option<Arc<dyn Fn() + Send + Sync>>);

impl Wake {
    /// Calls `wake`.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(wake)))
    }

    /// Tells of these events, which were committed.
    pub fn tell(&self, events: &[Event]) {
        for event in events {
            tracing::debug!(id = %event.id, topic = %event.topic, "committed");
        }
        if let Some(wake) = self.0.as_ref().filter(|_| !events.is_empty()) {
            wake();
        }
    }
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wake")
    }
}
