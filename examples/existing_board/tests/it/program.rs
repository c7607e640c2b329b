//! The program: its output, the board, the API and the worker.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use forum_test_support::program::Running;
use forum_test_support::receiver::Receiver;
use forum_test_support::{client, postgres};

use crate::fixture::run_with_postgres;

#[test]
fn the_program_serves_the_pages_and_the_api_and_sends_each_new_entry() {
    run_with_postgres(async {
        let receiver = Receiver::new();
        let child = Command::new(env!("CARGO_BIN_EXE_existing-board"))
            .args([&*postgres::schema().await, "127.0.0.1:0", &receiver.url])
            .stdout(Stdio::piped())
            .spawn();
        let mut program = Running(child.unwrap());
        let mut lines = BufReader::new(program.0.stdout.take().unwrap()).lines();
        let [sign_in, request, command] = [(); 3].map(|()| lines.next().unwrap().unwrap());

        let link = sign_in.strip_prefix("Sign in as alice: ").unwrap();
        let signed_in = client::get(link);
        assert_eq!(signed_in.status_and("location"), (303, Some("/")));

        let parts = request.strip_prefix("curl -H 'authorization: Bearer ").unwrap();
        let (token, url) = parts.split_once("' ").unwrap();
        let authorization = format!("Bearer {token}");
        let headers = [("authorization", &*authorization), ("content-type", "application/json")];
        let listed = client::send("GET", url, &headers, "").json();
        let forums = listed["items"].as_array().unwrap();
        let titles: Vec<_> = forums.iter().map(|forum| &forum["title"]).collect();
        assert_eq!(titles, ["Tea", "Members"]);

        let shown = command.strip_prefix("WEBHOOK_SECRETS=").unwrap();
        let secret = shown.strip_suffix(" cargo run --example receiver").unwrap();
        let posts = url.replace("/forums", "/threads/1/posts");
        let reply = r#"{"body":"Green."}"#;
        let statuses = [(); 2].map(|()| client::send("POST", &posts, &headers, reply).status);
        assert_eq!(statuses, [201, 429]);
        let received = receiver.next();
        assert!(received.is_signed_with(secret));
        assert_eq!(received.json()["data"]["post"]["body"], "Green.");
    });
}

#[test]
fn the_program_needs_the_url_of_a_database() {
    let output = Command::new(env!("CARGO_BIN_EXE_existing-board")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "Error: \"usage: existing_board DATABASE_URL [ADDRESS] [RECEIVER_URL]\"\n");
}
