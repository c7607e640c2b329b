//! Faults of the database under a running server: writes of SQLite return a 500, or a 503 if they did not run, without
//! a reason, reads succeed, and no acknowledged write is lost.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::panel::{FORM, cookie, hidden_field, page};

use crate::prelude::*;
use crate::proxy::Proxy;

const POSTS: &str = "/threads/1/posts";

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

/// A directory on a small disk. Dropping the value unmounts the disk.
struct SmallDisk(ServerDirectory);

impl SmallDisk {
    fn mount() -> Self {
        Self::mount_with("size=8m")
    }

    fn mount_with(options: &str) -> Self {
        let disk = Self(ServerDirectory::in_sqlite());
        assert!(
            succeeds("mount", &["-t", "tmpfs", "-o", options, "tmpfs", disk.path()]),
            "no disk can be mounted here"
        );
        disk
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Makes the disk read-only with `ro`, and writable with `rw`.
    fn remount(&self, mode: &str) {
        let options = format!("remount,size=8m,{mode}");
        assert!(succeeds("mount", &["-o", &options, self.path()]));
    }

    /// Fills the disk. Returns the file that takes the space.
    fn fill(&self) -> PathBuf {
        let path = self.0.path().join("filling");
        let mut file = File::create(&path).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        succeeds("umount", &["--lazy", self.path()]);
    }
}

/// Database files that cannot be written until this value is dropped.
struct Immutable(ServerDirectory);

impl Immutable {
    /// Does not change the file of shared memory: the kernel would kill a process that writes to it.
    fn change(&self, flag: &str) -> bool {
        let paths = ["forum.db", "forum.db-wal"].map(|name| self.0.path().join(name));
        let files = paths.each_ref().map(|file| file.to_str().unwrap());
        succeeds("chattr", &[flag, files[0], files[1]])
    }
}

impl Drop for Immutable {
    fn drop(&mut self) {
        self.change("-i");
    }
}

/// A server with SQLite and without limits of posts, and the posts that it acknowledged with 201.
struct FaultFixture {
    server: Server,
    token: String,
    acknowledged: BTreeSet<String>,
}

impl FaultFixture {
    fn new(directory: ServerDirectory) -> Self {
        let server = Server::start(directory, &["--token-budget", "1000000"]);
        server.remove_post_limits();
        let mut fixture =
            Self { token: server.token("alice"), server, acknowledged: BTreeSet::new() };
        assert_eq!(fixture.reply("acknowledged", "first").status, 201);
        fixture
    }

    fn reply(&mut self, body: &str, key: &str) -> Response {
        let body = json!({ "body": body }).to_string();
        let key = [("idempotency-key", key)];
        let answer = self.server.send_with(&key, "POST", &self.token, POSTS, &body);
        if answer.status == 201 {
            self.acknowledged.insert(answer.json()["postId"].as_str().unwrap().to_owned());
        }
        answer
    }

    /// Asserts that a write is not run, that its response does not name the cause, and that reads succeed.
    fn assert_reads_only(&mut self) {
        let refused = self.reply("refused", "refused");
        assert_eq!(refused.status_and_code(), (503, "internal_error".into()));
        assert_eq!(refused.json()["error"]["message"], "Internal error.");
        assert_eq!(self.server.get(&self.token, POSTS).status, 200);
        for url in [self.server.api_url("/forums"), self.server.url("/health")] {
            assert_eq!(get(&url).status, 200);
        }
    }

    /// Asserts that the refused write now succeeds, and that exactly the acknowledged posts exist.
    fn assert_recovers(mut self) {
        let again = self.reply("refused", "refused");
        assert_eq!(again.status_and("idempotency-replayed"), (201, None));
        let find =
            "SELECT CAST(id AS TEXT) FROM post WHERE body LIKE 'acknowledged%' OR body = 'refused'";
        let posts = BTreeSet::from_iter(self.server.directory.query(find));
        assert_eq!(posts, self.acknowledged);
        let (_, log) = self.server.stop_with_log();
        assert!(log.contains("ERROR") && !log.contains("panic"), "{log}");
    }
}

#[test]
fn files_that_became_immutable_are_read() {
    let mut fixture = FaultFixture::new(ServerDirectory::in_sqlite());
    let immutable = Immutable(fixture.server.directory.clone());
    assert!(immutable.change("+i"), "files cannot be made immutable here");
    fixture.assert_reads_only();
    drop(immutable);
    fixture.assert_recovers();
}

/// Asserts that a response is a 503 that names the time of a retry.
#[track_caller]
fn assert_not_run(response: &Response) {
    assert_eq!(response.status, 503, "{response:?}");
    assert_eq!(response.header_number("retry-after"), Some(1));
}

/// Calls a tool of the Model Context Protocol.
pub fn call_tool(server: &Server, token: &str, name: &str, arguments: Value) -> Response {
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": name, "arguments": arguments },
    });
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    send("POST", &server.url("/mcp"), &headers, &call.to_string())
}

/// Calls a tool that creates a reply.
fn call_reply(server: &Server, token: &str) -> Response {
    let reply = json!({ "threadId": "1", "body": "refused" });
    call_tool(server, token, "createPost", reply)
}

#[test]
fn a_database_that_another_process_locks_for_long_is_read() {
    let mut fixture = FaultFixture::new(ServerDirectory::in_sqlite());
    let server = &fixture.server;
    let session = cookie(&sign_in(server, "admin", server.password()));
    let form_page = page(server, &session, "/panel/tokens/new").body;
    let csrf = hidden_field(&form_page, "csrf");
    let nonce = hidden_field(&form_page, "once");
    let form = format!(
        "csrf={csrf}&once={nonce}&owner=bob&label=x&scopes=members%3Aread&expires_in_days=1&password={}",
        server.password()
    );
    let other = Connection::open(server.directory.path().join("forum.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    thread::scope(|scope| {
        let token = &fixture.token;
        let replies = (0..100).map(|_| {
            let body = json!({ "body": "refused" });
            scope.spawn(move || server.post(token, POSTS, &body))
        });
        let signed_in = scope.spawn(|| sign_in(server, "admin", server.password()));
        let called = scope.spawn(|| call_reply(server, token));
        let issued = scope.spawn(|| {
            let headers = [("cookie", &*session), FORM];
            send("POST", &server.url("/panel/tokens/new"), &headers, &form)
        });
        let command = scope.spawn(|| server.run("forum add Locked"));
        for reply in replies.collect::<Vec<_>>() {
            assert_not_run(&reply.join().unwrap());
        }
        assert_not_run(&signed_in.join().unwrap());
        assert_not_run(&issued.join().unwrap());
        let called = called.join().unwrap();
        assert_eq!(called.json()["result"]["isError"], true, "{called:?}");
        assert_eq!(called.header_number("retry-after"), Some(1));
        let reason = "the database is locked by another process";
        assert_eq!(command.join().unwrap().error_message(), reason);
    });
    fixture.assert_reads_only();
    other.execute_batch("ROLLBACK").unwrap();
    fixture.assert_recovers();
}

/// Returns the status of a write that is repeated until the server has a connection.
fn repeat(mut write: impl FnMut() -> Response) -> Response {
    loop {
        let response = write();
        if response.status != 503 {
            return response;
        }
        assert_not_run(&response);
    }
}

/// The connections stay open without a response.
#[test]
fn requests_that_get_no_answer_from_postgres_are_refused_without_effect() {
    let database = Database::new();
    let proxy = Proxy::start(&database.url(), u64::MAX);
    let arguments = ["--database", &proxy.url, "--no-worker"];
    let server = &Server::start(ServerDirectory::in_sqlite(), &arguments);
    let token = &server.token("alice");
    let key = [("idempotency-key", "cut")];
    let reply = || server.send_with(&key, "POST", token, POSTS, r#"{"body":"cut off"}"#);
    assert_eq!(server.get(token, POSTS).status, 200);
    for is_first in [true, false] {
        if is_first {
            proxy.cut();
        }
        thread::scope(|scope| {
            let requests = [
                scope.spawn(reply),
                scope.spawn(|| server.get(token, POSTS)),
                scope.spawn(|| get(&server.api_url("/forums"))),
                scope.spawn(|| sign_in(server, "admin", server.password())),
                scope.spawn(|| call_reply(server, token)),
            ];
            for request in requests {
                assert_not_run(&request.join().unwrap());
            }
        });
    }
    proxy.restore();
    let written = repeat(reply);
    assert_eq!((written.status, written.is_replayed()), (201, false));
    let posts = server.get(token, POSTS);
    let count = posts.body.matches(r#""body":"cut off""#).count();
    assert_eq!(count, 1, "{posts:?}");
}

#[test]
fn acknowledged_writes_survive_a_full_disk() {
    let disk = SmallDisk::mount();
    let mut fixture = FaultFixture::new(disk.0.clone());
    let filling = disk.fill();
    let long = |number| format!("acknowledged {number} {}", "long ".repeat(3_000));
    let is_full = |number: usize| fixture.reply(&long(number), &number.to_string()).status != 201;
    assert!((0..2_000).any(is_full), "the disk is never full");
    wait_for_status(&fixture.server.url("/ready"), 503);
    fixture.assert_reads_only();
    fs::remove_file(filling).unwrap();
    fixture.assert_recovers();
}

/// The disk of the database is full, but not that of the log of Postgres.
#[test]
fn a_full_disk_of_postgres_ends_readiness_until_space_is_free() {
    let database = Database::new();
    // The owner of the directory is the user of Postgres, which `tests/postgres` starts.
    let disk = SmallDisk::mount_with("size=48m,mode=0700,uid=65534,gid=65534");
    database.move_to_disk(disk.path());
    let directory = ServerDirectory::in_sqlite().with_postgres(database);
    let mut fixture = FaultFixture::new(directory);
    let ready = fixture.server.url("/ready");
    wait_for_status(&ready, 200);
    let filling = disk.fill();
    let long = |number| format!("acknowledged {number} {}", "long ".repeat(3_000));
    let is_full = |number: &usize| fixture.reply(&long(*number), &number.to_string()).status != 201;
    let refused = (0..2_000).find(is_full).expect("a full disk");
    wait_for_status(&ready, 503);
    assert_eq!(get(&fixture.server.url("/health")).status, 200);
    assert_eq!(fixture.server.get(&fixture.token, POSTS).status, 200);
    fs::remove_file(filling).unwrap();
    wait_for_status(&ready, 200);
    let again = fixture.reply(&long(refused), "again");
    assert_eq!(again.status, 201, "{again:?}");
    fixture.assert_recovers();
}

#[test]
fn a_restore_on_a_full_disk_leaves_the_database() {
    let disk = SmallDisk::mount();
    let server = Server::start(disk.0.clone(), &["--empty"]);
    server.run_ok("forum add Kept");
    let elsewhere = ServerDirectory::in_sqlite();
    let file = elsewhere.path().join("copy.db");
    let backup = file.to_str().unwrap();
    server.run_ok(&format!("backup {backup}"));
    server.run_ok("forum add Later");
    let directory = server.stop();
    let forums = || directory.query("SELECT title FROM forum ORDER BY id");
    let filling = disk.fill();
    let restore = ["restore", backup, "--yes"];
    let assert_refused = |reason: &str| {
        directory.run(&restore, "").assert_error(reason);
        let files = directory.files().concat();
        assert!(!files.contains("restor"), "{files}");
    };
    assert_refused("cannot lock the database");
    // The lock fits on the disk, but the copy does not.
    let file = File::options().write(true).open(&filling).unwrap();
    let length = file.metadata().unwrap().len();
    file.set_len(length - 128 * 1024).unwrap();
    drop(file);
    assert_refused("No space left on device");
    fs::remove_file(filling).unwrap();
    assert_eq!(forums(), ["Kept", "Later"]);
    let restored = directory.run(&restore, "");
    assert_eq!(restored.status, 0, "{restored:?}");
    assert_eq!(forums(), ["Kept"]);
}

#[test]
fn a_copy_to_a_full_disk_leaves_no_database() {
    let source = Server::start(ServerDirectory::in_sqlite(), &["--no-worker"]).stop();
    source.run(&["board", "offline"], "");
    let database = Database::new();
    let there = source.run(&["copy", "--to", &database.url()], "");
    assert_eq!(there.status, 0, "{there:?}");
    let disk = SmallDisk::mount();
    let filling = disk.fill();
    let file = File::options().write(true).open(&filling).unwrap();
    file.set_len(file.metadata().unwrap().len() - 128 * 1024).unwrap();
    drop(file);
    let target = format!("sqlite:{}/back.db", disk.path());
    let copy = ["copy", "--database", &database.url(), "--to", &target];
    source.run(&copy, "").assert_error("disk is full");
    assert_eq!(disk.0.files(), ["filling"]);
    fs::remove_file(filling).unwrap();
    let copied = source.run(&copy, "");
    assert_eq!(copied.status, 0, "{copied:?}");
}

#[test]
fn a_read_only_disk_is_refused_at_the_start() {
    let disk = SmallDisk::mount();
    let directory = Server::start(disk.0.clone(), &[]).stop();
    disk.remount("ro");
    let refused = directory.run(&["--listen", "127.0.0.1:0"], "");
    let message = refused.error_message();
    assert!(message.ends_with("is not writable"), "{refused:?}");
    disk.remount("rw");
    let server = Server::start(directory, &[]);
    assert_eq!(get(&server.api_url("/forums")).status, 200);
}

#[test]
fn a_corrupt_page_fails_only_the_requests_that_read_it() {
    let server = Server::start(ServerDirectory::in_sqlite(), &[]);
    let token = server.token("alice");
    let directory = server.stop();
    let number = |sql: &str| directory.query(sql)[0].parse::<usize>().unwrap();
    let root = "SELECT CAST(rootpage AS TEXT) FROM sqlite_schema WHERE name = 'message'";
    let size = number("SELECT CAST(page_size AS TEXT) FROM pragma_page_size");
    let at = (number(root) - 1) * size;
    let path = directory.path().join("forum.db");
    let write = |bytes: &[u8]| {
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(bytes, at as u64).unwrap();
    };
    let intact = fs::read(&path).unwrap();
    write(&vec![0xA5; size]);

    let server = Server::start(directory.clone(), &[]);
    let messages = "/messages?folder=sent";
    for _ in 0..3 {
        let failed = server.get(&token, messages);
        assert_eq!(failed.status_and_code(), (500, "internal_error".into()));
        assert_eq!(server.get(&token, POSTS).status, 200);
        assert_eq!(get(&server.api_url("/forums")).status, 200);
    }
    let reply = json!({ "body": "On another page." });
    assert_eq!(server.post(&token, POSTS, &reply).status, 201);
    let (_, log) = server.stop_with_log();
    assert!(log.contains("malformed") && !log.contains("panic"), "{log}");

    write(&intact[at..][..size]);
    let server = Server::start(directory, &[]);
    assert_eq!(server.get(&token, messages).status, 200);
    let posts = server.get(&token, POSTS);
    assert!(posts.body.contains("On another page."), "{posts:?}");
}
