//! Faults that come while the server runs, and go.

use std::collections::BTreeSet;

use forum_api::store::sqlite::rusqlite::Connection;
use serde_json::json;

use super::disk::{Disk, Shut};
use crate::client::{Answer, get, send};
use crate::program::{Home, Server};

const REPLIES: &str = "/threads/1/posts";

/// A server over SQLite whose members may post as often as they like.
struct Board {
    server: Server,
    token: String,
    /// The posts that were answered with 201.
    answered: BTreeSet<String>,
}

impl Board {
    fn new(home: Home) -> Self {
        let server = Server::with_input(home, &["--token-budget", "1000000"], "");
        for (key, value) in [("post.interval_seconds", "0"), ("post.per_hour", "1000000")] {
            assert_eq!(server.command(&["setting", key, value]).status, 0);
        }
        let token = server.greeting["token"].as_str().unwrap().to_owned();
        Self {
            server,
            token,
            answered: BTreeSet::new(),
        }
    }

    fn reply(&mut self, body: &str) -> Answer {
        self.keyed_reply(body, body.get(..8).unwrap_or(body))
    }

    fn keyed_reply(&mut self, body: &str, key: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        let body = json!({ "body": body }).to_string();
        let answer = send("POST", &self.server.api(REPLIES), &headers, &body);
        if answer.status == 201 {
            let id = answer.json()["postId"].as_str().unwrap().to_owned();
            self.answered.insert(id);
        }
        answer
    }

    /// That a write is refused without a word of why, and that reads go on.
    fn refuses_writes(&mut self) {
        let refused = self.reply("refused");
        assert_eq!(outcome(&refused), (500, "internal_error".into()));
        let message = refused.json()["error"]["message"].to_string();
        assert_eq!(message, "\"Something went wrong on the board's side.\"");
        assert_eq!(self.server.get(&self.token, REPLIES).status, 200);
        assert_eq!(get(&self.server.api("/forums")).status, 200);
        assert_eq!(get(&self.server.beside("/health")).status, 200);
    }

    /// That what was refused runs now, and that what was answered is there, and nothing else.
    fn goes_on(mut self) {
        let before = self.answered.clone();
        let again = self.reply("refused");
        assert_eq!(outcome(&again), (201, String::new()));
        assert_eq!(again.header("idempotency-replayed"), None);
        assert_eq!(self.answered.len(), before.len() + 1);
        let there =
            "SELECT CAST(id AS TEXT) FROM post WHERE body LIKE 'answered%' OR body = 'refused'";
        let there = BTreeSet::from_iter(self.server.home.ask(there));
        assert_eq!(there, self.answered);
        let (_, status, log) = self.end();
        assert!(
            status && log.contains("ERROR") && !log.contains("panicked"),
            "{log}"
        );
    }

    fn end(self) -> (Home, bool, String) {
        self.server.signal("TERM");
        let (home, status, log) = self.server.wait();
        (home, status.success(), log)
    }
}

fn outcome(answer: &Answer) -> (u16, String) {
    (answer.status, answer.code())
}

fn posted(board: &mut Board) {
    let answer = board.reply("answered");
    assert_eq!(answer.status, 201, "{answer:?}");
}

#[test]
fn files_that_cannot_be_written_any_more_are_read() {
    let mut board = Board::new(Home::in_sqlite());
    posted(&mut board);
    let Some(shut) = Shut::of(&board.server.home) else {
        panic!("files become read-only: that is not allowed here");
    };
    board.refuses_writes();
    drop(shut);
    board.goes_on();
}

#[test]
fn a_disk_that_is_read_only_is_refused_at_the_start() {
    let home = Home::in_sqlite();
    let Some(disk) = Disk::of(&home) else {
        panic!("a disk that is read-only: none can be mounted here");
    };
    let home = Server::with_input(home, &[], "").stop();
    disk.remount("ro");
    let serve = ["--listen", "127.0.0.1:0"];
    let refused = home.run(&serve, "").refusal().to_owned();
    assert!(refused.ends_with("may not be written"), "{refused}");
    disk.remount("rw");
    let server = Server::with_input(home, &[], "");
    assert_eq!(get(&server.api("/forums")).status, 200);
}

#[test]
fn a_file_that_is_locked_for_long_is_read() {
    let mut board = Board::new(Home::in_sqlite());
    posted(&mut board);
    let another = Connection::open(board.server.home.path().join("forum.db")).unwrap();
    another.execute_batch("BEGIN IMMEDIATE").unwrap();
    board.refuses_writes();
    another.execute_batch("ROLLBACK").unwrap();
    board.goes_on();
}

#[test]
fn a_full_disk_keeps_what_was_answered() {
    let home = Home::in_sqlite();
    let Some(disk) = Disk::of(&home) else {
        panic!("a full disk: none can be mounted here");
    };
    let mut board = Board::new(home);
    posted(&mut board);
    let room = disk.fill();
    let long = |number: usize| format!("answered {number} {}", "long ".repeat(3_000));
    let full = (0..2_000).find(|number| {
        let answer = board.keyed_reply(&long(*number), &number.to_string());
        answer.status != 201
    });
    assert!(full.is_some(), "it is never full");
    board.refuses_writes();
    room.give_back();
    board.goes_on();
}
