//! How the ids of webhooks come to be.

use std::collections::HashSet;

use forum_api::model::{DeliveryId, EndpointId, EventId};
use forum_api::runtime::{Entropy, NoEntropy, SeededEntropy};
use forum_api::webhook::Secret;
use proptest::prelude::*;

/// A source of randomness that does not answer.
#[derive(Debug)]
struct Dry;

impl Entropy for Dry {
    fn fill(&self, _: &mut [u8]) -> Result<(), NoEntropy> {
        Err(NoEntropy)
    }
}

fn is_spelt(id: &str, prefix: &str) -> bool {
    let rest = id.strip_prefix(prefix);
    rest.is_some_and(|rest| rest.len() == 22 && rest.bytes().all(|it| it.is_ascii_alphanumeric()))
}

#[test]
fn each_new_id_is_another() {
    let entropy = SeededEntropy::new(1);
    let events: HashSet<_> = (0..1000)
        .map(|_| EventId::mint(&entropy).unwrap().to_string())
        .collect();
    assert_eq!(events.len(), 1000);
    assert!(events.iter().all(|id| is_spelt(id, "evt_")));
    let endpoint = EndpointId::mint(&entropy).unwrap().to_string();
    assert!(is_spelt(&endpoint, "whe_"), "{endpoint}");
}

#[test]
fn nothing_is_made_without_randomness() {
    assert_eq!(EventId::mint(&Dry), Err(NoEntropy));
    assert_eq!(EndpointId::mint(&Dry), Err(NoEntropy));
    assert_eq!(Secret::mint(&Dry).err(), Some(NoEntropy));
}

#[test]
fn a_delivery_id_stays_what_it_is() {
    let id = DeliveryId::of(
        &EventId::new("evt_1").unwrap(),
        &EndpointId::new("whe_1").unwrap(),
    );
    assert_eq!(id.to_string(), "dlv_5jGmSOqVqDse6Qyu7ViPwf");
}

proptest! {
    #[test]
    fn a_delivery_id_follows_from_event_and_endpoint_alone(
        event in "[a-z_]{1,3}", endpoint in "[a-z_]{1,3}", others in ("[a-z_]{1,3}", "[a-z_]{1,3}"),
    ) {
        let id = |event: &str, endpoint: &str| {
            DeliveryId::of(&EventId::new(event).unwrap(), &EndpointId::new(endpoint).unwrap()).to_string()
        };
        let this = id(&event, &endpoint);
        prop_assert!(is_spelt(&this, "dlv_"));
        let same = (&event, &endpoint) == (&others.0, &others.1);
        prop_assert_eq!(this == id(&others.0, &others.1), same);
    }
}
