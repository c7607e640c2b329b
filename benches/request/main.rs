//! What the library itself takes for a request: `cargo bench -p forum-benches --bench request`, in ten seconds.
//!
//! A list of posts is asked of a board that has it at hand, with everything on: token, budget, counts and times, request
//! id, `etag`, headers, span. It is set against writing the same answer as JSON, and against the parts that no API can do
//! without. The instructions of a request are counted by callgrind, if valgrind is installed.

use forum_benches::{measurements, static_board};

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod instructions;
mod parts;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use measurements::{Goal, Samples, row};
use parts::Parts;
use static_board::{BenchFixture, SMALL, StaticBoard, body};

const ROUNDS: usize = 9;

/// How many requests are made before they are answered one after another.
const BATCH: usize = 1_000;

const BATCHES: usize = 100;

fn main() {
    let board = Arc::new(StaticBoard::default());
    let rig = BenchFixture::over(Arc::clone(&board));
    if instructions::are_counted_here(&rig) {
        return;
    }
    let answer = body(&board.small);
    println!("an answer of {} bytes, {ROUNDS} rounds", answer.len());
    let parts = Parts::new(&board, &rig);
    let (mut written, mut needed, mut answered, mut more) =
        <(Samples, Samples, Samples, Samples)>::default();
    for _ in 0..ROUNDS {
        let alone = micros(|| (), |()| body(&board.small));
        let whole = micros(|| rig.request(SMALL), |request| rig.answer(request));
        written.add(alone);
        needed.add(micros(|| (), |()| parts.answer()));
        answered.add(whole);
        more.add(whole - alone);
    }
    written.report("serialising the answer alone, us");
    needed.report("the parts that no API can do without, us");
    answered.report("the whole request, us");
    let against = "serialising the same answer alone";
    row(
        "a request in process, 300-byte answer",
        "us more",
        against,
        Goal::AtMost(2.0),
        &more,
    );
    instructions::count();
}

/// How long one of them takes, in microseconds, when what it needs is there.
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
