//! Generation of the ids of events, endpoints and deliveries.

use sha2::{Digest as _, Sha256};

use crate::base62;
use crate::model::{DeliveryId, EndpointId, EventId};
use crate::runtime::{RandomError, RandomSource};

impl EventId {
    /// Generates an id: `evt_` and 22 random characters.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = base62::with_prefix("evt_", base62::random(random)?);
        Ok(Self::from_valid_text(id))
    }
}

impl EndpointId {
    /// Generates an id: `whe_` and 22 random characters.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = base62::with_prefix("whe_", base62::random(random)?);
        Ok(Self::from_valid_text(id))
    }
}

impl DeliveryId {
    /// Derives the id of the delivery of an event to an endpoint: `dlv_` and 22 characters of a hash of both ids.
    /// Queueing the same delivery twice yields the same id.
    pub fn derive(event: &EventId, endpoint: &EndpointId) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{event} {endpoint}")).into();
        let half = digest.first_chunk::<16>().copied().unwrap_or_default();
        Self::from_valid_text(base62::with_prefix("dlv_", base62::encode(half)))
    }
}
