//! How much is under way, and where to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Settings;
use super::context::Crew;
use crate::model::EndpointId;
use crate::store::Claim;

/// The attempts that are under way.
#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    running: HashMap<EndpointId, u32>,
    /// Whether a claim is under way, which knows nothing of slots that were freed since.
    claiming: bool,
}

impl Slots {
    /// What may be claimed now; `None` when all slots are taken.
    pub(super) fn claim(&self, settings: &Settings) -> Option<Claim> {
        let mut taken = self.lock();
        let room = settings.at_once.saturating_sub(taken.count());
        taken.claiming = room > 0;
        taken.claiming.then(|| Claim {
            room,
            per_endpoint: settings.per_endpoint,
            running: taken.running.clone(),
            lease: settings.lease(),
        })
    }

    /// All that was claimed has its slot.
    pub(super) fn claimed(&self) {
        self.lock().claiming = false;
    }

    /// How many are taken.
    pub(super) fn count(&self) -> u32 {
        self.lock().count()
    }

    fn take(&self, endpoint: &EndpointId) {
        *self.lock().running.entry(endpoint.clone()).or_default() += 1;
    }

    /// Whether something may wait for the slot that is free now.
    fn free(&self, endpoint: &EndpointId, settings: &Settings) -> bool {
        let mut taken = self.lock();
        let all = taken.count();
        let here = taken.running.remove(endpoint).unwrap_or_default();
        if here > 1 {
            taken.running.insert(endpoint.clone(), here - 1);
        }
        taken.claiming || all >= settings.at_once || here >= settings.per_endpoint
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn count(&self) -> u32 {
        self.running.values().sum()
    }
}

/// The place of one attempt, free again when this is dropped.
pub(super) struct Slot {
    crew: Arc<Crew>,
    endpoint: EndpointId,
}

impl Slot {
    pub(super) fn take(crew: &Arc<Crew>, endpoint: &EndpointId) -> Self {
        crew.slots.take(endpoint);
        Self {
            crew: Arc::clone(crew),
            endpoint: endpoint.clone(),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.crew.slots.free(&self.endpoint, &self.crew.settings) {
            self.crew.deliveries.ring();
        }
    }
}
