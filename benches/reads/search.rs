//! Searches in every order, by several callers, for rare and common words.

use std::env;

use crate::board::{BACKEND, Board};
use crate::cell::Cell;
use crate::connection::Connection;
use crate::measurements::{Goal, Samples, row};
use crate::{here, posts, rounds, words};

/// Words by rank: in a million posts they occur in a few dozen, 50,000 and 950,000.
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
        let mut cells = Vec::new();
        for (who, token, narrowed) in callers {
            for (word, rank) in WORDS {
                let path = format!("/search?q={}&sort={sort}{narrowed}", words::word(rank));
                cells.push(Cell::new(
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
            &worst(&mut cells, &mut line),
        );
        cells.iter().for_each(Cell::report);
    }
}

/// The p99 of the slowest cell in each round.
fn worst(cells: &mut [Cell], line: &mut Connection) -> Samples {
    cells.iter().for_each(|cell| cell.warm(line));
    let mut round = || {
        let p99 = cells.iter_mut().map(|cell| cell.round(line)[1]);
        p99.fold(0.0, f64::max)
    };
    (0..rounds()).map(|_| round()).collect()
}
