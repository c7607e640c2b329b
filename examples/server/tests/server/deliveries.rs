//! Webhooks of a server and of `worker`, and the commands on deliveries.

use std::net::TcpListener;
use std::sync::atomic::AtomicU16;

use crate::faults::call_tool;
use crate::log::parse_lines;
use crate::prelude::*;

pub const ALLOW_PRIVATE: &str = "--allow-private-webhooks";

/// A server whose webhooks may go to this machine, with a short backoff.
fn new_server() -> Server {
    Server::new(&[ALLOW_PRIVATE, "--webhook-initial-backoff", "0.01"])
}

/// Registers the receiver. Returns the output.
pub fn add_endpoint(server: &Server, receiver: &Receiver, options: &str) -> Value {
    let url = &receiver.url;
    let add = format!("webhook add --json {ALLOW_PRIVATE} --url {url} {options}");
    server.run_ok(&add).json()
}

/// Replies in a thread of Announcements. Returns the post.
pub fn reply(server: &Server, token: &str, body: &str) -> Value {
    let posted = server.post(token, "/threads/1/posts", &json!({ "body": body }));
    assert_eq!(posted.status, 201, "{posted:?}");
    posted.json()
}

pub fn endpoint_id(endpoint: &Value) -> &str {
    endpoint["id"].as_str().unwrap()
}

pub fn endpoint_secret(endpoint: &Value) -> &str {
    endpoint["secret"].as_str().unwrap()
}

/// A receiver with a status that can be changed.
fn receiver_with_status(status: u16) -> (Receiver, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let current = status.clone();
    let receiver = Receiver::with_statuses(move |_| Some(current.load(Ordering::SeqCst)));
    (receiver, status)
}

/// Waits until a delivery is in this state, because the worker records a response after it has sent the request.
fn wait_for_state(server: &Server, id: &str, state: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(90);
    loop {
        let shown = server.run_ok(&format!("delivery show {id} --json")).json();
        if shown["state"] == state {
            return shown;
        }
        assert!(Instant::now() < deadline, "not {state}: {shown}");
    }
}

#[test]
fn a_failed_delivery_is_retried_until_it_is_dead_and_by_the_operator() {
    let server = new_server();
    let (receiver, answer) = receiver_with_status(503);
    add_endpoint(&server, &receiver, "--topics message.sent");
    let endpoint = add_endpoint(&server, &receiver, "");
    reply(&server, &server.token("alice"), "Without listeners.");
    let attempts: Vec<_> = (0..6).map(|_| receiver.next()).collect();
    let delivery = attempts[0].delivery();
    let mut bodies = attempts.iter().map(|attempt| &attempt.body);
    assert!(bodies.all(|body| *body == attempts[0].body));
    let dead = wait_for_state(&server, &delivery, "dead");
    assert_eq!(dead["endpointId"], endpoint["id"]);
    assert_eq!(dead["attempts"], 6);
    assert_eq!(dead["nextAttemptAt"], Value::Null);
    let last = dead["log"][5].as_object().unwrap();
    let fields = ["answer", "at", "attempt", "durationMs", "error", "status"];
    assert!(last.keys().eq(fields), "{last:?}");
    assert_eq!(json!([last["attempt"], last["status"]]), json!([6, 503]));
    let listed = server.run_ok("delivery list").stdout;
    let row: Vec<_> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], [&*delivery, "dead", "503", "post.created"], "{listed}");
    let listed = server.run_ok("webhook list").stdout;
    let id = endpoint_id(&endpoint);
    // The endpoint was added last, and is listed first.
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let row: Vec<_> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..2], [id, "enabled"], "{listed}");
    assert!(row[2].ends_with('Z') && row[3] == "503", "{listed}");
    let failing = server.run_ok("webhook list --state failing --json").json();
    assert_eq!(json!([failing[0]["id"], failing[1]]), json!([id, null]));
    let status = server.run_ok("status --json").json();
    let queue = json!({ "due": 0, "oldestSeconds": 0, "dead": 1, "disabledEndpoints": 0 });
    assert_eq!(status["queue"], queue);
    let expected =
        json!([{ "id": id, "url": receiver.url, "failingSince": row[2], "lastStatus": 503 }]);
    assert_eq!(status["failingEndpoints"], expected);
    let text = server.run_ok("status").stdout;
    assert!(text.contains("\ndead        1 delivery\n"), "{text}");
    assert!(text.contains("\nfailing     1 endpoint\n"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.starts_with(id) && last.contains(row[2]), "{text}");
    let retry = format!("delivery retry {delivery}");
    let all = format!("delivery retry --dead --endpoint {id}");
    let sent_again = format!("Delivery {delivery} will be sent again.\n");
    for (command, status, state, printed) in [
        (&all, 410, "gone", &format!("Queued 1 dead delivery of endpoint {id} again.\n")),
        (&retry, 200, "delivered", &sent_again),
        (&retry, 200, "delivered", &sent_again),
    ] {
        answer.store(status, Ordering::SeqCst);
        assert_eq!(server.run_ok(command).stdout, *printed);
        assert_eq!(receiver.next().delivery(), delivery);
        assert_eq!(wait_for_state(&server, &delivery, state)["attempts"], 1);
    }
    server.run_ok(&format!("webhook disable {id}"));
    server.run_ok(&retry);
    assert_eq!(wait_for_state(&server, &delivery, "queued")["attempts"], 0);
    assert_eq!(server.run_ok("status --json").json()["queue"]["disabledEndpoints"], 1);
    let show = format!("delivery show {delivery}");
    let paused = server.run_ok(&show).stdout;
    assert!(paused.contains("\nnext attempt  paused (endpoint disabled)\n"), "{paused}");
    server.directory.execute(
        "UPDATE forum_api_deliveries SET state = 'withheld', due_at = NULL, ended_at = created_at",
    );
    let withheld = server.run_ok(&show).stdout;
    let reason = "withheld (the owner of the endpoint is not allowed to receive this event)";
    assert!(withheld.contains(&format!("\nstate         {reason}\n")), "{withheld}");
    assert!(withheld.contains("\nnext attempt  -\n"), "{withheld}");
}

#[test]
fn an_attempt_fails_after_the_timeout() {
    let server = Server::new(&[ALLOW_PRIVATE, "--webhook-timeout", "0.2"]);
    let receiver = Receiver::with_statuses(|_| None);
    let endpoint = add_endpoint(&server, &receiver, "");
    let refused = server.run(&format!("webhook ping {}", endpoint_id(&endpoint)));
    let delivery = &receiver.next().delivery();
    refused.assert_error(&format!("ping {delivery} was not delivered: "));
    let retrying = wait_for_state(&server, delivery, "retrying");
    let listed = server.run_ok("delivery list").stdout;
    let next = retrying["nextAttemptAt"].as_str().unwrap();
    for shown in [delivery, endpoint_id(&endpoint), "ATTEMPTS", next] {
        assert!(listed.contains(shown), "{listed}");
    }
    let attempt = &retrying["log"][0];
    assert!(attempt["status"].is_null(), "{attempt}");
    assert!(attempt["error"].is_string(), "{attempt}");
    assert!(attempt["durationMs"].as_u64() >= Some(200));
    let endpoints = server.run_ok("webhook list").stdout;
    let row: Vec<_> = endpoints.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[3], "none", "{endpoints}");
    let [at, error] = ["at", "error"].map(|key| attempt[key].as_str().unwrap());
    let title = format!("\n#1  {at}  {} ms  {error}\n", attempt["durationMs"]);
    let shown = server.run_ok(&format!("delivery show {delivery}")).stdout;
    for part in [
        &*format!("\nURL           {}\n", receiver.url),
        &*format!("\nnext attempt  {next}\n"),
        &*format!("\nRequest body\n    {{\"delivery\":\"{delivery}\",\"event\":\"evt_"),
        &*title,
        "\nRequest headers\n    content-type: application/json\n",
        &*format!("\n    x-forum-delivery: {delivery}\n"),
    ] {
        assert!(shown.contains(part), "{part} {shown}");
    }
}

/// The worker sends when the time of the command is over: the end of the attempt is awaited.
#[test]
fn a_ping_waits_for_the_end_of_its_attempt() {
    let server = Server::new(&[ALLOW_PRIVATE, "--webhook-timeout", "5"]);
    let receiver = Receiver::with_statuses(|_| None);
    let endpoint = add_endpoint(&server, &receiver, "");
    let ping = format!("webhook ping {} --wait 3", endpoint_id(&endpoint));
    let refused = server.run(&ping);
    let delivery = receiver.next().delivery();
    refused.assert_error(&format!("ping {delivery} was not delivered: "));
    thread::scope(|scope| {
        let awaited = scope.spawn(|| server.run(&ping));
        let delivery = receiver.next().delivery();
        server.run_ok(&format!("delivery remove {delivery}"));
        let removed = awaited.join().unwrap();
        removed.assert_error(&format!("ping {delivery} was removed before its result was known"));
    });
}

#[test]
fn a_ping_and_an_example_wait_for_the_response_of_the_receiver() {
    let server = new_server();
    let (receiver, status) = receiver_with_status(204);
    let endpoint = add_endpoint(&server, &receiver, "--topics poll.voted");
    let id = endpoint_id(&endpoint);
    let example = format!("webhook example {id} --topic message.sent");
    for (command, what) in [(format!("webhook ping {id}"), "Ping"), (example, "Example")] {
        status.store(204, Ordering::SeqCst);
        let sent = server.run_ok(&command).stdout;
        let received = receiver.next();
        let delivery = received.delivery();
        let expected =
            format!("{what} {delivery} was delivered: the endpoint responded with 204.\n");
        assert_eq!(sent, expected);
        assert!(received.is_signed_with(endpoint_secret(&endpoint)));
        let body = received.json();
        assert!(body["requestId"].is_null());
        assert_eq!(body["example"] == true, what == "Example");
        let shown = server.run_ok(&format!("delivery show {delivery}")).stdout;
        assert!(shown.contains("\nResponse headers\n    "), "{shown}");
        assert!(shown.ends_with("\nResponse body: empty\n"), "{shown}");
        status.store(410, Ordering::SeqCst);
        let refused = server.run(&command);
        let delivery = receiver.next().delivery();
        let expected = format!(
            "{} {delivery} was not delivered: the endpoint responded with 410",
            what.to_lowercase()
        );
        assert_eq!(refused.error_message(), expected);
    }
    server
        .run(&format!("webhook example {id} --topic post.liked"))
        .assert_error("expected thread.created, ");
}

#[test]
fn events_of_commands_link_the_pages_of_the_server() {
    let server = Server::new(&[ALLOW_PRIVATE]);
    let receiver = Receiver::new();
    add_endpoint(&server, &receiver, "--topics thread.updated");
    server.run_ok("thread lock 16");
    let thread = &receiver.next().json()["data"]["thread"];
    assert_eq!(thread["webUrl"], server.url("/#/threads/16"));
}

/// A worker that is not notified looks for events once a second.
#[test]
fn an_event_of_a_request_wakes_the_worker_of_the_server() {
    let server = Server::new(&[ALLOW_PRIVATE]);
    server.remove_post_limits();
    let receiver = Receiver::new();
    add_endpoint(&server, &receiver, "--topics post.created");
    let token = server.token("alice");
    let deliver = || {
        reply(&server, &token, "Soon.");
        let begun = Instant::now();
        receiver.next();
        begun.elapsed()
    };
    // The worker has looked for events shortly before the next reply.
    deliver();
    let shortest = (0..5).map(|_| deliver()).min();
    assert!(shortest < Some(Duration::from_millis(500)), "{shortest:?}");
}

/// The request, the event and the delivery of a reply name each other.
#[test]
fn the_log_leads_from_a_token_to_deliveries() {
    let server = Server::new(&[ALLOW_PRIVATE, "--log", "json"]);
    server.remove_post_limits();
    let receiver = Receiver::new();
    add_endpoint(&server, &receiver, "--topics post.created");
    let token = server.token("alice");
    let thread = json!({ "title": "Kettles", "body": "Which?" });
    let started = server.post(&token, "/forums/2/threads", &thread);
    let request = started.header("x-request-id").unwrap().to_owned();
    let received = receiver.next();
    let event = received.json()["event"].clone();
    assert_eq!(received.json()["requestId"], request);
    let page = server.url(&format!("/#/threads/{}", started.json()["threadId"].as_str().unwrap()));
    for thread in [&started.json(), &received.json()["data"]["thread"]] {
        assert_eq!(thread["webUrl"], page);
    }
    let shown = server.run_ok(&format!("delivery show {} --json", received.delivery()));
    assert_eq!(shown.json()["requestId"], request);
    let text = server.run_ok(&format!("delivery show {}", received.delivery())).stdout;
    assert!(text.contains(&format!("\nrequest       {request}\n")), "{text}");
    let arguments = json!({ "threadId": started.json()["threadId"], "body": "By an agent" });
    let called = call_tool(&server, &token, "createPost", arguments);
    let (_, log) = server.stop_with_log();
    let lines = parse_lines(&log);
    let fields = |message, request: &str| {
        lines
            .iter()
            .map(|line| &line["fields"])
            .find(|fields| fields["message"] == message && fields["request_id"] == request)
            .unwrap()
    };
    let request_of_tool = called.header("x-request-id").unwrap();
    assert!(fields("request completed", request_of_tool)["events"].is_string());
    let completed = fields("request completed", &request);
    let thread = started.json();
    let created = ["firstPostId", "forumId", "threadId"]
        .map(|name| format!("{name}={}", thread[name].as_str().unwrap()));
    for (field, expected) in [
        ("token", json!(token["forum_pat_".len()..][..16])),
        ("method", json!("POST")),
        ("path", json!("/api/v1/forums/2/threads")),
        ("route", json!("/forums/{forumId}/threads")),
        ("status", json!(201)),
        ("created", json!(created.join(" "))),
    ] {
        assert_eq!(completed[field], expected, "{field}");
    }
    let events = completed["events"].as_str().unwrap();
    assert!(events.split(' ').any(|id| id == event), "{completed}");
    let attempt = fields("delivery attempt completed", &request);
    assert_eq!(attempt["delivery"], received.delivery());
}

#[test]
fn a_hanging_receiver_delays_the_end_of_a_server_by_ten_seconds_at_most() {
    let server = Server::new(&[ALLOW_PRIVATE, "--webhook-timeout", "60"]);
    let receiver = Receiver::with_statuses(|_| None);
    let endpoint = add_endpoint(&server, &receiver, "");
    server.run_ok(&format!("webhook ping {} --wait 0", endpoint_id(&endpoint)));
    let delivery = receiver.next().delivery();
    let begun = Instant::now();
    let (directory, log) = server.stop_with_log();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    let aborted: Vec<_> = log.lines().filter(|line| line.contains("aborted")).collect();
    assert_eq!(aborted.len(), 1, "{log}");
    assert!(aborted[0].contains(" WARN "), "{log}");
    assert!(aborted[0].ends_with(": webhooks aborted after the drain timeout"), "{log}");
    assert!(!log.contains(" ERROR "), "{log}");
    // An attempt that is cut off keeps its lease.
    let shown = directory.run(&["delivery", "show", &delivery, "--json"], "").json();
    assert_eq!(json!([shown["state"], shown["log"]]), json!(["queued", []]));
    assert!(shown["nextAttemptAt"].is_string(), "{shown}");
}

/// A proxy could forward a webhook to an address that is not allowed.
#[test]
fn proxies_of_the_environment_are_not_used() {
    let listen = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    };
    let proxy = listen();
    let secure = listen();
    let proxy_url = &*format!("http://{}", proxy.local_addr().unwrap());
    let environment = [
        ("http_proxy", proxy_url),
        ("https_proxy", proxy_url),
        ("all_proxy", proxy_url),
        ("HTTP_PROXY", proxy_url),
        ("HTTPS_PROXY", proxy_url),
        ("ALL_PROXY", proxy_url),
        ("no_proxy", ""),
        ("NO_PROXY", ""),
    ];
    let (directory, greeting) = ServerDirectory::with_demo_board();
    let server = Server::start_with(directory, &[ALLOW_PRIVATE], &environment, "");
    let receiver = Receiver::new();
    add_endpoint(&server, &receiver, "");
    let url = format!("https://{}", secure.local_addr().unwrap());
    server.run_ok(&format!("webhook add {ALLOW_PRIVATE} --url {url}"));
    let token = greeting["token"].as_str().unwrap();
    reply(&server, token, "By no detour.");
    receiver.next();
    wait_until(|| secure.accept().is_ok());
    proxy.accept().expect_err("the proxy is used");
}
