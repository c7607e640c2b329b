//! Searches of every sort, by everybody, for words of every kind.

use std::env;

use crate::board::{BACKEND, Board};
use crate::cell::Cell;
use crate::figures::{Figures, Goal, row};
use crate::line::Line;
use crate::{here, posts, rounds, words};

/// Words by their rank: a million posts hold a few dozen, 50,000, 950,000 of them.
pub const WORDS: [(&str, u64); 4] = [
    ("absent", u64::MAX),
    ("rare", 100_000),
    ("common", 100),
    ("most common", 1),
];

/// In milliseconds, on SQLite and on Postgres.
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
    let mut line = Line::to(&board.server);
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
        let what = here(&format!("search, {sort}, p99 of the worst of 16 cells"));
        row(
            &what,
            "ms",
            "the clock",
            Goal::AtMost(goal),
            &worst(&mut cells, &mut line),
        );
        cells.iter().for_each(Cell::tell);
    }
}

/// Words by their rank that are neither rare nor common: a million posts hold 400 and 6,000 of them.
const BETWEEN: [(&str, u64); 2] = [("uncommon", 10_000), ("less uncommon", 1_000)];

/// Searches by relevance of a member who sees 50 of 200 forums. The row is that of the rare word.
pub fn in_some_forums() {
    let board = Board::of_many_forums(posts() / 10, posts());
    let mary = board.token("mary");
    let mut line = Line::to(&board.server);
    println!("search in 50 of 200 forums on {} posts", posts());
    for (word, rank) in WORDS.into_iter().chain(BETWEEN) {
        let path = format!("/search?q={}&sort=relevance", words::word(rank));
        let what = format!("relevance, 50 of 200 forums, {word}");
        let mut cells = [Cell::new(what, vec![path], Some(&mary))];
        let p99 = worst(&mut cells, &mut line);
        if word == "rare" {
            let what = here("search, relevance, rare word, in 50 of 200 forums, p99");
            let goal = env::var(BACKEND).map_or(10.0, |_| 25.0);
            row(&what, "ms", "the clock", Goal::AtMost(goal), &p99);
        }
        cells.iter().for_each(Cell::tell);
    }
}

/// The 99th percentile of the slowest cell in each round.
fn worst(cells: &mut [Cell], line: &mut Line) -> Figures {
    cells.iter().for_each(|cell| cell.warm(line));
    let mut round = || {
        let p99 = cells.iter_mut().map(|cell| cell.round(line)[1]);
        p99.fold(0.0, f64::max)
    };
    (0..rounds()).map(|_| round()).collect()
}
