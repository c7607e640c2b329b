//! Nodes that are killed at random, in the middle of all that a board does: what was answered is there, what happened
//! was told, and nobody was granted more than their budget.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, interval, sleep_until};

use crate::audit::deliveries;
use crate::audit::events::Told;
use crate::audit::walk::{Contents, Reader};
use crate::audit::{self, budgets, figures};
use crate::cluster::Cluster;
use crate::load::{Load, Sent, clients};
use crate::node::Node;
use crate::prerequisites::{Addresses, drill};
use crate::random::Random;
use crate::receiver::{Received, Receiver};
use crate::scale::Scale;
use crate::wait::until;

/// How long one is left alone before another is killed.
const PAUSE: Duration = Duration::from_secs(2);

/// How long each of the load waits from one request to the next.
const PACE: Duration = Duration::from_millis(25);

/// How long a receiver takes, so that many a worker is killed while it waits for one.
const SLOW: Duration = Duration::from_millis(200);

/// Budgets that the load spends in each window.
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

/// The members who are in the load.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

#[test]
fn nothing_is_lost_and_nothing_is_done_twice() {
    drill(|addresses| killed(addresses, Scale::new(4, 3)));
}

/// A receiver, with its secret and what it got.
struct Listening {
    receiver: Receiver,
    secret: String,
    got: Vec<Received>,
}

impl Listening {
    fn new(cluster: &Cluster, receiver: Receiver) -> Self {
        let secret = cluster.register(&receiver.url, "*");
        let got = Vec::new();
        Self {
            receiver,
            secret,
            got,
        }
    }

    fn take(&mut self) {
        self.got
            .extend(std::iter::from_fn(|| self.receiver.already()));
    }

    fn told(&self) -> Told {
        Told::new(&self.got, &self.secret)
    }
}

async fn killed(addresses: Addresses, scale: Scale) {
    let mut cluster = Cluster::new(&addresses, scale, &BUDGETS).await;
    let requests = AtomicU32::new(0);
    let failing = Receiver::answering(move |_| {
        let fails = requests.fetch_add(1, Ordering::SeqCst).is_multiple_of(3);
        Some(if fails { 503 } else { 204 })
    });
    let slow = Receiver::answering(|_| {
        thread::sleep(SLOW);
        Some(204)
    });
    let mut listening = [slow, failing].map(|receiver| Listening::new(&cluster, receiver));
    let tokens = MEMBERS.map(|member| (member, cluster.token(member)));
    let (reader, address) = cluster.reader();
    let mut admin = Reader::new(address, &cluster.token("admin"));
    let before = Contents::read(&mut admin).await;

    let load = Load::start(&cluster.nodes, clients(&tokens), PACE);
    let kills = kill_at_random(&mut cluster, scale).await;
    let sent = load.finish().await;
    tell(kills, &sent);
    let strange = sent.iter().find(|sent| {
        sent.answered()
            .is_some_and(|reply| reply.status >= 500 || [400, 401].contains(&reply.status))
    });
    assert!(strange.is_none(), "{strange:?}");
    let alone = cluster.times_away();
    let (windows, most) = budgets::check(&sent, alone);
    println!("{windows} windows, {most} units granted in the fullest; {alone} times without Redis");

    // Nobody is at work any more, so a minute may pass at once.
    block_in_place(|| cluster.stop_servers());
    cluster.database.end_runs().await;
    let (contents, _) = audit::check_writes(&sent, address, &tokens, &mut admin).await;

    all_is_told(&mut cluster, &mut listening, scale, |listening| {
        listening.iter_mut().all(|one| {
            one.take();
            one.told().is_complete(&before, &contents, &sent)
        })
    })
    .await;
    block_in_place(|| cluster.stop());
    block_in_place(|| reader.stop());
}

/// Waits until everything was told, and judges how.
async fn all_is_told(
    cluster: &mut Cluster,
    listening: &mut [Listening],
    scale: Scale,
    is_told: impl Fn(&mut [Listening]) -> bool,
) {
    let since = Instant::now();
    listening.iter_mut().for_each(Listening::take);
    let mut again = sent_again(listening);
    if scale.hurries {
        cluster.hurry_workers().await;
    }
    until("every event, and no delivery to come", async || {
        is_told(listening) && !cluster.waits()
    })
    .await;
    for one in &*listening {
        deliveries::check_noted(&one.got, &cluster.database).await;
    }
    if !scale.hurries {
        again = sent_again(listening);
    }
    for (one, again) in listening.iter().zip(again) {
        let (requests, told) = (one.got.len(), one.told().len());
        println!(
            "{requests} requests, {told} deliveries, {again} of them sent again after a lease"
        );
    }
    println!("all told {:?} after the last kill", since.elapsed());
}

fn sent_again(listening: &[Listening]) -> Vec<usize> {
    let each = listening.iter();
    each.map(|one| deliveries::check_times(&one.got)).collect()
}

/// Kills a node again and again; gives how often.
async fn kill_at_random(cluster: &mut Cluster, scale: Scale) -> usize {
    let (end, mut random) = (Instant::now() + scale.load, Random::new(0));
    let (mut pace, mut kills) = (interval(PAUSE), 0);
    let nodes = scale.servers + scale.workers;
    pace.tick().await;
    while Instant::now() + PAUSE < end {
        pace.tick().await;
        block_in_place(|| cluster.replace(random.below(nodes), Node::kill));
        kills += 1;
    }
    sleep_until(end).await;
    kills
}

fn tell(kills: usize, sent: &[Sent]) {
    let times = [50, 99, 100].map(|percent| figures::percentile(sent, percent));
    println!(
        "{kills} killed; {} requests: {:?}",
        sent.len(),
        figures::statuses(sent)
    );
    println!(
        "half answered within {:?}, 99 % within {:?}, all within {:?}",
        times[0], times[1], times[2]
    );
}
