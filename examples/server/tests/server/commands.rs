//! Commands while a server runs, and commands at a terminal.

use std::process::Stdio;

use crate::prelude::*;

#[test]
fn commands_take_effect_between_two_requests() {
    let server = Server::new(&[]);
    let token = server.token("bob");
    assert_eq!(server.get(&token, "/me").status, 200);
    let lookup = &token["forum_pat_".len()..][..16];
    server.run_ok(&format!("token revoke {lookup}"));
    assert_eq!(server.get(&token, "/me").status, 401);
    let forums = || get(&server.api_url("/forums"));
    server.run_ok("board offline");
    assert_eq!(forums().status_and("retry-after"), (503, None));
    for path in [server.api_url("/openapi.json"), server.url("/health")] {
        assert_eq!(get(&path).status, 200);
    }
    let later = server.run_ok("board offline --until 2999-01-01");
    assert_eq!(later.stderr, "");
    assert!(forums().header_number("retry-after").unwrap() > 1_000_000_000);
    let earlier = server.run_ok("board offline --until 2001-01-01T00:00:00Z");
    let warning = "warning: the time is in the past: responses have no retry-after\n";
    assert_eq!(earlier.stderr, warning);
    assert_eq!(forums().status_and("retry-after"), (503, None));
    let status = server.run_ok("status --json").json();
    assert_eq!(status["board"], "offline, expected back at 2001-01-01T00:00:00.000Z");
    server.run_ok("board online");
    assert_eq!(forums().status, 200);
    let log = server.run_ok("audit list --action board.offline --json").json();
    let details = [0, 1, 2].map(|entry| log[entry]["details"].as_str().unwrap());
    let times = ["until 2001-01-01T00:00:00.000Z", "until 2999-01-01T00:00:00.000Z", ""];
    assert_eq!(details, times);
}

/// Returns the arguments of the command that undoes a deletion, from a text that contains it.
fn restore_arguments(text: &str) -> Vec<&str> {
    let (_, rest) = text.split_once("`post restore ").unwrap();
    let (arguments, _) = rest.split_once('`').unwrap();
    ["post", "restore"].into_iter().chain(arguments.split(' ')).collect()
}

const DELETED: &str = "SELECT CAST(id AS TEXT) FROM post WHERE state = 'deleted' ORDER BY id";

#[test]
fn a_failed_deletion_says_what_it_did_and_the_next_one_undoes_both() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    let before = directory.query(DELETED);
    directory.execute(
        "CREATE TRIGGER refuse BEFORE UPDATE OF state ON post WHEN NEW.number = 1
        BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    let ban = ["member", "ban", "alice", "--delete-posts", "--yes"];
    let failed = directory.run(&ban, "");
    let deleted = directory.query(DELETED).len() - before.len();
    assert!(deleted > 1, "{failed:?}");
    let count =
        format!("Banned \"alice\". Deleted {deleted} posts. To undo, run `member unban alice` and");
    failed.assert_error(&count);
    failed.assert_error("Run the command again for the rest.");
    let log = directory.run(&["audit", "list", "--action", "post.deleted", "--json"], "").json();
    assert_eq!(log[0]["details"], "by alice; unfinished");

    directory.execute("DROP TRIGGER refuse");
    let repeated = directory.run(&ban, "").stdout;
    let undo = restore_arguments(&repeated).join(" ");
    let expected = format!(
        "\"alice\" is already banned. Deleted 3 posts. To undo the deletion, run `{undo}`. This also restores what earlier, \
         unfinished runs deleted.\n"
    );
    assert_eq!(repeated, expected);
    // The command counts the posts of the other authors of the deleted threads: no server runs.
    assert_eq!(directory.query("SELECT CAST(thread_id AS TEXT) FROM thread_recount"), [""; 0]);
    let log = directory.run(&["audit", "list", "--action", "post.deleted", "--json"], "").json();
    let details = [0, 1].map(|entry| log[entry]["details"].as_str().unwrap());
    assert_eq!(details, ["by alice"; 2]);
    for text in [&failed.stderr, &repeated] {
        assert_eq!(restore_arguments(text), restore_arguments(&failed.stderr));
    }
    let restored = directory.run(&[&restore_arguments(&repeated)[..], &["--json"]].concat(), "");
    assert_eq!(restored.json(), json!({ "ok": true, "posts": deleted + 3 }));
    assert_eq!(directory.query(DELETED), before);

    // The next deletion continues none.
    let again = directory.run(&["post", "delete", "--by", "alice", "--yes", "--json"], "").json();
    assert_eq!(again["posts"], deleted + 3);
    let undo = again["undo"][0].as_str().unwrap();
    assert!(!repeated.contains(undo) && undo.starts_with("post restore --by alice --since "));
}

#[test]
fn the_undo_of_a_deletion_includes_posts_that_are_deleted_after_the_clock_was_set_back() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    let before = directory.query(DELETED);
    directory.execute(
        "CREATE TRIGGER refuse BEFORE UPDATE OF state ON post WHEN NEW.number = 1
        BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    let delete = ["post", "delete", "--by", "alice", "--yes"];
    directory.run(&delete, "").assert_error("Run the command again for the rest.");
    // The clock of the first run was an hour ahead.
    directory.execute(
        "DROP TRIGGER refuse;
        UPDATE post SET deleted_at = deleted_at + 3600000
        WHERE deleted_at >= (SELECT occurred_at FROM forum_api_audit_log WHERE action = 'post.deleted');
        UPDATE forum_api_audit_log SET occurred_at = occurred_at + 3600000
        WHERE action = 'post.deleted'",
    );
    let deleted = directory.run(&delete, "").stdout;
    assert_eq!(directory.run(&restore_arguments(&deleted), "").status, 0);
    assert_eq!(directory.query(DELETED), before);
}

#[test]
fn a_stopped_deletion_says_what_it_did() {
    let (directory, _) = ServerDirectory::with_demo_board();
    let generate = ["generate", "--members", "1", "--threads", "1", "--posts", "2000", "--yes"];
    assert_eq!(directory.run(&generate, "").status, 0);
    let find = "SELECT username FROM member ORDER BY id DESC LIMIT 1";
    let author = directory.query(find).remove(0);
    let before = directory.query(DELETED).len();
    let arguments = directory.arguments(&["post", "delete", "--by", &author, "--yes"]);
    let child = start(directory.path(), &arguments, &[]);
    wait_until(|| directory.query(DELETED).len() > before);
    signal(&child, "INT");
    let stopped = wait(child);
    let deleted = directory.query(DELETED).len() - before;
    stopped.assert_error(&format!("stopped by SIGINT. Deleted {deleted} posts by"));
    let undo = restore_arguments(&stopped.stderr);
    assert_eq!(directory.run(&undo, "").status, 0);
    assert_eq!(directory.query(DELETED).len(), before);
}

#[test]
fn the_printed_document_is_the_served_one() {
    for surface in ["full", "compact"] {
        let server = Server::new(&["--empty", "--surface", surface]);
        let mut served = get(&server.api_url("/openapi.json")).json();
        let member = get(&server.api_url("/members/@ghost")).error_code();
        assert_eq!(member == "no_such_route", surface == "compact");
        // Only the running server knows its address.
        let address = server.api_url("");
        assert_eq!(served["servers"].take()[0]["url"], *address);
        let introduction = served["info"]["description"]
            .as_str()
            .unwrap()
            .replace(&address, "https://forum.example/api/v1");
        served["info"]["description"] = introduction.into();
        for command in ["openapi --surface", "--json openapi --surface"] {
            let output = server.run_ok(&format!("{command} {surface}"));
            let mut printed: Value = serde_json::from_str(&output.stdout).unwrap();
            printed["servers"].take();
            assert_eq!(printed, served);
        }
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let (directory, _) = ServerDirectory::with_demo_board();
    let command = shell_line(&directory, "token list");
    let line = format!("NO_COLOR=1 {command} > /dev/full; echo status $?");
    let printed = run_at_terminal(&directory, &line, &[]);
    let reason = "error: the output could not be written: No space left on device";
    assert!(printed.contains(reason), "{printed}");
    assert!(printed.contains("status 1"), "{printed}");
}

/// A program such as `head` can end before the output does.
#[test]
fn output_to_a_closed_pipe_is_not_an_error() {
    let (directory, _) = ServerDirectory::with_demo_board();
    for options in [&["token", "list"][..], &["token", "list", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = Command::new(server_path())
            .args(directory.arguments(options))
            .current_dir(directory.path())
            .env_remove("RUST_LOG")
            .stdout(writer)
            .output()
            .unwrap();
        assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    }
}

#[test]
fn completions_name_the_commands_of_the_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let directory = ServerDirectory::in_sqlite();
        let script = directory.run(&["completions", shell], "");
        assert_eq!(script.status, 0, "{script:?}");
        for word in ["forum-server", "webhook", "admin-listen"] {
            assert!(script.stdout.contains(word), "{shell}: {word}");
        }
        assert!(directory.files().is_empty());
    }
}

/// Runs shell commands at a terminal, and writes each input when its prompt appears. Returns what the terminal shows after
/// the last prompt.
fn run_at_terminal(directory: &ServerDirectory, line: &str, inputs: &[(&str, &str)]) -> String {
    let mut child = Command::new("script")
        .args(["--quiet", "--command", line, "/dev/null"])
        .current_dir(directory.path())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is installed");
    let mut output = child.stdout.take().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    for (prompt, input) in inputs {
        let mut read = Vec::new();
        while !read.ends_with(prompt.as_bytes()) {
            let mut byte = [0];
            output.read_exact(&mut byte).expect("the command prompts");
            read.push(byte[0]);
        }
        keyboard.write_all(input.as_bytes()).unwrap();
    }
    let printed = std::io::read_to_string(output).unwrap();
    child.wait().unwrap();
    printed
}

fn shell_line(directory: &ServerDirectory, command: &str) -> String {
    let words: Vec<_> = command.split(' ').collect();
    let arguments = directory.arguments(&words).join("' '");
    format!("'{}' '{arguments}'", server_path().display())
}

#[test]
fn missing_values_are_asked_for_at_a_terminal() {
    let running = Server::new(&[]);
    let line = shell_line(&running.directory, "webhook add");
    let inputs = [("URL: ", "https://93.184.215.14/\n")];
    let printed = run_at_terminal(&running.directory, &line, &inputs);
    assert!(printed.contains("whsec_"), "{printed}");

    let line = shell_line(&running.directory, "token issue");
    let password = format!("{}\n", running.password());
    let inputs = [
        ("Owner's username: ", "bob\n"),
        ("posts:read): ", "forums:read\n"),
        ("Password of admin: ", &*password),
    ];
    let printed = run_at_terminal(&running.directory, &line, &inputs);
    let mut lines = printed.lines().map(str::trim);
    let token = lines.find(|line| line.starts_with("forum_pat_"));
    assert_eq!(running.get(token.expect(&printed), "/forums").status, 200);
}

#[test]
fn a_password_is_never_echoed_and_the_terminal_is_restored() {
    let (directory, _) = ServerDirectory::with_demo_board();
    let command = shell_line(&directory, "member password bob");
    let line = format!("trap : INT QUIT; {command}; echo status $?; stty -a");
    let prompt = "New password of bob: ";
    let ended = |input: &str| run_at_terminal(&directory, &line, &[(prompt, input)]);
    let assert_echo = |printed: &str, status: &str| {
        let has_echo = printed.split_whitespace().any(|word| word == "echo");
        assert!(printed.contains(status) && has_echo, "{printed}");
    };
    for _ in 0..20 {
        let printed = ended("geheim\n");
        assert_echo(&printed, "status 1");
        assert!(!printed.contains("geheim"), "{printed}");
    }
    assert_echo(&ended("\x03"), "status 130");
    assert_echo(&ended("\x1c"), "status 131");
    let empty = ended("\n");
    assert_echo(&empty, "status 1");
    assert!(empty.contains(" expected a password"), "{empty}");
}

#[test]
fn a_new_password_is_asked_for_twice_at_a_terminal() {
    let server = Server::new(&[]);
    let command = shell_line(&server.directory, "member password bob");
    let line = format!("{command}; echo status $?");
    for (repeated, status, reason) in [
        ("another password\n", 1, "the passwords differ"),
        ("a new password\n", 0, "Set the password of"),
    ] {
        let inputs =
            [("New password of bob: ", "a new password\n"), ("Repeat the password: ", repeated)];
        let printed = run_at_terminal(&server.directory, &line, &inputs);
        assert!(printed.contains(&format!("status {status}")), "{printed}");
        assert!(printed.contains(reason), "{printed}");
        let signed_in = sign_in(&server, "bob", "a+new+password").status;
        assert_eq!(signed_in == 401, status == 1, "{signed_in}");
    }
}

#[test]
fn a_destructive_command_runs_only_after_a_confirmation_at_a_terminal() {
    let (directory, _) = ServerDirectory::with_demo_board();
    let command = shell_line(&directory, "post delete --by mallory");
    let line = format!("{command}; echo status $?");
    let inputs = [
        "This deletes the posts of \"mallory\": 1 post, with 1 thread and its replies. Continue? [y/N] ",
    ];
    let deleted = directory.query(DELETED).len();
    for typed in ["\n", "n\n", "yes, please\n"] {
        let printed = run_at_terminal(&directory, &line, &inputs.map(|prompt| (prompt, typed)));
        assert!(printed.contains(" not confirmed; nothing was changed"), "{printed}");
        assert!(printed.contains("status 1"), "{printed}");
        assert_eq!(directory.query(DELETED).len(), deleted);
    }
    for typed in ["y\n", "Y\n", " yes \n"] {
        let printed = run_at_terminal(&directory, &line, &inputs.map(|prompt| (prompt, typed)));
        assert!(printed.contains("Deleted 1 post by \"mallory\"."), "{printed}");
        assert!(printed.contains("status 0"), "{printed}");
        let restored = directory.run_line("post restore --by mallory --since 2020-01-01", "");
        assert_eq!(restored.status, 0, "{restored:?}");
    }
}

/// The terminal shows a time as its distance from now, and a list that is shortened ends with the number of all items.
#[test]
fn a_shortened_list_of_several_pages_counts_all_items_at_a_terminal() {
    let (directory, _) = ServerDirectory::with_demo_board();
    directory.execute(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1150)
        INSERT INTO forum_api_audit_log (id, occurred_at, origin, action, target, details, count)
        SELECT 'aud_' || (10000 + n), n, 'command_line', 'entry.made', CAST(n AS TEXT), '', 1 FROM number",
    );
    let list = shell_line(&directory, "audit list --action entry.made --limit 2");
    let printed = run_at_terminal(&directory, &format!("NO_COLOR=1 {list}"), &[]);
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines.len(), 4, "{printed}");
    for (line, target) in lines[1..3].iter().zip(["1150", "1149"]) {
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(words[0].ends_with('d'), "{printed}");
        assert_eq!(words[1..], ["ago", "entry.made", target, "-", "command_line"], "{printed}");
    }
    assert_eq!(lines[3], "2 of 1,150 shown; use --limit N for more or fewer");
}

#[test]
fn generate_asks_on_a_demo_board_in_use() {
    let ask = |server: &Server| {
        server.run("generate --posts 5").assert_error("not a new demo board");
    };
    let renewed = Server::new(&["--no-worker"]);
    renewed.run_ok("member erase mallory --yes");
    renewed.run_ok("member add anna --groups members");
    ask(&renewed);
    let rated = Server::new(&["--no-worker"]);
    let rating = json!({ "points": 1, "comment": "Thanks." });
    let sent = rated.post(&rated.token("alice"), "/members/@bob/reputation", &rating);
    assert_eq!(sent.status, 201);
    ask(&rated);
}

#[test]
fn lists_fit_a_terminal_which_shows_fifty_items() {
    let server = Server::new(&["--no-worker"]);
    server.run_ok("generate --members 60 --threads 60 --posts 60");
    let url = format!("https://93.184.215.14/{}", "path/".repeat(30));
    let endpoint = server.run_ok(&format!("webhook add {url} --json")).json();
    let id = endpoint["id"].as_str().unwrap();
    server.run_ok(&format!("webhook ping {id}"));
    for (list, is_long) in [
        ("token list", false),
        ("webhook list", false),
        ("delivery list", false),
        ("member list", true),
        ("forum list", false),
        ("thread list", true),
        ("post list --state deleted", false),
        ("audit list", false),
        ("setting list", false),
        ("config check", false),
    ] {
        let line = format!("stty cols 80; NO_COLOR=1 {}", shell_line(&server.directory, list));
        let printed = run_at_terminal(&server.directory, &line, &[]);
        let longest = printed.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(80), "{list}\n{printed}");
        assert_eq!(printed.contains("50 of "), is_long, "{list}\n{printed}");
    }
    let all = server.run_ok("member list").stdout;
    let json = server.run_ok("member list --json").json();
    let members = json.as_array().unwrap();
    assert_eq!(all.lines().count(), members.len() + 1);
    let line = shell_line(&server.directory, "member list --limit 51");
    let printed = run_at_terminal(&server.directory, &line, &[]);
    assert_eq!(printed.lines().count(), 53);
    let total = format!("51 of {} shown;", members.len());
    assert!(printed.contains(&total), "{printed}");
    let newest = server.run_ok("member list --limit 2 --json").json();
    assert_eq!(newest.as_array().unwrap()[..], members[..2]);
    let id = |at: usize| members[at]["userId"].as_str().unwrap().parse::<u64>();
    assert!(id(0).unwrap() > id(1).unwrap(), "the newest first");
    assert!(server.run_ok("webhook list").stdout.contains(&url));
    // The width of the terminal is unknown.
    for list in ["webhook list", "audit list"] {
        let line = format!("stty cols 0; NO_COLOR=1 {}", shell_line(&server.directory, list));
        let printed = run_at_terminal(&server.directory, &line, &[]);
        assert!(printed.contains("https://93.184.215.14"), "{printed}");
        let longest = printed.lines().map(|line| line.chars().count()).max();
        assert_eq!(longest, Some(80), "{list}\n{printed}");
    }
}

#[test]
fn a_shortened_list_ends_with_the_number_of_all_its_items() {
    let (directory, _) = ServerDirectory::with_demo_board();
    for post in [2, 3] {
        let deleted = directory.run_line(&format!("post delete {post}"), "");
        assert_eq!(deleted.status, 0, "{deleted:?}");
    }
    for (list, total) in
        [("thread list", 18), ("thread list --forum 2", 5), ("post list --state deleted", 2)]
    {
        let line = shell_line(&directory, &format!("{list} --limit 1"));
        let printed = run_at_terminal(&directory, &line, &[]);
        assert!(printed.contains(&format!("1 of {total} shown;")), "{list}: {printed}");
    }
}

#[test]
fn the_status_shows_database_key_queue_and_nodes() {
    let server = Server::new(&["--no-worker"]);
    let arguments = server.directory.arguments(&["worker"]);
    let mut worker = start(server.directory.path(), &arguments, &[]);
    let log = wait_for_line(worker.stderr.take().unwrap(), "webhook worker started");
    let status = server.run_ok("status --json").json();
    assert_eq!([&status["migrations"], &status["board"]], ["up to date", "online"]);
    let node = format!("forum-server/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(status["program"], node.as_str());
    let nodes = status["nodes"].as_array().unwrap();
    let mut processes: Vec<_> =
        nodes.iter().map(|node| node["process"].as_str().unwrap()).collect();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!((nodes.len(), processes.len()), (2, 2), "{status}");
    assert_eq!([&nodes[0]["version"], &nodes[1]["version"]], [&node, &node]);
    let described = nodes.iter().zip(["nodes", ""]).map(|(one, label)| {
        let [address, process] = ["address", "process"].map(|key| one[key].as_str().unwrap());
        format!("{label:10}  {node} at {address}, process {process}\n")
    });
    let text = server.run_ok("status").stdout;
    assert!(text.ends_with(&described.collect::<String>()), "{text}");
    worker.kill().unwrap();
    worker.wait().unwrap();
    log.join().unwrap();
    let directory = server.stop();
    // Postgres lists the connections of a killed process until it notices.
    wait_until(|| directory.run_line("status --json", "").json()["nodes"] == json!([]));
    let stopped = directory.run_line("status --json", "").json();
    let [database, key] = ["database", "key"].map(|name| stopped[name].as_str().unwrap());
    if directory.is_in_postgres() {
        assert!(database.contains(":***@"), "{database}");
        assert!(key.starts_with("none"), "{key}");
    } else {
        assert_eq!(database, "sqlite:forum.db");
        let stored = directory.query("SELECT key_id FROM forum_api_webhook_key");
        assert_eq!(stored, [key]);
    }
    let expected = json!({
        "program": node,
        "database": database,
        "migrations": "up to date",
        "board": "online",
        "key": key,
        "queue": { "due": 0, "oldestSeconds": 0, "dead": 0, "disabledEndpoints": 0 },
        "failingEndpoints": [],
        "nodes": [],
    });
    assert_eq!(stopped, expected);
    let pairs = [
        ("program", &*node),
        ("database", database),
        ("migrations", "up to date"),
        ("board", "online"),
        ("key", key),
        ("queue", "0 due"),
        ("dead", "0 deliveries"),
        ("disabled", "0 endpoints"),
        ("failing", "0 endpoints"),
        ("nodes", "none"),
    ];
    let lines = pairs.map(|(label, value)| format!("{label:10}  {value}\n"));
    assert_eq!(directory.run_line("status", "").stdout, lines.concat());
    if directory.is_in_postgres() {
        return;
    }
    fs::write(directory.path().join("other"), "0123456789abcdef").unwrap();
    let with_other = directory.run_line("status --json --secret-key-file other", "").json();
    let differs = format!("{key}, but the key file contains ");
    assert!(with_other["key"].as_str().unwrap().starts_with(&differs), "{with_other}");
    fs::remove_file(directory.path().join("forum.db.key")).unwrap();
    let without = directory.run_line("status --json", "").json();
    assert_eq!(without["key"], format!("{key}, whose file this command does not have"));
}

#[test]
fn output_has_colours_at_a_terminal_only() {
    let (directory, _) = ServerDirectory::with_demo_board();
    for command in ["token list", "token revoke 0123456789abcdEF", "--help"] {
        let line = shell_line(&directory, command);
        for (line, has_colours) in [
            (line.clone(), true),
            (format!("NO_COLOR=1 {line}"), false),
            (format!("{line} 2>&1 | cat"), false),
        ] {
            let printed = run_at_terminal(&directory, &line, &[]);
            assert_eq!(printed.contains('\u{1b}'), has_colours, "{printed}");
        }
    }
}

#[test]
fn the_body_of_a_delivery_has_several_lines_at_a_terminal() {
    let server = Server::new(&["--no-worker"]);
    let endpoint = server.run_ok("webhook add https://93.184.215.14/ --json").json();
    let id = endpoint["id"].as_str().unwrap();
    server.run_ok(&format!("webhook ping {id} --wait 0"));
    let deliveries = server.run_ok("delivery list --json").json();
    let show = format!("delivery show {}", deliveries[0]["id"].as_str().unwrap());
    let line = shell_line(&server.directory, &show);
    let printed = run_at_terminal(&server.directory, &line, &[]);
    let is_shown = printed.lines().any(|line| line == r#"      "topic": "ping","#);
    assert!(is_shown, "{printed}");
}

#[test]
fn a_copy_shows_its_steps_at_a_terminal() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    assert_eq!(directory.run_line("board offline", "").status, 0);
    let database = Database::new();
    let postgres = database.url();
    for (from, to) in [("sqlite:forum.db", &*postgres), (&*postgres, "sqlite:back.db")] {
        let line = shell_line(&directory, &format!("copy --database {from} --to {to}"));
        let printed = run_at_terminal(&directory, &line, &[]);
        for step in ["Copying ", "Building the indexes: ", "Comparing "] {
            assert!(printed.contains(step), "{step}\n{printed}");
        }
    }
}

/// A page of a list has 500 items, and one of the audit log 100.
#[test]
fn a_list_of_several_pages_has_each_item_once() {
    let (directory, _) = ServerDirectory::with_demo_board();
    let generate = "generate --members 3 --threads 1100 --posts 1100 --yes";
    let generated = directory.run_line(generate, "");
    assert_eq!(generated.status, 0, "{generated:?}");
    let list = directory.run_line("thread list --limit 1050 --json", "").json();
    let ids: Vec<i64> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| thread["threadId"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(ids.len(), 1_050);
    assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "{ids:?}");
    // The 100th and the 101st entry have the same time.
    directory.execute(
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 250)
        INSERT INTO forum_api_audit_log (id, occurred_at, origin, action, target, details, count)
        SELECT 'aud_' || (1000 + n), n / 2, 'command_line', 'entry.made', CAST(n AS TEXT), '', 1 FROM number",
    );
    let log = directory.run_line("audit list --action entry.made --json", "").json();
    let targets: Vec<i64> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["target"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(targets, Vec::from_iter((1..=250).rev()));
}
