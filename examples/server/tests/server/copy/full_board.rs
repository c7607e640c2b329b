//! A board in SQLite with every kind of content, and what its clients hold.

use super::{copied_tables, wait_until};
use crate::prelude::*;

/// The members of the demo board who can have a token, and the guest.
const CALLERS: [&str; 7] = ["", "admin", "mod", "alice", "bob", "carol", "newbie"];

/// The states of a delivery.
const STATES: [&str; 6] = ["dead", "delivered", "gone", "queued", "retrying", "withheld"];

pub(super) struct FullBoard {
    pub(super) directory: ServerDirectory,
    /// Tokens of the members; empty for the guest.
    pub(super) tokens: BTreeMap<&'static str, String>,
    /// Tokens that are expired or revoked.
    pub(super) invalid: [String; 2],
    pub(super) endpoint: Value,
    pub(super) receiver: Receiver,
}

impl FullBoard {
    pub(super) fn create() -> Self {
        // The receiver refuses posts, so that their deliveries are retried.
        let receiver = Receiver::with_statuses(|received| {
            let is_post = received.body.contains("post.created");
            Some(if is_post { 500 } else { 204 })
        });
        let options =
            [ALLOW_PRIVATE, "--webhook-initial-backoff", "0.01", "--webhook-max-backoff", "0.01"];
        let server = Server::start(ServerDirectory::in_sqlite(), &options);
        server.remove_post_limits();
        let invalid = [server.issue_token("bob", "all"), server.issue_token("bob", "all")];
        let [expired, revoked] = invalid.each_ref().map(|token| &token[10..26]);
        server.run_ok(&format!("token revoke {revoked}"));
        let endpoint = add_endpoint(&server, &receiver, "--topics *");
        let disabled = add_endpoint(&server, &receiver, "--topics post.created");
        server.run_ok(&format!("webhook rotate {}", endpoint_id(&endpoint)));
        let tokens = BTreeMap::from(CALLERS.map(|name| match name {
            "" => (name, String::new()),
            name => (name, server.issue_token(name, "all")),
        }));
        add_content(&server, &tokens);
        server.run_ok(&format!("webhook disable {}", endpoint_id(&disabled)));
        server.run_ok(&format!("webhook ping {}", endpoint_id(&endpoint)));
        server.run_ok("setting post.body_max 19999");
        wait_for_deliveries(&server);
        // The usage of tokens is written when the server stops.
        let directory = server.stop();
        directory.run_line("board offline", "");
        change_rows(&directory, expired);
        let mut empty = copied_tables(&directory);
        empty
            .retain(|table| directory.query(&format!("SELECT '' FROM {table} LIMIT 1")).is_empty());
        assert!(empty.is_empty(), "the board has no content in {empty:?}");
        Self { directory, tokens, invalid, endpoint, receiver }
    }
}

/// Writes the content that the demo board does not have.
fn add_content(server: &Server, tokens: &BTreeMap<&str, String>) {
    let send = |caller: &str, method: &str, path: &str, body: Value| {
        let sent = server.send(method, &tokens[caller], path, &body.to_string());
        assert!(sent.status < 300, "{method} {path} {sent:?}");
        sent.json()
    };
    let post = |caller: &str, path: &str, body: Value| send(caller, "POST", path, body);
    let read = |caller: &str, path: &str| send(caller, "GET", path, Value::Null);

    let poll =
        json!({ "question": "Tea?", "options": ["Green", "Schwarzer", "Чай"], "maxChoices": 2 });
    let new = json!({ "title": "Ünïcode 🫖", "body": "*Tea* \u{1f375} ' \" \\", "poll": poll });
    let thread = &post("alice", "/forums/2/threads", new)["threadId"];
    let target = json!({ "target": "thread", "targetId": thread });
    post("bob", "/subscriptions", target);
    let thread = format!("/threads/{}", thread.as_str().unwrap());
    let poll = read("bob", &format!("{thread}/poll"));
    let votes = format!("/polls/{}/votes", poll["pollId"].as_str().unwrap());
    let vote = json!({ "optionIds": [poll["options"][0]["optionId"]] });
    post("bob", &votes, vote);

    let posts = format!("{thread}/posts");
    let path = |post: &Value| format!("{posts}/{}", post["postId"].as_str().unwrap());
    let kept = post("bob", &posts, json!({ "body": "Kept" }));
    let reply = json!({ "body": "Reply", "inReplyTo": kept["postId"] });
    post("carol", &posts, reply);
    let edit = json!({ "body": "Edited", "reason": "a typo" });
    send("bob", "PATCH", &path(&kept), edit);
    let deleted = post("bob", &posts, json!({ "body": "Deleted" }));
    send("bob", "DELETE", &path(&deleted), Value::Null);
    post("newbie", &posts, json!({ "body": "Awaits" }));
    let rating = json!({ "points": 2, "comment": "Thanks", "postId": kept["postId"] });
    post("alice", "/members/4/reputation", rating);

    let message = json!({ "to": ["5"], "subject": "Hi", "body": "There", "requestReceipt": true });
    post("alice", "/messages", message);
    let inbox = read("carol", "/messages");
    let received = inbox["items"][0]["messageId"].as_str().unwrap();
    read("carol", &format!("/messages/{received}"));

    let key = [("idempotency-key", "copied")];
    let body = r#"{"body":"insert by key"}"#;
    let sent = server.send_with(&key, "POST", &tokens["alice"], &posts, body);
    assert_eq!(sent.status, 201);
}

/// Waits for a delivery of each state that [`change_rows`] does not set, and for enough others.
fn wait_for_deliveries(server: &Server) {
    let count = |state: &str| {
        let list = server.run_ok(&format!("delivery list --json --state {state}"));
        list.json().as_array().unwrap().len()
    };
    wait_until(|| match (count("delivered"), count("dead")) {
        (0, _) | (_, 0) => false,
        (delivered, dead) => delivered + dead >= STATES.len(),
    });
}

/// Changes rows to states that they reach in a server only after some time.
fn change_rows(directory: &ServerDirectory, expired: &str) {
    let later = i64::MAX / 2;
    let set_state = |columns: &str| {
        // The first delivery of each state is kept.
        format!(
            "UPDATE forum_api_deliveries SET {columns} WHERE id = (
                SELECT min(id) FROM forum_api_deliveries
                WHERE id NOT IN (SELECT min(id) FROM forum_api_deliveries GROUP BY state)
            )"
        )
    };
    let due = |state: &str, attempts: u32| {
        set_state(&format!(
            "state = '{state}', attempts = {attempts}, ended_at = NULL, due_at = {later}"
        ))
    };
    let changes = [
        // A thread that was hidden a moment ago.
        "INSERT INTO thread_recount (thread_id, counts) SELECT min(thread_id), TRUE FROM thread_author".into(),
        "INSERT INTO thread_publication (thread_id) SELECT min(thread_id) FROM thread_author".into(),
        format!("UPDATE forum_api_tokens SET expires_at = 1 WHERE lookup = '{expired}'"),
        // Rows with the largest ids were deleted.
        "UPDATE sqlite_sequence SET seq = seq + 7".into(),
        set_state("state = 'gone'"),
        set_state("state = 'withheld'"),
        due("queued", 0),
        due("retrying", 1),
    ];
    let file = Connection::open(directory.path().join("forum.db")).unwrap();
    for change in &changes {
        assert!(file.execute(change, []).unwrap() > 0, "{change}");
    }
    let states = directory.query("SELECT DISTINCT state FROM forum_api_deliveries ORDER BY 1");
    assert_eq!(states, STATES);
}
