//! Nodes killed at random under load: acknowledged writes exist, each event is delivered, and no budget is exceeded.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, interval, sleep_until};

use crate::audit::deliveries;
use crate::audit::events::DeliveredEvents;
use crate::audit::walk::{Contents, Reader};
use crate::audit::{self, budgets, figures};
use crate::cluster::Cluster;
use crate::load::{Load, Sent, clients};
use crate::node::Node;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::receiver::{Received, Receiver};
use crate::scale::Scale;
use crate::wait::wait_until;

/// Time between two kills.
const KILL_INTERVAL: Duration = Duration::from_secs(2);

/// Time between two requests of a client.
const CLIENT_INTERVAL: Duration = Duration::from_millis(25);

/// Response time of a receiver: long enough that workers are killed during attempts.
const RESPONSE_DELAY: Duration = Duration::from_millis(200);

/// Budgets that the load uses up in each window.
const BUDGETS: [&str; 8] = [
    "--window",
    "2",
    "--token-budget",
    "100",
    "--guest-budget",
    "30",
    "--trusted-proxies",
    "127.0.0.0/8",
];

/// The members of the load.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

#[test]
fn killed_nodes_lose_and_repeat_no_write() {
    run_drill(|addresses| run_with_kills(addresses, Scale::new(4, 3)));
}

/// A receiver with its secret and its requests.
struct RecordingReceiver {
    receiver: Receiver,
    secret: String,
    received: Vec<Received>,
}

impl RecordingReceiver {
    fn new(cluster: &Cluster, receiver: Receiver) -> Self {
        let secret = cluster.add_webhook(&receiver.url, "*");
        Self {
            receiver,
            secret,
            received: Vec::new(),
        }
    }

    fn take(&mut self) {
        self.received
            .extend(std::iter::from_fn(|| self.receiver.try_next()));
    }

    fn delivered(&self) -> DeliveredEvents {
        DeliveredEvents::new(&self.received, &self.secret)
    }
}

async fn run_with_kills(addresses: BackendUrls, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let requests = AtomicU32::new(0);
    let failing = Receiver::with_statuses(move |_| {
        let fails = requests.fetch_add(1, Ordering::SeqCst).is_multiple_of(3);
        Some(if fails { 503 } else { 204 })
    });
    let slow = Receiver::with_statuses(|_| {
        thread::sleep(RESPONSE_DELAY);
        Some(204)
    });
    let mut receivers = [slow, failing].map(|receiver| RecordingReceiver::new(&cluster, receiver));
    let tokens = MEMBERS.map(|member| (member, cluster.token(member)));
    let (reader, address) = cluster.start_reader();
    let mut admin = Reader::new(address, &cluster.token("admin"));
    let before = Contents::read(&mut admin).await;

    let load = Load::start(&cluster.nodes, clients(&tokens), CLIENT_INTERVAL);
    let kills = kill_at_random(&mut cluster, scale).await;
    let sent = load.finish().await;
    report(kills, &sent);
    let unexpected = sent.iter().find(|sent| {
        sent.response()
            .is_some_and(|reply| reply.status >= 500 || [400, 401].contains(&reply.status))
    });
    assert!(unexpected.is_none(), "{unexpected:?}");
    let redis_outages = cluster.count_redis_outages();
    let (windows, most) = budgets::check(&sent, redis_outages);
    println!(
        "{windows} windows, {most} units granted in the fullest; {redis_outages} times without Redis"
    );

    // The load has stopped, so the clock may advance by a minute.
    block_in_place(|| cluster.stop_servers());
    cluster.database.end_runs().await;
    let (contents, _) = audit::check_writes(&sent, address, &tokens, &mut admin).await;

    wait_for_deliveries(&mut cluster, &mut receivers, scale, |receivers| {
        receivers.iter_mut().all(|receiver| {
            receiver.take();
            receiver.delivered().is_complete(&before, &contents, &sent)
        })
    })
    .await;
    block_in_place(|| cluster.stop());
    block_in_place(|| reader.stop());
}

/// Waits until each event is delivered, and checks the deliveries.
async fn wait_for_deliveries(
    cluster: &mut Cluster,
    receivers: &mut [RecordingReceiver],
    scale: Scale,
    is_delivered: impl Fn(&mut [RecordingReceiver]) -> bool,
) {
    let since = Instant::now();
    receivers.iter_mut().for_each(RecordingReceiver::take);
    let mut repeats = count_repeats(receivers);
    if scale.ends_leases_early {
        cluster.replace_workers().await;
    }
    wait_until("all events, and no pending delivery", async || {
        is_delivered(receivers) && !cluster.has_pending_deliveries()
    })
    .await;
    for receiver in &*receivers {
        deliveries::check_recorded(&receiver.received, &cluster.database).await;
    }
    if !scale.ends_leases_early {
        repeats = count_repeats(receivers);
    }
    for (receiver, repeats) in receivers.iter().zip(repeats) {
        let (requests, delivered) = (receiver.received.len(), receiver.delivered().len());
        println!(
            "{requests} requests, {delivered} deliveries, {repeats} of them repeated after a lease"
        );
    }
    println!("all delivered {:?} after the last kill", since.elapsed());
}

fn count_repeats(receivers: &[RecordingReceiver]) -> Vec<usize> {
    let each = receivers.iter();
    each.map(|receiver| deliveries::check_times(&receiver.received))
        .collect()
}

/// Kills nodes repeatedly; returns the number of kills.
async fn kill_at_random(cluster: &mut Cluster, scale: Scale) -> usize {
    let (end, mut random) = (Instant::now() + scale.load_duration, Random::new(0));
    let (mut kill_interval, mut kills) = (interval(KILL_INTERVAL), 0);
    let nodes = scale.servers + scale.workers;
    kill_interval.tick().await;
    while Instant::now() + KILL_INTERVAL < end {
        kill_interval.tick().await;
        block_in_place(|| cluster.replace(random.below(nodes), Node::kill));
        kills += 1;
    }
    sleep_until(end).await;
    kills
}

fn report(kills: usize, sent: &[Sent]) {
    let times = [50, 99, 100].map(|percent| figures::percentile(sent, percent));
    println!(
        "{kills} kills; {} requests: {:?}",
        sent.len(),
        figures::statuses(sent)
    );
    println!(
        "half answered within {:?}, 99 % within {:?}, all within {:?}",
        times[0], times[1], times[2]
    );
}
