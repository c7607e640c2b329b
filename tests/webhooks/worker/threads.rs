//! Workers on threads of their own, in the time of the machine.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::clock::{SystemClock, TokioRuntime};
use forum_api::webhook::State;
use forum_api::webhook::worker::{Settings, Worker};
use tokio::task::yield_now;
use tokio::time::timeout;

use super::people::People;
use super::receivers::{Receivers, Reply};
use super::scene::{Scene, url};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_workers_share_a_store_and_neither_goes_beyond_its_bounds() {
    let mut scene = Scene::new();
    scene.clock = Arc::default();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let endpoints = names.map(|name| scene.add(name));
    let settings = Settings {
        at_once: 16,
        ..Settings::default()
    };
    let workers = [(), ()].map(|()| {
        let receivers = Receivers::new(Arc::new(SystemClock), TokioRuntime);
        for name in names {
            let answers = Reply::After(Duration::from_millis(1), 204);
            receivers.does(&url(name), [answers]);
        }
        let people = Arc::new(People::new(TokioRuntime));
        let stores = scene.stores.clone();
        let worker = Worker::new(stores, people, receivers.clone(), TokioRuntime);
        (worker.settings(settings.clone()).start(), receivers)
    });
    for _ in 0..50 {
        scene.happen();
        workers.iter().for_each(|(handle, _)| handle.wake());
        yield_now().await;
    }
    let all = 50 * endpoints.len();
    let delivered = async {
        while scene.count(State::Delivered) < all {
            yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), delivered).await.unwrap();
    let mut ids = HashSet::new();
    for (handle, receivers) in &workers {
        timeout(Duration::from_secs(30), handle.stop())
            .await
            .unwrap();
        assert!(handle.health().stopped);
        let (here, in_all) = receivers.most();
        assert!(here <= 4 && in_all <= 16, "{here} to one, {in_all} in all");
        for sent in receivers.sent() {
            assert!(ids.insert(sent.header("x-forum-delivery").to_owned()));
        }
    }
    assert_eq!(ids.len(), all);
}
