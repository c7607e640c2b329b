//! Generation of the ids of webhooks.

use sha2::{Digest as _, Sha256};

use crate::base62;
use crate::model::{DeliveryId, EndpointId, EventId};
use crate::runtime::{RandomError, RandomSource};

impl EventId {
    /// A new id, `evt_` and 22 random characters.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn generate(entropy: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = spell("evt_", base62::random(entropy)?);
        Ok(Self::parse(&id).unwrap_or_else(Self::nothing))
    }
}

impl EndpointId {
    /// A new id, `whe_` and 22 random characters.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn generate(entropy: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = spell("whe_", base62::random(entropy)?);
        Ok(Self::parse(&id).unwrap_or_else(Self::nothing))
    }
}

impl DeliveryId {
    /// The id of the delivery of an event to an endpoint: `dlv_` and 22 characters that follow from the two, so that
    /// it is the same however often it is queued.
    pub fn derive(event: &EventId, endpoint: &EndpointId) -> Self {
        let digest: [u8; 32] = Sha256::digest(format!("{event} {endpoint}")).into();
        let half = digest.first_chunk::<16>().copied().unwrap_or_default();
        let id = spell("dlv_", base62::encode(half));
        Self::parse(&id).unwrap_or_else(Self::nothing)
    }
}

/// The prefix, and as many characters as 128 bits take.
fn spell(prefix: &str, characters: [u8; 22]) -> String {
    let characters = characters.iter().map(|byte| char::from(*byte));
    prefix.chars().chain(characters).collect()
}
