//! Limits of concurrent attempts, in total and for each endpoint.

use std::collections::HashMap;
use std::sync::Mutex;

use super::settings::WorkerSettings;
use crate::lock::lock;
use crate::model::EndpointId;
use crate::store::ClaimRequest;
use crate::webhook::Endpoint;

#[derive(Debug, Default)]
pub(super) struct Slots(Mutex<InFlight>);

#[derive(Debug, Default)]
struct InFlight {
    endpoints: HashMap<EndpointId, Attempts>,
    /// True while a claim is in progress. The claim does not include slots that are freed meanwhile.
    is_claiming: bool,
}

/// Attempts of an endpoint in flight.
#[derive(Debug, Default)]
struct Attempts {
    count: u32,
    /// True if the last attempt before the last claim failed or took longer than a second.
    is_impaired: bool,
}

impl Slots {
    /// Begins a claim. Returns a request for as many deliveries as there are free slots; `None` if all slots are in
    /// use.
    pub(super) fn begin_claim(&self, settings: &WorkerSettings) -> Option<ClaimRequest> {
        let mut in_flight = lock(&self.0);
        let limit = settings.max_in_flight.saturating_sub(in_flight.total());
        in_flight.is_claiming = limit > 0;
        let endpoints = in_flight.endpoints.iter();
        in_flight.is_claiming.then(|| ClaimRequest {
            limit,
            max_in_flight_per_endpoint: settings.max_in_flight_per_endpoint,
            in_flight_by_endpoint: endpoints
                .map(|(endpoint, attempts)| (endpoint.clone(), attempts.count))
                .collect(),
            max_impaired: settings.max_impaired().saturating_sub(in_flight.impaired()),
            lease_duration: settings.lease_duration(),
        })
    }

    /// Ends a claim, after its deliveries have acquired their slots.
    pub(super) fn end_claim(&self) {
        lock(&self.0).is_claiming = false;
    }

    pub(super) fn count(&self) -> u32 {
        lock(&self.0).total()
    }

    pub(super) fn acquire(&self, endpoint: &Endpoint) {
        let mut in_flight = lock(&self.0);
        let attempts = in_flight.endpoints.entry(endpoint.id.clone()).or_default();
        attempts.count += 1;
        attempts.is_impaired = endpoint.is_impaired();
    }

    /// Frees a slot. Returns `true` if a delivery may be waiting for it.
    pub(super) fn release(&self, endpoint: &EndpointId, settings: &WorkerSettings) -> bool {
        let mut in_flight = lock(&self.0);
        let total = in_flight.total();
        let impaired = in_flight.impaired();
        let Some(attempts) = in_flight.endpoints.get_mut(endpoint) else {
            return false;
        };
        let is_limited = attempts.count >= settings.max_in_flight_per_endpoint
            || attempts.is_impaired && impaired >= settings.max_impaired();
        attempts.count -= 1;
        if attempts.count == 0 {
            in_flight.endpoints.remove(endpoint);
        }
        in_flight.is_claiming || total >= settings.max_in_flight || is_limited
    }
}

impl InFlight {
    fn total(&self) -> u32 {
        self.endpoints.values().map(|attempts| attempts.count).sum()
    }

    /// Returns the number of attempts to endpoints whose last attempt failed or took longer than a second.
    fn impaired(&self) -> u32 {
        let endpoints = self.endpoints.values();
        let impaired = endpoints.filter(|attempts| attempts.is_impaired);
        impaired.map(|attempts| attempts.count).sum()
    }
}
