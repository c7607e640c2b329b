//! Endpoints, events, and what a worker asks for.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use forum_api::model::{EndpointId, EventId, Timestamp, UserId};
use forum_api::store::Claim;
use forum_api::webhook::{Endpoint, Event, Progress, Sealed, State, Topic, Topics};

/// How far a delivery has come whose first attempt succeeded.
pub const DELIVERED: Progress = Progress {
    state: State::Delivered,
    attempts: 1,
    due_at: None,
};

pub fn claim() -> Claim {
    Claim {
        room: 64,
        per_endpoint: 4,
        running: HashMap::new(),
        lease: Duration::from_secs(60),
    }
}

pub fn endpoint(number: u64) -> Endpoint {
    Endpoint {
        id: EndpointId::new(&format!("whe_{number:022}")).unwrap(),
        url: "https://example.com".into(),
        topics: Topics {
            all: true,
            named: BTreeSet::new(),
        },
        owner: UserId::from(3),
        enabled: true,
        created_at: at(0),
        secret: Sealed::new(vec![7; 49]),
        pending: None,
        version: 1,
    }
}

pub fn event(number: u64) -> Event {
    Event {
        id: EventId::new(&format!("evt_{number:022}")).unwrap(),
        topic: Topic::POST_CREATED,
        occurred_at: happened(number),
        forum: None,
        body: format!("{{\"text\":\"{}\"}}", "x".repeat(1_000)),
    }
}

/// When the event with this number happened: one after the other, all in the past.
pub fn happened(number: u64) -> Timestamp {
    at(number.cast_signed() - 100_000_000)
}

pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_767_225_600_000 + millis)
}
