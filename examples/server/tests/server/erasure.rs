//! Erasure of a member, while a server runs.

use std::sync::Barrier;

use crate::prelude::*;

/// Texts of the member that no other member has, and the name.
const OWN: [&str; 8] = [
    "zelda.quux",
    "labelquux",
    "purgedquux",
    "hookquux",
    "gonequux",
    "selfquux",
    "reasonquux",
    "192.0.2.77",
];

const POSTS: [&str; 5] = ["titlequux", "bodyquux", "replyquux", "formerquux", "deletedquux"];

/// Actions of all audit entries after the erasure, except that of the deletion of the posts.
const ACTIONS: [&str; 22] = [
    "endpoint.added",
    "endpoint.added",
    "endpoint.added",
    "endpoint.removed",
    "endpoint.updated",
    "forum.moderator_added",
    "member.added",
    "member.banned",
    "member.banned",
    "member.erased",
    "member.unbanned",
    "post.restored",
    "setting.changed",
    "setting.changed",
    "setting.changed",
    "token.issued",
    "token.issued",
    "token.issued",
    "token.issued",
    "token.purged",
    "token.revoked",
    "token.revoked",
];

/// Returns all bytes of the files of a SQLite database, or all rows of all tables in Postgres, in lower case.
fn read_stored(directory: &ServerDirectory) -> String {
    let text = if directory.is_in_postgres() {
        let tables =
            directory.query("SELECT tablename::TEXT FROM pg_tables WHERE schemaname = 'public'");
        assert!(tables.len() > 25, "{tables:?}");
        let rows = |table: &String| {
            directory.query(&format!("SELECT CAST(item AS TEXT) FROM \"{table}\" AS item"))
        };
        tables.iter().flat_map(rows).collect::<String>()
    } else {
        directory
            .files()
            .iter()
            .map(|name| {
                let bytes = fs::read(directory.path().join(name)).unwrap();
                String::from_utf8_lossy(&bytes).into_owned()
            })
            .collect()
    };
    text.to_lowercase()
}

/// Asserts that each text is stored, or that none is. Bytes are hexadecimal in Postgres.
#[track_caller]
fn assert_stored(directory: &ServerDirectory, texts: &[&str], expected: bool) {
    let stored = read_stored(directory);
    for text in texts {
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        let is_stored = stored.contains(*text) || stored.contains(&hex);
        assert_eq!(is_stored, expected, "{text}");
    }
}

#[test]
fn an_erased_member_leaves_no_text_name_or_address() {
    for with_posts in [false, true] {
        let server = Server::new(&["--no-worker"]);
        server.remove_post_limits();
        let directory = &server.directory;
        let counts = || {
            let forums = server.get(&server.token("alice"), "/forums").json();
            ["threadCount", "postCount"].map(|key| forums["items"][1][key].clone())
        };
        let before = counts();
        for command in [
            "member add Zelda.Quux --groups members,staff",
            "member ban zelda.quux",
            "member unban ZELDA.quux",
            "forum moderator 2 zelda.quux",
            "webhook add --url https://receiver.example",
            "webhook add --url https://hookquux.example/ --owner zelda.quux",
        ] {
            server.run_ok(command);
        }
        // The end of long details is not stored.
        let long = "x".repeat(1_000);
        let add = "webhook add --owner zelda.quux --json --url https://hookquux.example";
        let removed = server.run_ok(&format!("{add}/{long}")).json();
        let removed_id = removed["id"].as_str().unwrap();
        server.run_ok(&format!("webhook update {removed_id} --url https://gonequux.example/"));
        server.run_ok(&format!("webhook remove {removed_id} --yes"));
        let issue = "token issue --password-stdin --owner zelda.quux --scopes all --label";
        let tokens = ["purgedquux", "labelquux"].map(|label| {
            let issued = server.run_ok_with_input(&format!("{issue} {label}"), server.password());
            issued.stdout.trim_end().to_owned()
        });
        server.run_ok(&format!("token revoke {}", &tokens[0][10..26]));
        server.run_ok("token purge --older-than 0");
        let zelda = &tokens[1];
        let bob = server.token("bob");

        let me = server.get(zelda, "/me").json();
        let id = me["owner"]["userId"].as_str().unwrap().to_owned();
        let new = json!({ "title": "titlequux", "body": "bodyquux", "subscribe": true });
        let thread = server.post(zelda, "/forums/2/threads", &new).json();
        let own = format!("/threads/{}/posts", thread["threadId"].as_str().unwrap());
        let answer = |token, path: &str, body: &str| {
            let posted = server.post(token, path, &json!({ "body": body }));
            format!("{path}/{}", posted.json()["postId"].as_str().unwrap())
        };
        let other = "/threads/1/posts";
        let edited = answer(zelda, other, "formerquux");
        let edit = r#"{"body":"replyquux","reason":"reasonquux"}"#;
        assert_eq!(server.send("PATCH", zelda, &edited, edit).status, 200);
        let deleted = answer(zelda, other, "deletedquux");
        assert_eq!(server.send("DELETE", zelda, &deleted, "").status, 204);
        let guest = answer(&bob, &own, "guestquux");
        answer(&bob, other, "otherquux");
        let send_message = |token, key: &str, to: &str, text: &str| {
            let message = json!({ "to": [to], "subject": text, "body": text }).to_string();
            let key = [("idempotency-key", key)];
            server.send_with(&key, "POST", token, "/messages", &message)
        };
        let rating = json!({ "points": 1, "comment": "ratedquux" });
        for created in [
            send_message(zelda, "k", "@zelda.quux", "selfquux"),
            send_message(zelda, "other", "@bob", "sentquux"),
            send_message(&bob, "k", "@zelda.quux", "keptquux"),
            server.post(zelda, "/members/@bob/reputation", &rating),
        ] {
            assert_eq!(created.status, 201, "{created:?}");
        }
        directory.execute(&format!(
            "INSERT INTO forum_api_audit_log (id, occurred_at, actor, origin, address, action, target, details, count)
            VALUES
                ('aud_x', 1, '{id}', 'panel', '192.0.2.77', 'token.revoked', 'x', '', 1),
                ('aud_y', 1, '{id}', 'panel', '192.0.2.77', 'post.restored', '', 'by ZELDA.quux; since 2026-01-01', 1)"
        ));
        // The member had another name when the endpoint was added.
        directory.execute(
            "UPDATE forum_api_audit_log SET details = replace(details, 'zelda.quux', 'former')
            WHERE action = 'endpoint.added' AND target IN (SELECT id FROM forum_api_endpoints)",
        );
        let alice = server.token("alice");
        let rate = |post| {
            let rating = json!({ "points": 1, "comment": "x", "postId": post });
            server.post(&alice, "/members/@bob/reputation", &rating).status
        };
        assert_eq!(rate(guest.rsplit('/').next()), 201);
        assert_stored(directory, &OWN, true);
        assert_stored(directory, &POSTS, true);

        let posts = if with_posts { " --posts" } else { "" };
        let erase = format!("member erase zelda.quux{posts}");
        server.run(&erase).assert_error("Pass --yes to confirm.");
        let erased = server.run_ok(&format!("{erase} --yes"));
        assert!(erased.stdout.contains(&format!("Erased the member {id}.")), "{erased:?}");
        if directory.is_in_postgres() {
            assert!(!erased.stdout.contains("VACUUM failed"), "{erased:?}");
            let vacuumed =
                "SELECT count(*)::TEXT FROM pg_stat_user_tables WHERE last_vacuum IS NOT NULL";
            assert_eq!(directory.query(vacuumed), ["17"]);
        }
        assert_stored(directory, &OWN, false);
        assert_stored(directory, &["guestquux", "titlequux", "replyquux"], !with_posts);
        assert_stored(directory, &["otherquux", "sentquux", "keptquux", "ratedquux"], true);
        if with_posts {
            assert_stored(directory, &POSTS, false);
            assert_eq!(counts(), before);
        }

        assert_eq!(rate(None), 201);
        assert_eq!(server.get(zelda, "/me").status, 401);
        for name in [&*id, "@zelda.quux"] {
            assert_eq!(server.get(&bob, &format!("/members/{name}")).status, 404);
        }
        let list = get(&server.api_url(&own));
        assert_eq!(list.status, if with_posts { 404 } else { 200 });
        if !with_posts {
            assert_eq!(list.json()["items"][0]["author"], Value::Null);
            let found = get(&server.api_url("/search?q=replyquux")).json();
            assert_eq!(found["items"][0]["author"], Value::Null);
        }
        let inbox = server.get(&bob, "/messages").json();
        assert_eq!(inbox["items"][0]["sender"], Value::Null);
        let repeated = send_message(&bob, "k", "@zelda.quux", "keptquux");
        assert_eq!(repeated.status_and_code(), (409, "CONFLICT".into()));
        let audit = server.run_ok("audit list --json").json();
        let entry = |entry: &Value| {
            ["action", "target", "details"].map(|key| entry[key].as_str().unwrap().to_owned())
        };
        let targets: Vec<_> = audit.as_array().unwrap().iter().map(entry).collect();
        let mut actions: Vec<_> = targets.iter().map(|[action, ..]| action.as_str()).collect();
        actions.sort_unstable();
        let marked_id = format!("#{id}");
        let deletion = with_posts.then_some("post.deleted");
        let mut expected: Vec<_> = ACTIONS.into_iter().chain(deletion).collect();
        expected.sort_unstable();
        assert_eq!(actions, expected);
        let [moderator, deleted_by, restored_by] = [
            format!("member {marked_id}"),
            format!("by {marked_id}"),
            format!("by {marked_id}; since 2026-01-01"),
        ];
        let mut expected_entries = vec![
            ["forum.moderator_added", "2", &moderator],
            ["member.added", &marked_id, "groups members,staff"],
            ["member.banned", &marked_id, ""],
            ["member.banned", &marked_id, ""],
            ["member.erased", &id, if with_posts { "with posts" } else { "" }],
            ["member.unbanned", &marked_id, ""],
            ["post.restored", "", &restored_by],
            ["setting.changed", "post.edits_per_hour", "value 1000000"],
            ["setting.changed", "post.interval_seconds", "value 0"],
            ["setting.changed", "post.per_hour", "value 1000000"],
        ];
        expected_entries.extend(with_posts.then_some(["post.deleted", "", &*deleted_by]));
        expected_entries.sort_unstable();
        let mut of_board = targets.clone();
        of_board.retain(|[action, ..]| {
            !action.starts_with("token.") && !action.starts_with("endpoint.")
        });
        of_board.sort_unstable();
        assert_eq!(of_board, expected_entries);
        let owner = format!("owner {marked_id}");
        let replaced = targets.iter().filter(|entry| entry[2] == owner);
        assert_eq!(replaced.count(), 6);
        let added = server.run_ok("member add zelda.quux --groups members --json").json();
        let next: i64 = added["userId"].as_str().unwrap().parse().unwrap();
        assert!(next > id.parse().unwrap(), "{next}");
        server.run("member erase admin --yes").assert_error("is the last administrator");
    }
}

/// A username can equal the id of another member.
#[test]
fn an_id_of_an_erased_member_is_not_a_username_in_the_audit_log() {
    let server = Server::new(&["--no-worker"]);
    let add = |name: &str| {
        let added = server.run_ok(&format!("member add {name} --groups members --json")).json();
        added["userId"].as_str().unwrap().to_owned()
    };
    let first = add("zelda");
    let second = add(&first);
    for name in ["zelda", &first] {
        server.run_ok(&format!("forum moderator 2 {name}"));
        server.run_ok(&format!("webhook add --url https://receiver.example --owner {name}"));
        server.run_ok(&format!("member erase {name} --posts --yes"));
    }
    let audit = server.run_ok("audit list --json").json();
    let entry = |entry: &Value| {
        ["action", "target", "details"].map(|key| entry[key].as_str().unwrap().to_owned())
    };
    let entries: Vec<_> = audit.as_array().unwrap().iter().map(entry).collect();
    for id in [&*first, &second] {
        let marked_id = format!("#{id}");
        for expected in [
            ["member.added", &*marked_id, "groups members"],
            ["member.banned", &marked_id, ""],
            ["member.erased", id, "with posts"],
            ["forum.moderator_added", "2", &format!("member {marked_id}")],
        ] {
            let found = entries.iter().filter(|entry| **entry == expected);
            assert_eq!(found.count(), 1, "{expected:?}: {entries:?}");
        }
        let owner = format!("owner {marked_id}");
        let added =
            |[action, _, details]: &&[String; 3]| action == "endpoint.added" && *details == owner;
        assert_eq!(entries.iter().filter(added).count(), 1, "{entries:?}");
    }
}

/// A label that reads like the details of an audit entry.
#[test]
fn an_erasure_keeps_what_the_audit_log_says_about_the_tokens_of_others() {
    let server = Server::new(&[]);
    let label = "a; owner bob; b";
    let issue =
        ["token", "issue", "--password-stdin", "--owner", "alice", "--scopes", "forums:read"];
    let labelled = [&issue[..], &["--label", label]].concat();
    let issued = server.directory.run(&labelled, server.password());
    assert_eq!(issued.status, 0, "{issued:?}");
    server.token("bob");
    let erased = server.run_ok("member erase bob bob --yes");
    assert!(erased.stdout.contains("Erased the member "), "{erased:?}");
    let audit = server.run_ok("audit list --json").json();
    let read = |entry: &Value| entry["details"].as_str().unwrap().to_owned();
    let details: Vec<_> = audit.as_array().unwrap().iter().map(read).collect();
    let kept = format!("owner alice; label {label:?}; does not expire; scopes forums:read");
    assert!(details.contains(&kept), "{details:?}");
    assert!(!details.iter().any(|one| one.starts_with("owner bob")), "{details:?}");
}

#[test]
fn what_a_receiver_answers_during_the_erasure_is_not_kept() {
    let server = Server::new(&[ALLOW_PRIVATE]);
    let step = Arc::new(Barrier::new(2));
    let response = Arc::clone(&step);
    let receiver = Receiver::with_statuses(move |_| {
        response.wait();
        response.wait();
        Some(500)
    });
    add_endpoint(&server, &receiver, "");
    reply(&server, &server.token("alice"), "x");
    step.wait();
    server.run_ok("member erase alice --yes");
    step.wait();
    let delivery = receiver.next().delivery();
    let directory = server.stop();
    let shown = directory.run(&["delivery", "show", &delivery, "--json"], "").json();
    assert_eq!(json!([shown["state"], shown["log"]]), json!(["queued", []]));
}

/// Rows that exist once an erasure with posts has come so far: the ban, the deletion of posts, the removal of posts, and
/// the removal of events.
const PROGRESS: [&str; 4] = [
    "SELECT 'x' FROM member WHERE username = 'zelda' AND banned",
    "SELECT 'x' FROM member JOIN post ON post.author_id = member.id
    WHERE username = 'zelda' AND state = 'deleted' LIMIT 1",
    "SELECT 'x' FROM member
    WHERE username = 'zelda' AND (SELECT count(*) FROM post WHERE author_id = member.id) < 100",
    "SELECT 'x' WHERE (SELECT count(*) FROM forum_api_events WHERE topic = 'post.created') < 100",
];

#[test]
fn an_erasure_that_was_killed_can_be_repeated() {
    let server = Server::new(&["--no-worker", "--token-budget", "1000000"]);
    server.remove_post_limits();
    server.run_ok("member add zelda --groups members");
    let [zelda, bob] = ["zelda", "bob"].map(|name| server.token(name));
    let forums = || server.get(&bob, "/forums").json();
    let before = forums();
    for number in 0..5 {
        let new = json!({ "title": format!("titlequux {number}"), "body": "bodyquux" });
        let thread = server.post(&zelda, "/forums/2/threads", &new).json();
        let path = format!("/threads/{}/posts", thread["threadId"].as_str().unwrap());
        assert_eq!(server.post(&bob, &path, &json!({ "body": "guestquux" })).status, 201);
    }
    for _ in 0..120 {
        let posted = server.post(&zelda, "/threads/1/posts", &json!({ "body": "replyquux" }));
        assert_eq!(posted.status, 201, "{posted:?}");
    }

    let directory = &server.directory;
    let arguments = directory.arguments(&["member", "erase", "zelda", "--posts", "--yes"]);
    for progress in PROGRESS {
        let mut child = start(directory.path(), &arguments, &[]);
        while directory.query(progress).is_empty() && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        drop(child.kill());
        child.wait().unwrap();
        // The post counters of forums and threads are those of the visible posts at each instant.
        let counted = "
            SELECT CAST(count(*) AS TEXT) FROM post JOIN thread ON thread.id = post.thread_id
            WHERE forum_id = 1 AND post.state = 'visible' AND thread.state = 'visible'";
        assert_eq!(forums()["items"][0]["postCount"].to_string(), directory.query(counted)[0]);
        let of_thread =
            "SELECT CAST(count(*) - 1 AS TEXT) FROM post WHERE thread_id = 1 AND state = 'visible'";
        let thread = server.get(&bob, "/threads/1").json();
        assert_eq!(thread["replyCount"].to_string(), directory.query(of_thread)[0]);
        // Banned until the account is gone.
        assert!([401, 403].contains(&server.get(&zelda, "/me").status));
    }
    let repeated = server.run("member erase zelda --posts --yes");
    // An erasure can have ended before it was killed.
    if repeated.status != 0 {
        repeated.assert_error("unknown member");
    } else {
        assert_stored(
            directory,
            &["zelda", "titlequux", "bodyquux", "guestquux", "replyquux"],
            false,
        );
    }
    assert_eq!(server.get(&bob, "/members/@zelda").status, 404);
    let after = forums();
    for key in ["threadCount", "postCount"] {
        for forum in 0..2 {
            assert_eq!(after["items"][forum][key], before["items"][forum][key], "{key}");
        }
    }
}

#[test]
fn a_failed_erasure_says_what_it_did_and_how_to_remove_the_rest() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    directory.execute(
        "CREATE TRIGGER refuse BEFORE DELETE ON member WHEN OLD.username = 'bob'
        BEGIN SELECT RAISE(ABORT, 'refused'); END",
    );
    let accounts = || {
        directory.query(
            "SELECT username || ' ' || banned FROM member
            WHERE username IN ('alice', 'bob', 'carol') ORDER BY username",
        )
    };
    for (names, done) in [("alice bob carol", ". Erased the member 3."), ("bob carol", "")] {
        let failed = directory.run_line(&format!("member erase {names} --posts --yes"), "");
        let text = format!(
            ". \"bob\" is banned, and a part of the data may have been removed. \
             Run `forum-server member erase bob carol --posts` to remove the rest{done}"
        );
        assert!(failed.error_message().ends_with(&text), "{failed:?}");
        assert_eq!(accounts(), ["bob 1", "carol 0"]);
    }
    directory.execute("DROP TRIGGER refuse");
    let repeated = directory.run_line("member erase bob carol --posts --yes", "");
    assert!(repeated.stdout.starts_with("Erased the members 4, 5. "), "{repeated:?}");
    assert_eq!(accounts(), [] as [&str; 0]);
}

#[test]
fn a_failed_vacuum_is_a_warning_in_text_and_json() {
    let new = ServerDirectory::in_sqlite().with_postgres(Database::new());
    let directory = Server::start(new, &["--no-worker"]).stop();
    // The expression divides by zero. Postgres computes it only when `VACUUM` collects statistics.
    directory.execute("CREATE STATISTICS failing ON (1 / (id - id)) FROM member");
    let warning = "VACUUM failed: ";
    let text = directory.run_line("member erase bob --yes", "").stdout;
    assert!(text.contains(warning), "{text}");
    let erased = directory.run_line("member erase carol --yes --json", "").json();
    assert!(erased["warning"].as_str().unwrap().starts_with(warning), "{erased}");
}

/// Another command bans the other administrator between the check before the confirmation and the ban.
#[test]
fn the_last_administrator_is_not_erased_after_another_one_was_banned() {
    let directory = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    let change = |arguments: &[&str], input| {
        let changed = directory.run(arguments, input);
        assert_eq!(changed.status, 0, "{changed:?}");
    };
    change(&["member", "groups", "alice", "administrators"], "");
    change(&["member", "password", "alice", "--password-stdin"], "a long password");
    let other = Connection::open(directory.path().join("forum.db")).unwrap();
    let ban = "BEGIN IMMEDIATE; UPDATE member SET banned = TRUE WHERE username = 'admin'";
    other.execute_batch(ban).unwrap();
    let arguments = directory.arguments(&["member", "erase", "alice", "--yes"]);
    let erasure = start(directory.path(), &arguments, &[]);
    // The command has read the administrators, and waits to write.
    thread::sleep(Duration::from_secs(2));
    other.execute_batch("COMMIT").unwrap();
    wait(erasure).assert_error("\"alice\" is the last administrator who can sign in");
    let banned = "SELECT CAST(banned AS TEXT) FROM member WHERE username = 'alice'";
    assert_eq!(directory.query(banned), ["0"]);
}
