//! Searches in every order, by several callers, for rare and common words.

use std::env;

use crate::board::{BACKEND, Board};
use crate::connection::Connection;
use crate::measurement::Measurement;
use crate::measurements::{Goal, Samples, row};
use crate::{here, number, posts, rounds, words};
use forum_benches::cpu_time::cpu_time;

/// Words with their ranks. Of a million posts, none contains the absent word; a few dozen, 50,000 and 950,000 contain
/// the others.
pub const WORDS: [(&str, u64); 4] = [
    ("absent", u64::MAX),
    ("rare", 100_000),
    ("common", 100),
    ("most common", 1),
];

/// Goals in milliseconds, on SQLite and on Postgres.
const SORTS: [(&str, f64, f64); 3] = [
    ("newest", 3.0, 10.0),
    ("oldest", 3.0, 10.0),
    ("relevance", 20.0, 40.0),
];

pub fn measure() {
    let board = Board::of(posts() / 10, posts());
    let (mary, sam) = (board.token("mary"), board.token("sam"));
    let callers = [
        ("guest", None, ""),
        ("member of few forums", Some(&*mary), ""),
        ("member of all", Some(&*sam), ""),
        ("member of all, in one forum", Some(&*sam), "&forum=3"),
    ];
    let mut line = Connection::to(&board.server);
    println!("search on {} posts", posts());
    for (sort, on_sqlite, on_postgres) in SORTS {
        let mut measurements = Vec::new();
        for (who, token, narrowed) in callers {
            for (word, rank) in WORDS {
                let path = format!("/search?q={}&sort={sort}{narrowed}", words::word(rank));
                measurements.push(Measurement::new(
                    format!("{sort}, {who}, {word}"),
                    vec![path],
                    token,
                ));
            }
        }
        let goal = env::var(BACKEND).map_or(on_sqlite, |_| on_postgres);
        let what = here(&format!("search, {sort}, p99 of the worst case"));
        row(
            &what,
            "ms",
            "none",
            Goal::AtMost(goal),
            &worst(&mut measurements, &mut line),
        );
        measurements.iter().for_each(Measurement::report);
    }
}

/// Goals of a search by a member who sees some forums, in milliseconds, on SQLite and on Postgres.
const SOME_FORUMS: (f64, f64) = (10.0, 25.0);

/// Searches by a member of 50 of 200 forums.
pub fn in_some_forums() {
    let board = Board::of_many_forums(posts() / 10, posts());
    let mary = board.token("mary");
    let mut line = Connection::to(&board.server);
    println!("search in 50 of 200 forums on {} posts", posts());
    let (on_sqlite, on_postgres) = SOME_FORUMS;
    let goal = Goal::AtMost(env::var(BACKEND).map_or(on_sqlite, |_| on_postgres));
    for (sort, ..) in SORTS {
        let measurement = |(word, rank)| {
            let path = format!("/search?q={}&sort={sort}", words::word(rank));
            Measurement::new(format!("{sort}, {word}"), vec![path], Some(&mary))
        };
        let mut measurements = WORDS.map(measurement);
        let worst = worst(&mut measurements, &mut line);
        let what = here(&format!(
            "search, {sort}, member of 50 of 200 forums, p99 of the worst word"
        ));
        row(&what, "ms", "none", goal, &worst);
        measurements.iter().for_each(Measurement::report);
    }
}

/// CPU time of searches for common words by a guest, on 40,000 public posts in SQLite. The server contains the database.
pub fn cpu_time_of_common_words() {
    if env::var(BACKEND).is_ok() {
        return;
    }
    let board = Board::public(4_000, 40_000);
    let process = board.server.proc_directory();
    let mut line = Connection::to(&board.server);
    let paths = [1, 10, 100].map(|rank| format!("/search?q={}", words::word(rank)));
    let searches = 10 * number("REQUESTS", 100) as usize;
    let mut round = || {
        let begin = cpu_time(&process);
        for path in paths.iter().cycle().take(searches) {
            line.time(path, None);
        }
        (cpu_time(&process) - begin).as_secs_f64() * 1e3 / searches as f64
    };
    round();
    let times: Samples = (0..rounds()).map(|_| round()).collect();
    row(
        "search for a common word by a guest, 40,000 posts, CPU time, SQLite",
        "ms",
        "none",
        Goal::AtMost(1.0),
        &times,
    );
}

/// The p99 of the slowest measurement in each round.
fn worst(measurements: &mut [Measurement], line: &mut Connection) -> Samples {
    measurements
        .iter()
        .for_each(|measurement| measurement.warm(line));
    let mut round = || {
        let p99 = measurements
            .iter_mut()
            .map(|measurement| measurement.round(line)[1]);
        p99.fold(0.0, f64::max)
    };
    (0..rounds()).map(|_| round()).collect()
}
