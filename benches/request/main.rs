//! Cost of the library for a request: `cargo bench -p forum-benches --bench request`. Takes ten seconds.
//!
//! Requests a list of posts from a board that returns a prepared page, with everything enabled: token, rate limit,
//! metrics, request id, `etag`, headers, span. Compares it with serializing the same response, and with the parts that
//! any API needs. Also measures the request with a log and a metrics recorder. callgrind counts the instructions of a
//! request without them if valgrind is installed.

use forum_benches::{measurements, static_board};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod instructions;
mod parts;
mod recorders;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use measurements::{Goal, Samples, row};
use parts::Parts;
use recorders::with_log_and_metrics;
use static_board::{BenchFixture, SMALL, StaticBoard, body};

const ROUNDS: usize = 9;

/// Number of requests that are built before they are timed.
const BATCH: usize = 1_000;

const BATCHES: usize = 100;

fn main() {
    let board = Arc::new(StaticBoard::default());
    let fixture = BenchFixture::over(Arc::clone(&board));
    if instructions::run_if_counted(&fixture) {
        return;
    }
    let answer = body(&board.small);
    println!("a response of {} bytes, {ROUNDS} rounds", answer.len());
    let parts = Parts::new(&board, &fixture);
    let (mut written, mut needed, mut answered, mut more, mut recorded) =
        <(Samples, Samples, Samples, Samples, Samples)>::default();
    for _ in 0..ROUNDS {
        let alone = micros(|| (), |()| body(&board.small));
        let request = || micros(|| fixture.request(SMALL), |request| fixture.answer(request));
        let whole = request();
        written.add(alone);
        needed.add(micros(|| (), |()| parts.answer()));
        answered.add(whole);
        more.add(whole - alone);
        recorded.add(with_log_and_metrics(request) - whole);
    }
    written.report("serialising the response, µs");
    needed.report("the parts that every API needs, µs");
    answered.report("the whole request, µs");
    let against = "serialising the same response";
    row(
        "request in process, 300-byte response",
        "µs more",
        against,
        Goal::AtMost(2.0),
        &more,
    );
    row(
        "log line and metrics of a request, together",
        "µs",
        "none",
        Goal::AtMost(1.0),
        &recorded,
    );
    instructions::count();
}

/// Returns the microseconds of one call with warm caches.
fn micros<T, R>(make: impl Fn() -> T, work: impl Fn(T) -> R) -> f64 {
    let mut seconds = 0.0;
    for _ in 0..BATCHES {
        let ready: Vec<T> = (0..BATCH).map(|_| make()).collect();
        let begun = Instant::now();
        for one in ready {
            black_box(work(one));
        }
        seconds += begun.elapsed().as_secs_f64();
    }
    seconds * 1e6 / (BATCHES * BATCH) as f64
}
