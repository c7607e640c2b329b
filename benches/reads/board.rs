//! A large board, filled in this run or kept from an earlier one.

use std::env;
use std::time::Instant;

use serde_json::{Value, json};

use crate::client;
use crate::program::{Server, ServerDirectory};
use forum_test_support::postgres;

/// Environment variable that selects Postgres.
pub const BACKEND: &str = "FORUM_API_BACKEND";

/// Environment variable that names the directory of kept boards.
const KEPT: &str = "BOARDS";

/// Member added last: marks a complete board.
const COMPLETION_MARKER: &str = "last";

const PASSWORD: &str = "a password for a while";

/// The forums that receive posts, with the groups that read them.
type Forums = [(&'static str, &'static str); 3];

/// General is for staff, Members for members; Help and fifty more are public.
const FORUMS: Forums = [
    ("General", "staff"),
    ("Help", "guests"),
    ("Members", "members"),
];

const PUBLIC: Forums = [
    ("General", "guests"),
    ("Help", "guests"),
    ("Members", "guests"),
];

/// Number of forums of [`Board::of_many_forums`]. The member mary sees one of four.
const MANY_FORUMS: usize = 200;

/// Number of messages to sam, and of threads that sam subscribes to; they do not grow with the posts.
const FIXED_COUNT: usize = 50;

/// A board and its server.
pub struct Board {
    pub server: Server,
    /// Database of a kept board; `None` for a temporary one.
    database: Option<String>,
}

impl Board {
    /// Opens or fills a board with this number of posts.
    pub fn of(threads: u64, posts: u64) -> Self {
        let database = kept(&format!("board_{posts}_{threads}"));
        let home = match database {
            Some(_) => ServerDirectory::in_sqlite(),
            None => ServerDirectory::new(),
        };
        let board = Self::serve(home, database);
        if !board.is_full() {
            board.fill(&FORUMS, threads, posts);
        }
        board
    }

    /// Fills a temporary board whose forums are all public.
    pub fn public(threads: u64, posts: u64) -> Self {
        let board = Self::serve(ServerDirectory::new(), None);
        board.fill(&PUBLIC, threads, posts);
        board
    }

    /// Fills a temporary board with threads in 200 forums in turn. The member mary sees 50 of them, with an eighth of the
    /// posts: half of all posts are in a thread of another forum.
    pub fn of_many_forums(threads: u64, posts: u64) -> Self {
        let board = Self::serve(ServerDirectory::new(), None);
        board.fill(&FORUMS, threads, posts);
        for number in 1..=MANY_FORUMS {
            let readers = if number % 4 == 0 { "members" } else { "staff" };
            board.run(&["forum", "add", &format!("Area {number}"), "--read", readers]);
        }
        let (disable, clear, index) = match env::var(BACKEND) {
            Ok(_) => (
                "ALTER TABLE thread DISABLE TRIGGER post_text_of_thread",
                "TRUNCATE post_text",
                "INSERT INTO post_text SELECT * FROM indexed_post",
            ),
            Err(_) => (
                "DROP TRIGGER post_text_of_thread",
                "INSERT INTO post_text (post_text) VALUES ('delete-all')",
                "INSERT INTO post_text (rowid, title, body, place, thread_id, forum_id)
                SELECT id, title, body, place, thread_id, forum_id FROM indexed_post",
            ),
        };
        let spread = format!(
            "UPDATE thread SET forum_id = (SELECT min(id) FROM forum WHERE title LIKE 'Area %') + id % {MANY_FORUMS}"
        );
        let count = "UPDATE forum SET post_count = coalesce(
            (SELECT sum(1 + reply_count) FROM thread WHERE forum_id = forum.id), 0)";
        for statement in [disable, &spread, count, clear, index] {
            board.server.directory.query(statement);
        }
        if env::var(BACKEND).is_ok() {
            board.server.directory.query("ANALYZE");
        }
        board
    }

    /// Stops the server. Returns a function that starts it again.
    pub fn stop(self) -> impl FnOnce() -> Self {
        let home = self.server.stop();
        || Self::serve(home, self.database)
    }

    fn serve(home: ServerDirectory, database: Option<String>) -> Self {
        let plenty = u32::MAX.to_string();
        let arguments = [
            "--empty",
            "--admin-password-stdin",
            "--guest-budget",
            &plenty,
            "--token-budget",
            &plenty,
        ];
        let named = named(database.as_deref());
        let arguments = [&arguments[..], &named].concat();
        Self {
            server: Server::start_with(home, &arguments, &[], PASSWORD),
            database,
        }
    }

    /// Issues a token. The member mary sees a few forums, sam sees all.
    pub fn token(&self, owner: &str) -> String {
        let issue = ["--owner", owner, "--scopes", "all", "--password-stdin"];
        let issued = self.run(&[&["token", "issue"], &issue[..]].concat());
        issued.trim_end().into()
    }

    /// Returns whether a complete board exists. Deletes an interrupted one.
    fn is_full(&self) -> bool {
        let last = self
            .server
            .api_url(&format!("/members/%40{COMPLETION_MARKER}"));
        client::get(&last).status == 200
    }

    fn fill(&self, forums: &Forums, threads: u64, posts: u64) {
        for (title, read) in forums {
            self.run(&["forum", "add", title, "--read", read]);
        }
        for number in 1..=50 {
            let title = format!("Place {number}");
            self.run(&["forum", "add", &title, "--read", "guests"]);
        }
        self.run(&["member", "add", "mary", "--groups", "members"]);
        self.run(&["member", "add", "sam", "--groups", "members,staff"]);
        let begun = Instant::now();
        let (count, of) = (threads.to_string(), posts.to_string());
        self.run(&["generate", "--yes", "--threads", &count, "--posts", &of]);
        println!(
            "generate --threads {count} --posts {of}: {:.0?}",
            begun.elapsed()
        );
        self.fill_some();
        self.run(&["member", "add", COMPLETION_MARKER, "--groups", "members"]);
    }

    /// Adds messages, a poll and subscriptions.
    fn fill_some(&self) {
        let (mary, sam) = (self.token("mary"), self.token("sam"));
        self.run(&["setting", "message.per_hour", "1000"]);
        self.run(&["setting", "message.inbox_quota", "1000"]);
        let threads = self.server.get(&sam, "/forums/1/threads?limit=50").json();
        let threads = threads["items"].as_array().unwrap().iter().cycle();
        for thread in threads.take(FIXED_COUNT) {
            self.post(
                &mary,
                "/messages",
                json!({ "to": ["@sam"], "subject": "Tea", "body": "Two cups of tea." }),
            );
            self.post(
                &sam,
                "/subscriptions",
                json!({ "target": "thread", "targetId": thread["threadId"] }),
            );
        }
        let poll = json!({ "question": "Tea?", "options": ["Green", "Black", "None"] });
        let thread = json!({ "title": "Tea", "body": "Which?", "poll": poll });
        self.post(&sam, "/forums/1/threads", thread);
    }

    fn post(&self, token: &str, path: &str, body: Value) {
        let answer = self.server.post(token, path, &body);
        assert!(answer.status < 300, "{path}: {answer:?}");
    }

    fn run(&self, arguments: &[&str]) -> String {
        let arguments = [arguments, &named(self.database.as_deref())].concat();
        let ended = self.server.directory.run(&arguments, PASSWORD);
        assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
        ended.stdout
    }
}

/// The option that names the database.
fn named(database: Option<&str>) -> Vec<&str> {
    database.map_or(vec![], |url| vec!["--database", url])
}

/// Database of a kept board with this name.
fn kept(name: &str) -> Option<String> {
    let directory = env::var(KEPT).ok()?;
    Some(match env::var(BACKEND) {
        Ok(_) => in_postgres(name),
        Err(_) => format!("sqlite:{directory}/{name}.db"),
    })
}

fn in_postgres(name: &str) -> String {
    let beside = postgres::Database::new();
    let find = format!("SELECT datname FROM pg_database WHERE datname = '{name}'");
    if beside.query(find).is_empty() {
        beside.query(format!("CREATE DATABASE {name}"));
    }
    let url = beside.url();
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}
