//! How many attempts are in progress, in all and to each endpoint.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::WorkerSettings;
use super::context::WorkerContext;
use crate::model::EndpointId;
use crate::store::ClaimRequest;

#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<InFlight>);

#[derive(Debug, Default)]
struct InFlight {
    running: HashMap<EndpointId, u32>,
    /// Whether a claim is in progress, which does not include slots that were freed since.
    is_claiming: bool,
}

impl Slots {
    /// What may be claimed now; `None` when all slots are taken.
    pub(super) fn claim(&self, settings: &WorkerSettings) -> Option<ClaimRequest> {
        let mut taken = self.lock();
        let room = settings
            .max_in_flight
            .saturating_sub(taken.running.values().sum());
        taken.is_claiming = room > 0;
        taken.is_claiming.then(|| ClaimRequest {
            limit: room,
            per_endpoint: settings.max_in_flight_per_endpoint,
            in_flight: taken.running.clone(),
            lease: settings.lease_duration(),
        })
    }

    /// Every claimed delivery has taken its slot.
    pub(super) fn claimed(&self) {
        self.lock().is_claiming = false;
    }

    pub(super) fn count(&self) -> u32 {
        self.lock().running.values().sum()
    }

    /// Returns whether a delivery may wait for the slot that is free now.
    fn free(&self, endpoint: &EndpointId, settings: &WorkerSettings) -> bool {
        let mut taken = self.lock();
        let all: u32 = taken.running.values().sum();
        let here = taken.running.remove(endpoint).unwrap_or_default();
        if here > 1 {
            taken.running.insert(endpoint.clone(), here - 1);
        }
        taken.is_claiming
            || all >= settings.max_in_flight
            || here >= settings.max_in_flight_per_endpoint
    }

    /// No code that could panic runs under this lock.
    fn lock(&self) -> MutexGuard<'_, InFlight> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one attempt, freed on drop.
pub(super) struct Slot {
    context: Arc<WorkerContext>,
    endpoint: EndpointId,
}

impl Slot {
    pub(super) fn take(context: &Arc<WorkerContext>, endpoint: &EndpointId) -> Self {
        let mut taken = context.slots.lock();
        *taken.running.entry(endpoint.clone()).or_default() += 1;
        Self {
            context: Arc::clone(context),
            endpoint: endpoint.clone(),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let context = &self.context;
        if context.slots.free(&self.endpoint, &context.settings) {
            context.deliveries.notify();
        }
    }
}
