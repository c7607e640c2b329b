//! The feed of events of a server.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::faults::call_tool;
use crate::prelude::*;

/// Reads the feed until it has these topics: on Postgres, a transaction of another test can delay an event. Returns the
/// position of the last one.
fn expect_events(server: &Server, token: &str, from: &str, expected: &[&str]) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let page = server.get(token, &format!("/x/events?{from}&limit=100")).json();
        assert_eq!(page["next"], Value::Null, "{page}");
        let items = page["items"].as_array().unwrap();
        let topics: Vec<_> = items.iter().map(|item| item["topic"].as_str().unwrap()).collect();
        if topics == expected {
            return format!("after={}", items.last().unwrap()["event"].as_str().unwrap());
        }
        assert!(topics.len() < expected.len() && Instant::now() < deadline, "{page}");
    }
}

#[test]
fn a_token_reads_the_events_of_members_and_of_commands() {
    let server = Server::new(&[]);
    server.remove_post_limits();
    let alice = server.token("alice");
    let new = json!({ "title": "Kettles", "body": "Which one?" });
    let thread = server.post(&alice, "/forums/2/threads", &new).json();
    let [id, first] = ["threadId", "firstPostId"].map(|name| thread[name].as_str().unwrap());
    let created = ["thread.created", "post.created"];
    let position = expect_events(&server, &alice, "since=2020-01-01T00:00:00Z", &created);
    let path = format!("/threads/{id}/posts/{first}");
    let edit = r#"{"title":"Pots","body":"Which of them?"}"#;
    assert_eq!(server.send("PATCH", &alice, &path, edit).status, 200);
    let updated = ["thread.updated", "post.updated"];
    let position = expect_events(&server, &alice, &position, &updated);
    server.run_ok(&format!("thread lock {id}"));
    let position = expect_events(&server, &alice, &position, &["thread.updated"]);
    server.run_ok("member add zelda --groups members");
    server.run_ok("member erase zelda --yes");
    let position = expect_events(&server, &alice, &position, &["member.erased"]);

    server.run_ok("member add quentin --groups members");
    let quentin = server.token("quentin");
    let reply = json!({ "body": "x" });
    assert_eq!(server.post(&quentin, "/threads/1/posts", &reply).status, 201);
    let position = expect_events(&server, &alice, &position, &["post.created"]);
    server.run_ok("member erase quentin --posts --yes");
    let position = expect_events(&server, &alice, &position, &["post.deleted", "member.erased"]);

    let after = position.strip_prefix("after=").unwrap();
    let result = call_tool(&server, &alice, "listEvents", json!({ "after": after })).json();
    let content = &result["result"]["structuredContent"];
    assert_eq!(*content, json!({ "items": [], "next": null }), "{result}");
}

/// Compares a copy with the lists after each line of the standard input, until they are equal.
const COMPARE: &str = r#"
import sys
import time


def author(resource):
    return resource["author"] and resource["author"]["userId"]


def view(threads, posts):
    names = ("threadId", "title", "locked", "pinned", "replyCount", "state")
    return (
        sorted([*(thread[name] for name in names), author(thread)] for thread in threads),
        sorted([post["postId"], post["body"], post["state"], author(post)] for post in posts),
    )


def of_board():
    forums = get("/forums")["items"]
    threads = [thread for forum in forums for thread in read(f"/forums/{forum['forumId']}/threads")]
    return view(threads, [post for thread in threads for post in read(f"/threads/{thread['threadId']}/posts")])


update()
print("begun", flush=True)
for _ in sys.stdin:
    deadline = time.monotonic() + 30
    expected = of_board()
    update()
    while view(threads.values(), posts.values()) != expected and time.monotonic() < deadline:
        update()
    found = view(threads.values(), posts.values())
    print("equal" if found == expected else f"{found} is not {expected}", flush=True)
"#;

/// The program of the reference page, which keeps a copy.
struct BoardCopy {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl BoardCopy {
    fn begin(server: &Server, token: &str) -> Self {
        let document = get(&server.api_url("/openapi.json")).json();
        let tags = document["tags"].as_array().unwrap();
        let tag = tags.iter().find(|tag| tag["name"] == "events").unwrap();
        let description = tag["description"].as_str().unwrap();
        let (_, program) = description.split_once("```python\n").unwrap();
        let (program, _) = program.split_once("```").unwrap();
        let mut child = Command::new("python3")
            .args(["-c", &format!("{program}{COMPARE}")])
            .env("API", server.api_url(""))
            .env("FORUM_TOKEN", token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let input = child.stdin.take().unwrap();
        let mut copy = Self { child, input, lines };
        copy.expect("begun");
        copy
    }

    fn expect(&mut self, line: &str) {
        assert_eq!(self.lines.next().unwrap().unwrap(), line);
    }

    /// Brings the copy up to date, and compares it with the board.
    fn compare(&mut self) {
        writeln!(self.input).unwrap();
        self.expect("equal");
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

/// The program of the reference page, while members write, edit, delete and vote, and operators approve, restore, lock and
/// erase.
#[test]
fn a_copy_that_the_published_program_keeps_equals_the_board() {
    let server = Server::new(&["--token-budget", "1000000"]);
    server.remove_post_limits();
    let [alice, bob, moderator, newbie] =
        ["alice", "bob", "mod", "newbie"].map(|name| server.token(name));
    let mut copy = BoardCopy::begin(&server, &alice);
    let mut compare = || copy.compare();
    let text = |value: &Value, name: &str| value[name].as_str().unwrap().to_owned();
    for round in 0..4 {
        let new = json!({ "title": format!("Copied {round}"), "body": "First." });
        let thread = server.post(&alice, "/forums/2/threads", &new).json();
        let (id, first) = (text(&thread, "threadId"), text(&thread, "firstPostId"));
        let posts = format!("/threads/{id}/posts");
        let reply = |token, body: &str| {
            text(&server.post(token, &posts, &json!({ "body": body })).json(), "postId")
        };
        let [edited, deleted] = ["Edited.", "Deleted."].map(|body| reply(&bob, body));
        let waiting = reply(&newbie, "Waiting.");
        compare();
        let change = |method, token, post: &str, body: Value| {
            let path = format!("{posts}/{post}");
            let changed = server.send(method, token, &path, &body.to_string());
            assert!(changed.status < 300, "{changed:?}");
        };
        change("PATCH", &alice, &first, json!({ "title": format!("Renamed {round}") }));
        change("PATCH", &bob, &edited, json!({ "body": "Better." }));
        change("DELETE", &bob, &deleted, Value::Null);
        server.run_ok(&format!("post approve {waiting}"));
        server.run_ok(&format!("thread {} {id}", ["lock", "pin"][round % 2]));
        compare();
        if round % 2 == 0 {
            server.run_ok(&format!("post restore {deleted}"));
        } else {
            change("DELETE", &moderator, &first, Value::Null);
            compare();
            server.run_ok(&format!("post restore {first}"));
        }
        compare();
    }
    server.run_ok("member erase newbie --yes");
    compare();
    server.run_ok("member erase bob --posts --yes");
    compare();
    copy.end();
}

/// The time without an event is longer than the retention.
#[test]
fn a_copy_of_a_quiet_board_misses_no_event() {
    let server = Server::new(&["--event-retention", "0.0005", "--token-budget", "1000000"]);
    server.remove_post_limits();
    let alice = server.token("alice");
    let mut copy = BoardCopy::begin(&server, &alice);
    for _ in 0..2 {
        let posted = server.post(&alice, "/threads/1/posts", &json!({ "body": "Quiet." }));
        assert_eq!(posted.status, 201, "{posted:?}");
        thread::sleep(Duration::from_secs(3));
        copy.compare();
    }
    copy.end();
}

/// The budget ends before all lists are read, more than once.
#[test]
fn a_copy_is_complete_although_the_budget_is_used_up() {
    let server = Server::new(&["--token-budget", "10", "--window", "1"]);
    let alice = server.token("alice");
    let mut copy = BoardCopy::begin(&server, &alice);
    copy.compare();
    copy.end();
}

#[test]
fn a_server_without_a_retention_has_no_feed() {
    let server = Server::new(&["--event-retention", "0"]);
    let alice = server.token("alice");
    assert_eq!(server.get(&alice, "/x/events").status, 404);
    let document = get(&server.api_url("/openapi.json")).json();
    assert_eq!(document["paths"].get("/x/events"), None);
}
