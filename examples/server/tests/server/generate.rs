//! `generate`.

use serde_json::{Value, json};

use crate::program::Server;

fn forums(server: &Server, token: &str) -> Value {
    let forums = server.get(token, "/forums").json();
    let counts = forums["items"].as_array().unwrap().iter();
    counts
        .map(|forum| json!([forum["title"], forum["threadCount"], forum["postCount"]]))
        .collect()
}

/// Every thread of a forum.
fn threads(server: &Server, token: &str, forum: u32) -> Vec<Value> {
    let (mut walked, mut path) = (Vec::new(), format!("/forums/{forum}/threads?limit=100"));
    loop {
        let page = server.get(token, &path).json();
        walked.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else {
            return walked;
        };
        path = format!("/forums/{forum}/threads?limit=100&after={next}");
    }
}

fn generate(server: &Server, arguments: &[&str]) {
    let ended = server.command(&[&["generate", "--json"], arguments].concat());
    assert_eq!(
        (ended.json(), ended.err.as_str()),
        (json!({ "ok": true }), "")
    );
}

#[test]
fn it_fills_three_forums_and_counts_right() {
    let server = Server::new(&[]);
    let token = server.token("alice");
    let before = forums(&server, &token);
    generate(
        &server,
        &["--members", "7", "--threads", "80", "--posts", "1080"],
    );
    let after = forums(&server, &token);
    let grown = |forum: usize, column: usize| {
        let count = |forums: &Value| forums[forum][column].as_u64().unwrap();
        count(&after) - count(&before)
    };
    assert_eq!([0, 1, 2, 3].map(|forum| grown(forum, 1)), [0, 40, 20, 20]);
    assert_eq!((0..4).map(|forum| grown(forum, 2)).sum::<u64>(), 1080);
    let replies = threads(&server, &token, 2);
    let replies = replies
        .iter()
        .map(|thread| thread["replyCount"].as_u64().unwrap());
    assert!((500..510).contains(&replies.max().unwrap()));
    let newest = server.get(&token, "/search?q=da&sort=newest").json()["items"][0].clone();
    assert!(newest["createdAt"].as_str() > Some("2000"));
    let author = newest["author"]["userId"].as_str().unwrap();
    let author = server.get(&token, &format!("/members/{author}")).json();
    assert!(author["postCount"].as_u64().unwrap() > 50);
}

#[test]
fn the_same_seed_makes_the_same() {
    let boards = ["1", "1", "2"].map(|seed| {
        let server = Server::new(&[]);
        generate(&server, &["--posts", "50", "--seed", seed]);
        let threads = threads(&server, &server.token("alice"), 2);
        let titles = threads.iter().map(|thread| thread["title"].to_string());
        titles.collect::<Vec<_>>()
    });
    assert_eq!(boards[0], boards[1]);
    assert_ne!(boards[0], boards[2]);
}

#[test]
fn a_second_time_adds_more() {
    let server = Server::new(&[]);
    let token = server.token("alice");
    let count = || threads(&server, &token, 3).len();
    let before = count();
    let amount = ["--threads", "20", "--posts", "20"];
    generate(&server, &amount);
    generate(&server, &[&amount[..], &["--yes"]].concat());
    assert_eq!(count(), before + 10);
    let lists = threads(&server, &token, 3);
    let times: Vec<_> = lists
        .iter()
        .map(|thread| thread["lastActivityAt"].to_string())
        .collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let server = Server::new(&[]);
    let refused = server.command(&["generate", "--threads", "3", "--posts", "2"]);
    assert_eq!(
        refused.refusal(),
        "there cannot be more threads than posts: each begins with one"
    );
    for arguments in [
        ["--posts", "0"],
        ["--members", "0"],
        ["--threads", "-1"],
        ["--seed", "x"],
    ] {
        assert_eq!(
            server
                .command(&[&["generate"], &arguments[..]].concat())
                .status,
            2
        );
    }
    let empty = Server::new(&["--empty"]);
    let refused = empty.command(&["generate", "--yes"]);
    assert_eq!(refused.refusal(), "there is no forum \"General\" to fill");
}

#[test]
fn a_board_with_more_than_the_demo_content_needs_confirmation() {
    let server = Server::new(&[]);
    let token = server.token("alice");
    let path = server.get(&token, "/forums/2/threads").json()["items"][0]["threadId"].clone();
    let path = format!("/threads/{}/posts", path.as_str().unwrap());
    let posted = server.post(&token, &path, &json!({ "body": "Not part of the demo." }));
    assert_eq!(posted.status, 201);
    let before = forums(&server, &token);
    let refused = server.command(&["generate", "--posts", "20"]);
    assert!(refused.refusal().contains("--yes"), "{refused:?}");
    assert_eq!(forums(&server, &token), before);
}
