//! A delivery from its event to its end.

use forum_api::Environment;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::model::DeliveryId;
use forum_api::runtime::{Inline, ManualClock};
use forum_api::store::Webhooks;
use forum_api::store::sqlite::{Database, Location};
use forum_api::webhook::{Attempted, Event, HttpSettings, Progress, Resolver, Secret};
use forum_api::webhook_admin::{Registration, Registry};
use tempfile::TempDir;

use crate::sample::{after, event, secret};
use crate::wire::{Names, Paced, Receiver, transport};
use crate::worker::people::People;

/// The waits between attempts before they are spread, in seconds.
const WAITS: [u32; 5] = [30, 60, 120, 240, 480];

/// What is sent.
const BODY: &str = r#"{"event":"evt_1","data":{"title":"Grüße, 世界"}}"#;

/// Whom a delivery goes to.
pub(super) struct Aim {
    pub(super) receiver: Receiver,
    /// The scheme and the name by which it is registered.
    pub(super) origin: &'static str,
    /// Where the name leads.
    pub(super) names: Arc<Names>,
    pub(super) settings: HttpSettings,
}

/// One endpoint, one delivery, and both ends of it.
pub(super) struct Story {
    pub(super) receiver: Receiver,
    pub(super) stores: Webhooks,
    pub(super) worker: Paced,
    pub(super) delivery: DeliveryId,
    secret: Secret,
    _directory: TempDir,
}

impl Story {
    /// Somebody registers the receiver, something happens, and a worker makes its first attempt.
    pub(super) async fn begin(aim: Aim) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("forum.db");
        let database = Database::open(&Location::File { path, create: true }).unwrap();
        let stores = Webhooks::in_sqlite(&database);
        let clock = Arc::new(ManualClock::at(after(0)));
        let environment = Environment::new(Inline).clock(clock.clone());
        let registry = Registry::new(stores.clone(), environment)
            .resolver(aim.names.clone() as Arc<dyn Resolver>)
            .allow_private(aim.settings.allow_private);
        let registered = registry.register(Registration {
            url: aim.receiver.url(aim.origin),
            topics: "*".parse().unwrap(),
            owner: 1.into(),
            secret: Some(secret("A")),
        });
        let endpoint = registered.await.unwrap().endpoint.id;
        let event = Event {
            occurred_at: after(0),
            ..event(BODY)
        };
        stores.outbox.put(&event).await.unwrap();
        let transport = transport(aim.settings, &aim.names);
        let people = Arc::new(People::new(Inline));
        Self {
            worker: Paced::start(&clock, &stores, people, transport).await,
            receiver: aim.receiver,
            delivery: DeliveryId::of(&event.id, &endpoint),
            stores,
            secret: secret("A"),
            _directory: directory,
        }
    }

    /// Where it stands, and the log of its attempts.
    pub(super) async fn stands(&self) -> (Progress, Vec<Attempted>) {
        let found = self.stores.deliveries.find(&self.delivery).await;
        let (delivery, log) = found.unwrap().unwrap();
        (delivery.progress, log)
    }

    /// Where it stands after its first attempt, and after the longest time that each wait may take.
    pub(super) async fn stations(&self) -> Vec<Progress> {
        let mut stations = vec![self.stands().await.0];
        for wait in WAITS {
            self.worker.pass(longest(wait)).await;
            stations.push(self.stands().await.0);
        }
        stations
    }

    /// What the log says of each attempt: the answer, or what went wrong with the receiver.
    pub(super) async fn told(&self) -> Vec<String> {
        let address = self.receiver.address().to_string();
        let (_, log) = self.stands().await;
        let told = log.iter().map(told);
        told.map(|told| told.replace(&address, "the receiver"))
            .collect()
    }

    /// That each wait of these attempts is as long as the rule says.
    pub(super) fn check_waits(attempts: &[Attempted]) {
        for (pair, wait) in attempts.windows(2).zip(WAITS) {
            let waited = pair[1].at.since(pair[0].at);
            let least = Duration::from_secs(wait.into());
            assert!((least..longest(wait)).contains(&waited), "{waited:?}");
        }
    }

    /// That each request is as it has to be: the id and the body of the first, at the time of an attempt, with a
    /// signature of its own. Gives their timestamps.
    pub(super) async fn requests(&mut self) -> Vec<String> {
        let (_, log) = self.stands().await;
        let mut seen = self.receiver.ended().await;
        seen.retain(|seen| !seen.request.is_empty());
        for seen in &seen {
            assert_eq!(seen.header("x-forum-delivery"), self.delivery.to_string());
            assert_eq!(seen.body(), BODY);
            let time = seen.header("x-forum-timestamp");
            let attempt = log.iter().find(|attempt| second(attempt) == time);
            assert!(seen.is_signed(&self.secret, attempt.unwrap().at));
        }
        let signatures = seen.iter().map(|seen| seen.header("x-forum-signature"));
        assert_eq!(signatures.collect::<HashSet<_>>().len(), seen.len());
        let times = seen.iter().map(|seen| seen.header("x-forum-timestamp"));
        times.collect()
    }
}

fn longest(wait: u32) -> Duration {
    Duration::from_secs(wait.into()) * 6 / 5
}

/// When an attempt began, as a request says it.
pub(super) fn second(attempt: &Attempted) -> String {
    (attempt.at.as_millis() / 1000).to_string()
}

fn told(attempt: &Attempted) -> String {
    let Some(status) = attempt.status else {
        return attempt.error.clone().unwrap();
    };
    assert_eq!(attempt.error, None);
    match attempt.answer.as_deref().unwrap() {
        long if long.len() > 100 => format!("{status}, {} bytes", long.len()),
        answer => format!("{status} {answer}"),
    }
}
