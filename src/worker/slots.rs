//! Limits of concurrent attempts, in total and for each endpoint.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use super::settings::WorkerSettings;
use crate::lock::lock;
use crate::model::EndpointId;
use crate::store::ClaimRequest;

#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<InFlight>);

#[derive(Debug, Default)]
struct InFlight {
    attempts: HashMap<EndpointId, u32>,
    /// True while a claim is in progress. The claim does not include slots that are freed meanwhile.
    is_claiming: bool,
}

impl Slots {
    /// Begins a claim. Returns a request for as many deliveries as there are free slots; `None` if all slots are in
    /// use.
    pub(super) fn begin_claim(&self, settings: &WorkerSettings) -> Option<ClaimRequest> {
        let mut in_flight = self.lock();
        let used = in_flight.attempts.values().sum();
        let limit = settings.max_in_flight.saturating_sub(used);
        in_flight.is_claiming = limit > 0;
        in_flight.is_claiming.then(|| ClaimRequest {
            limit,
            max_in_flight_per_endpoint: settings.max_in_flight_per_endpoint,
            in_flight_by_endpoint: in_flight.attempts.clone(),
            lease_duration: settings.lease_duration(),
        })
    }

    /// Ends a claim, after its deliveries have acquired their slots.
    pub(super) fn end_claim(&self) {
        self.lock().is_claiming = false;
    }

    pub(super) fn count(&self) -> u32 {
        self.lock().attempts.values().sum()
    }

    pub(super) fn acquire(&self, endpoint: &EndpointId) {
        *self.lock().attempts.entry(endpoint.clone()).or_default() += 1;
    }

    /// Frees a slot. Returns `true` if a delivery may be waiting for it.
    pub(super) fn release(&self, endpoint: &EndpointId, settings: &WorkerSettings) -> bool {
        let mut in_flight = self.lock();
        let total: u32 = in_flight.attempts.values().sum();
        let of_endpoint = in_flight.attempts.remove(endpoint).unwrap_or_default();
        if of_endpoint > 1 {
            in_flight.attempts.insert(endpoint.clone(), of_endpoint - 1);
        }
        in_flight.is_claiming
            || total >= settings.max_in_flight
            || of_endpoint >= settings.max_in_flight_per_endpoint
    }

    fn lock(&self) -> MutexGuard<'_, InFlight> {
        lock(&self.0)
    }
}
