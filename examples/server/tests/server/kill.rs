//! `kill -9` at any instruction, while members post and the receiver fails a third of the time: every committed post
//! has its event, and every event is delivered.

use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{self, Sender};

use crate::client::try_send;
use crate::prelude::*;
use crate::receiver::Received;

/// Number of kills, unless `FORUM_API_KILLS` is set.
const KILLS: u32 = 10;

/// The members who post.
const MEMBERS: [&str; 4] = ["alice", "bob", "carol", "mod"];

const ARGUMENTS: [&str; 3] = ["--allow-private-webhooks", "--webhook-initial-backoff", "0.05"];

#[test]
fn acknowledged_writes_survive_kill_9() {
    let kills = std::env::var("FORUM_API_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let requests = AtomicU32::new(0);
    let receiver = Receiver::with_statuses(move |_| {
        let fails = requests.fetch_add(1, Ordering::SeqCst).is_multiple_of(3);
        Some(if fails { 503 } else { 204 })
    });
    let server = Server::new(&ARGUMENTS);
    let endpoint = add_endpoint(&server, &receiver, "--topics post.created");
    server.remove_post_limits();
    let tokens = MEMBERS.map(|member| server.token(member));
    let before = stored_posts(&server.directory);
    let mut directory = server.stop();
    let mut answered = BTreeSet::new();
    for kill in 0..kills {
        let arguments = [&ARGUMENTS[..], &["--token-budget", "1000000"]].concat();
        let server = Server::start(directory, &arguments);
        let (done, committed) = mpsc::channel();
        for token in tokens.clone() {
            let url = server.api_url("/threads/1/posts");
            let done = done.clone();
            thread::spawn(move || post_until_the_server_is_gone(&url, &token, &done));
        }
        drop(done);
        // The number differs from kill to kill, so that each kill interrupts other work.
        answered.extend(committed.iter().take(5 + kill as usize * 7 % 31));
        directory = server.kill();
        answered.extend(committed.iter());
    }
    let committed: BTreeSet<i64> = stored_posts(&directory).difference(&before).copied().collect();
    assert!(committed.is_superset(&answered), "a response preceded its commit");

    let server = Server::start(directory, &ARGUMENTS);
    let mut delivered = BTreeMap::<i64, BTreeSet<String>>::new();
    let mut taken = 0;
    let mut refused = 0;
    let mut ended = false;
    let deadline = Instant::now() + Duration::from_secs(600);
    while !ended || delivered.len() < committed.len() {
        assert!(Instant::now() < deadline, "events are not delivered");
        ended = is_queue_empty(&server);
        for received in std::iter::from_fn(|| receiver.try_next()) {
            assert!(received.is_signed_with(endpoint_secret(&endpoint)));
            delivered.entry(post_id(&received)).or_default().insert(received.delivery());
            match received.status {
                Some(204) => taken += 1,
                _ => refused += 1,
            }
        }
    }
    assert!(delivered.keys().eq(&committed));
    assert!(delivered.values().all(|deliveries| deliveries.len() == 1));
    let posts = committed.len();
    let repeated = taken - committed.len();
    println!("{kills} kills: {posts} posts, {repeated} repeated and {refused} refused requests");
}

/// The posts that the database of a server holds.
fn stored_posts(directory: &ServerDirectory) -> BTreeSet<i64> {
    let ids = directory.query("SELECT CAST(id AS TEXT) FROM post");
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

fn post_until_the_server_is_gone(url: &str, token: &str, done: &Sender<i64>) {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "body": "Still here." }).to_string();
    while let Some(answer) = try_send("POST", url, &headers, &body) {
        assert_eq!(answer.status, 201, "{answer:?}");
        let post = answer.json()["postId"].as_str().unwrap().parse().unwrap();
        let _ = done.send(post);
    }
}

fn post_id(received: &Received) -> i64 {
    received.json()["data"]["post"]["postId"].as_str().unwrap().parse().unwrap()
}

/// Returns whether no delivery waits. Retries dead ones.
fn is_queue_empty(server: &Server) -> bool {
    let waits = |state: &str| {
        let list = format!("delivery list --json --state {state}");
        server.run_ok(&list).json().as_array().unwrap().clone()
    };
    for dead in waits("dead") {
        server.run(&format!("delivery retry {}", dead["id"].as_str().unwrap()));
    }
    ["queued", "retrying", "dead"].iter().all(|state| waits(state).is_empty())
}
