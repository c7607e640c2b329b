//! Simulation of nodes, workers, clients and receivers: a seed chooses a history of requests, faults and times, and the
//! rules hold in each step and at rest. No sleep, no socket; all tasks of a simulation run on one thread.
//!
//! `SIMULATION_SEEDS=20000` sets the number of seeds, `SIMULATION_SEED=17` runs one and prints its records. A failing
//! history is printed with the fewest steps that still fail.
//!
//! To add an action, see `action.rs`. A rule of a single step belongs to the record in `journal.rs` that it concerns, a rule
//! at rest to the list in `rules.rs`.

mod action;
mod administrator;
mod board;
mod faults;
mod journal;
#[path = "../../examples/memory/board.rs"]
mod memory;
mod network;
mod random;
mod rules;
mod scheduler;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::{env, thread};

use action::Plan;
use rules::RULES;
use world::World;

/// The allocator of the server. A history takes a tenth less time than with that of the system.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Seeds of a run without `SIMULATION_SEEDS`.
const SEEDS: u64 = 1_000;

/// The first of the seeds. Another version of the program runs other histories for the same seed.
const FIRST_SEED: u64 = 0;

/// Result of a simulation.
struct Outcome {
    violation: Option<String>,
    /// Hash of all records.
    trace: u64,
}

fn simulate(plan: &Plan, is_verbose: bool) -> Outcome {
    let run = || {
        let mut world = World::new(plan, is_verbose);
        for (number, step) in plan.steps.iter().enumerate() {
            if is_verbose {
                println!("{number}. {:?}", step.action);
            }
            world.perform(step);
            if world.violation().is_some() {
                return (world.violation(), world.journal.trace());
            }
        }
        world.recover();
        for (name, check) in RULES {
            if world.violation().is_some() {
                break;
            }
            if is_verbose {
                println!("at rest: {name}");
            }
            check(&mut world);
        }
        (world.violation(), world.journal.trace())
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok((violation, trace)) => Outcome { violation, trace },
        Err(_) => Outcome { violation: Some("the simulation panics".into()), trace: 0 },
    }
}

/// Removes steps while the simulation still fails with the same rule.
fn shrink(plan: &Plan, violation: &str) -> Plan {
    let rule = |text: &str| text.split(':').next().map(str::to_owned);
    let fails = |plan: &Plan| {
        let outcome = simulate(plan, false);
        outcome.violation.is_some_and(|other| rule(&other) == rule(violation))
    };
    let mut shortest = plan.clone();
    let mut size = shortest.steps.len();
    while size > 0 {
        let mut start = 0;
        while start < shortest.steps.len() {
            let mut shorter = shortest.clone();
            let end = (start + size).min(shorter.steps.len());
            shorter.steps.drain(start..end);
            if fails(&shorter) {
                shortest = shorter;
            } else {
                start = end;
            }
        }
        size /= 2;
    }
    shortest
}

/// Describes a failing history as the list of its fewest steps.
fn describe(plan: &Plan, violation: &str) -> String {
    let shortest = shrink(plan, violation);
    let outcome = simulate(&shortest, false);
    let mut text = format!("seed {}: {violation}\n{:?}\n", plan.seed, plan.setting);
    for (number, step) in shortest.steps.iter().enumerate() {
        text += &format!("{:>3}. {:?}\n", number + 1, step.action);
    }
    text + &format!("     {}\n", outcome.violation.unwrap_or_default())
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn histories_keep_the_rules() {
    if let Some(seed) = number("SIMULATION_SEED") {
        let plan = Plan::new(seed);
        let violation = simulate(&plan, true).violation;
        assert!(violation.is_none(), "{}", describe(&plan, &violation.unwrap()));
        return;
    }
    let seeds = FIRST_SEED..FIRST_SEED + number("SIMULATION_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(seeds.start);
    let failed = Mutex::new(None);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while failed.lock().unwrap().is_none() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let plan = Plan::new(seed);
                    if let Some(violation) = simulate(&plan, false).violation {
                        let description = describe(&plan, &violation);
                        failed.lock().unwrap().get_or_insert(description);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_none(), "{}", failed.unwrap());
}

#[test]
fn a_seed_determines_the_history() {
    for seed in 0..20 {
        let plan = Plan::new(seed);
        assert_eq!(simulate(&plan, false).trace, simulate(&plan, false).trace, "seed {seed}");
    }
}

/// Returns the value of a future that is ready when it is first polled, as those of the stores and of the board are.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future waits"),
    }
}
