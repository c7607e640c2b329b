//! Cost of the library for a request: `cargo bench -p forum-benches --bench request`. Takes ten seconds.
//!
//! Requests a list of posts from a board that returns a prepared page, with everything enabled: token, rate limit,
//! request id, `etag`, headers, span. Compares it with serializing the same response. callgrind counts the instructions
//! of a request if valgrind is installed: they are the same on each machine with the same instruction set.

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::env;
use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use forum_benches::measurements::{self, Goal, ROUNDS, Row, Samples};
use forum_benches::static_board::{BenchFixture, body};
use http::Request;
use http_body_util::Empty;

const WHAT: &str = "request in process, 300-byte response";

/// Number of requests that are built before they are timed or counted.
const BATCH: usize = 1_000;

const BATCHES: usize = 100;

/// Environment variable of the process whose instructions are counted.
const COUNTED: &str = "FORUM_API_COUNTED";

fn main() {
    let fixture = BenchFixture::new();
    if env::var_os(COUNTED).is_some() {
        // Warm-up: one-time initialization.
        fixture.answer(fixture.request());
        answer_each(&fixture, (0..BATCH).map(|_| fixture.request()).collect());
        return;
    }
    let more = |_| {
        let alone = micros(|| (), |()| body(&fixture.board.page));
        let whole = micros(|| fixture.request(), |request| fixture.answer(request));
        whole - alone
    };
    Row {
        what: WHAT,
        unit: "µs more",
        baseline: "serialising the same response",
        goal: Goal::AtMost(2.0),
        cause: "",
    }
    .write(&(0..ROUNDS).map(more).collect());
    count_instructions();
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

/// Runs this program under callgrind and counts the instructions of [`answer_each`].
fn count_instructions() {
    let Ok(sum) =
        measurements::count_instructions(&["--toggle-collect=*answer_each*"], [(COUNTED, "")])
    else {
        println!("skipped: instructions of a request, since valgrind is not installed");
        return;
    };
    Row {
        what: WHAT,
        unit: "instructions",
        baseline: "none",
        goal: Goal::AtMost(22_000.0),
        cause: "callgrind counts the token's SHA-256 without the special instructions of the processor (3,400); copies \
            of memory and the response headers take 2,400 each, every other step at most 5 %",
    }
    .write(&Samples::from_iter([sum as f64 / BATCH as f64]));
}

#[inline(never)]
fn answer_each(fixture: &BenchFixture, requests: Vec<Request<Empty<Bytes>>>) {
    for request in requests {
        black_box(fixture.answer(request));
    }
}
