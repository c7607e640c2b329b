//! Each read endpoint on a very large board, compared with a small one.

use crate::board::Board;
use crate::connection::Connection;
use crate::measurement::Measurement;
use crate::measurements::{Goal, Samples, row};
use crate::{here, number, rounds, search, words};

/// Number of different resources of a kind that are requested in turn.
const SPREAD: u64 = 100;

pub fn measure() {
    let boards = [number("MANY", 10_000_000), number("FEW", 100_000)];
    let [many, few] = boards.map(|posts| Board::of(posts / 10, posts));
    let mut lines = [&many, &few].map(|board| Connection::to(&board.server));
    let measurements = boards
        .into_iter()
        .zip([&many, &few])
        .map(|(posts, board)| measurements(board, posts));
    let mut measurements: Vec<_> = measurements.collect();
    let [few, many] = [measurements.pop().unwrap(), measurements.pop().unwrap()];
    let mut worst: Option<Samples> = None;
    println!(
        "every read endpoint, {} posts against {}",
        boards[0], boards[1]
    );
    for (mut many, mut few) in many.into_iter().zip(few) {
        let ratios = ratios(&mut many, &mut few, &mut lines);
        ratios.report(&format!("{}, ratio of p99", many.what));
        [&many, &few]
            .iter()
            .for_each(|measurement| measurement.report());
        if worst
            .as_ref()
            .is_none_or(|worst| ratios.median() > worst.median())
        {
            worst = Some(ratios);
        }
    }
    let [many, few] = boards;
    let what = here(&format!("worst read endpoint, {many} posts"));
    let against = format!("{few} posts");
    let goal = Goal::AtMost(1.5);
    row(&what, "ratio of p99", &against, goal, &worst.unwrap());
}

fn ratios(many: &mut Measurement, few: &mut Measurement, lines: &mut [Connection; 2]) -> Samples {
    let [on_many, on_few] = lines;
    many.warm(on_many);
    few.warm(on_few);
    let mut round = || many.round(on_many)[1] / few.round(on_few)[1];
    (0..rounds()).map(|_| round()).collect()
}

/// Requests of sam to a board of this size.
fn measurements(board: &Board, posts: u64) -> Vec<Measurement> {
    let (mut line, sam) = (Connection::to(&board.server), board.token("sam"));
    let mut first = |list: &str, id: &str| {
        let items = line.json(list, Some(&sam))["items"].take();
        items[0][id].as_str().unwrap().to_owned()
    };
    let (message, polled) = (
        first("/messages", "messageId"),
        first("/forums/1/threads", "threadId"),
    );
    let spread = |path: &str, of: u64| {
        let ids = (1..=SPREAD).map(|place| place * of / SPREAD);
        ids.map(|id| path.replace("{}", &id.to_string())).collect()
    };
    let search = |sort: &str| {
        let paths =
            search::WORDS.map(|(_, rank)| format!("/search?q={}&sort={sort}", words::word(rank)));
        paths.into()
    };
    let paths: [(&str, Vec<String>); 13] = [
        ("me", vec!["/me".into()]),
        ("forums", vec!["/forums".into()]),
        (
            "a forum's threads",
            vec!["/forums/1/threads".into(), "/forums/2/threads".into()],
        ),
        ("a thread", spread("/threads/{}", posts / 10)),
        ("a thread's posts", spread("/threads/{}/posts", posts / 10)),
        ("a member", spread("/members/{}", 100)),
        ("messages", vec!["/messages".into()]),
        ("a message", vec![format!("/messages/{message}")]),
        ("a poll", vec![format!("/threads/{polled}/poll")]),
        ("subscriptions", vec!["/subscriptions".into()]),
        ("search, newest", search("newest")),
        ("search, oldest", search("oldest")),
        ("search, relevance", search("relevance")),
    ];
    let measurement = |(what, paths)| Measurement::new(what, paths, Some(&sam));
    paths.map(measurement).into()
}
