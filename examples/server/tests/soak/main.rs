//! Soak test: watches memory, tasks, descriptors, write-ahead log and queue of the real server under mixed load.
//!
//! `tests/run --all` runs it for twenty seconds, which is long enough to detect growth of everything except memory. To
//! detect growth of memory, run it for half an hour: `cargo build --release -p forum-server && SOAK=1800 cargo test
//! --release -p forum-server --test soak -- --nocapture`.

use forum_test_support::{client, program};

mod load;
mod receiver;
mod sample;
mod slope;

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::Client;
use program::{Server, ServerDirectory};
use sample::Sample;

/// Options of the server: large budgets, and a short retention of deliveries.
const OPTIONS: [&str; 11] = [
    "--token-budget",
    "4294967295",
    "--guest-budget",
    "4294967295",
    "--trusted-proxies",
    "127.0.0.1/32",
    "--window",
    "60",
    "--allow-private-webhooks",
    "--webhook-retention",
    "5",
];

/// Board settings that lift the limits on writing.
const SETTINGS: [[&str; 2]; 3] = [
    ["post.interval_seconds", "0"],
    ["post.per_hour", "1000000000"],
    ["post.edit_window_minutes", "60"],
];

const CLIENTS: u64 = 4;

/// Number of samples, at even intervals.
const SAMPLES: u32 = 60;

/// Maximum relative growth of memory in ten minutes.
const MAX_GROWTH: f64 = 0.01;

/// SQLite's checkpoint threshold of 1,000 pages, and the pages that one group of writes may add.
const MAX_WAL_BYTES: u64 = 16 << 20;

#[test]
fn memory_tasks_and_files_do_not_grow_under_load() {
    let seconds: u64 = env::var("SOAK").map_or(20, |seconds| seconds.parse().unwrap());
    let server = Server::start_with(
        ServerDirectory::in_sqlite(),
        &OPTIONS,
        &[("RUST_LOG", "warn")],
        "",
    );
    for setting in SETTINGS {
        server.run_ok(&format!("setting {}", setting.join(" ")));
    }
    receiver::register(&server);
    let samples = under_load(&server, Duration::from_secs(seconds));
    check_growth(&samples, seconds);
    server.stop();
}

/// Samples the server under load.
fn under_load(server: &Server, length: Duration) -> Vec<Sample> {
    let over = AtomicBool::new(false);
    let clients: Vec<_> = (0..CLIENTS).map(|seed| Client::new(server, seed)).collect();
    thread::scope(|scope| {
        for mut client in clients {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    client.send();
                }
            });
        }
        let start = Instant::now();
        let samples = (1..=SAMPLES).map(|number| {
            thread::sleep((length * number / SAMPLES).saturating_sub(start.elapsed()));
            Sample::of(server, start.elapsed())
        });
        let samples: Vec<_> = samples.inspect(|sample| println!("{sample:?}")).collect();
        over.store(true, Ordering::Relaxed);
        samples
    })
}

/// Checks the growth between the samples. Ignores the first third of them, which is the warm-up.
fn check_growth(samples: &[Sample], seconds: u64) {
    let warm = &samples[samples.len() / 3..];
    let (first, last) = (&warm[0], &warm[warm.len() - 1]);
    for sample in warm {
        assert!(sample.log <= MAX_WAL_BYTES, "{sample:?}");
        assert!(sample.tasks <= first.tasks + CLIENTS + 8, "{sample:?}");
        assert!(
            sample.descriptors <= first.descriptors + CLIENTS + 8,
            "{sample:?}"
        );
        // A thread for blocking work stays for ten idle seconds.
        assert!(sample.threads <= first.threads + 4, "{sample:?}");
    }
    assert!(last.delivered_ever > first.delivered_ever, "{last:?}");
    assert!(last.delivered_kept < last.delivered_ever, "{last:?}");
    let memory = slope::of(warm.iter().map(|sample| (sample.at, sample.memory)));
    let growth = memory.growth_in_ten_minutes();
    println!("memory grows by {:.2} % in ten minutes", growth * 100.0);
    if seconds >= 1_800 {
        assert!(growth < MAX_GROWTH, "{growth}");
    }
}
