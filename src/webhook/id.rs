//! Generation of the ids of events, endpoints and deliveries.

use sha2::{Digest as _, Sha256};

use crate::base62;
use crate::model::{DeliveryId, EndpointId, EventId};
use crate::runtime::{RandomError, RandomSource};

impl EventId {
    /// Generates an id: `evt_` and 22 random characters.
    pub(crate) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = base62::with_prefix("evt_", base62::random(random)?);
        Ok(Self::from_valid_text(id))
    }
}

#[cfg(feature = "webhooks")]
impl EndpointId {
    /// Generates an id: `whe_` and 22 random characters.
    pub(crate) fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
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

#[cfg(all(test, feature = "webhooks"))]
mod tests {
    use std::collections::HashSet;

    use super::{EndpointId, EventId};
    use crate::runtime::{RandomError, RandomSource, SeededRandom};

    #[derive(Debug)]
    struct FailingRandom;

    impl RandomSource for FailingRandom {
        fn fill(&self, _: &mut [u8]) -> Result<(), RandomError> {
            Err(RandomError::new("no entropy"))
        }
    }

    #[test]
    fn ids_are_random() {
        let random = SeededRandom::new(1);
        type Generate = fn(&dyn RandomSource) -> Result<String, RandomError>;
        let kinds: [(&str, Generate); 2] = [
            ("evt_", |random| Ok(EventId::generate(random)?.to_string())),
            ("whe_", |random| Ok(EndpointId::generate(random)?.to_string())),
        ];
        for (prefix, generate) in kinds {
            let generated: HashSet<_> = (0..100).map(|_| generate(&random).unwrap()).collect();
            assert_eq!(generated.len(), 100);
            for id in generated {
                let random = id.strip_prefix(prefix).unwrap();
                assert!(
                    random.len() == 22 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
                );
            }
            assert!(generate(&FailingRandom).is_err());
        }
    }
}
