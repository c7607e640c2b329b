//! A soak: mixed load on the real server, while its memory, tasks, descriptors, log and queue are watched.
//!
//! `tests/run --all` soaks it for twenty seconds, which shows that nothing but memory grows. Half an hour shows that memory
//! does not: `cargo build --release -p forum-server && SOAK=1800 cargo test --release -p forum-server --test soak -- --nocapture`.

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

/// Plenty for whoever asks, and a short memory for what was delivered.
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
    "--webhook-keep",
    "5",
];

/// What is out of the way of members who write all day.
const SETTINGS: [[&str; 2]; 3] = [
    ["post.interval_seconds", "0"],
    ["post.per_hour", "1000000000"],
    ["post.edit_window_minutes", "60"],
];

const CLIENTS: u64 = 4;

/// How many samples are taken, evenly.
const SAMPLES: u32 = 60;

/// The most that memory may grow in ten minutes, as a part of it.
const GROWTH: f64 = 0.01;

/// SQLite's own mark, 1,000 pages, and what one group of writes may add to it.
const LOG_BYTES: u64 = 16 << 20;

#[test]
fn nothing_grows_under_mixed_load() {
    let seconds: u64 = env::var("SOAK").map_or(20, |seconds| seconds.parse().unwrap());
    let server = Server::start_with(
        ServerDirectory::in_sqlite(),
        &OPTIONS,
        &[("RUST_LOG", "warn")],
        "",
    );
    for setting in SETTINGS {
        server.done(&format!("setting {}", setting.join(" ")));
    }
    receiver::register(&server);
    let samples = under_load(&server, Duration::from_secs(seconds));
    judge(&samples, seconds);
    server.stop();
}

/// Samples of the server while clients ask it.
fn under_load(server: &Server, length: Duration) -> Vec<Sample> {
    let over = AtomicBool::new(false);
    let clients: Vec<_> = (0..CLIENTS).map(|seed| Client::new(server, seed)).collect();
    thread::scope(|scope| {
        for mut client in clients {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    client.act();
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

/// The first third is for warming up.
fn judge(samples: &[Sample], seconds: u64) {
    let warm = &samples[samples.len() / 3..];
    let (first, last) = (&warm[0], &warm[warm.len() - 1]);
    for sample in warm {
        assert!(sample.log <= LOG_BYTES, "{sample:?}");
        assert!(sample.tasks <= first.tasks + CLIENTS + 8, "{sample:?}");
        assert!(
            sample.descriptors <= first.descriptors + CLIENTS + 8,
            "{sample:?}"
        );
        // What blocked for a moment leaves a thread that waits ten seconds for more.
        assert!(sample.threads <= first.threads + 4, "{sample:?}");
    }
    assert!(last.delivered_ever > first.delivered_ever, "{last:?}");
    assert!(last.delivered_kept < last.delivered_ever, "{last:?}");
    let memory = slope::of(warm.iter().map(|sample| (sample.at, sample.memory)));
    let growth = memory.in_ten_minutes();
    println!("memory grows by {:.2} % in ten minutes", growth * 100.0);
    if seconds >= 1_800 {
        assert!(growth < GROWTH, "{growth}");
    }
}
