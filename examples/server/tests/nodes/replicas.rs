//! Reads on two replicas of Postgres, which are paused, killed and halted.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::block_in_place;

use crate::client::{self, Response};
use crate::cluster::Cluster;
use crate::connection::{ApiClient, ApiRequest};
use crate::postgres::query;
use crate::prerequisites::{BackendUrls, run_drill};
use crate::random::Random;
use crate::stores::Postgres;
use crate::wait::wait_until;

/// Reads of each kind that replicas serve.
const PATHS: [&str; 10] = [
    "/me",
    "/forums",
    "/forums/1/threads",
    "/threads/1",
    "/threads/1/posts",
    "/threads/16/poll",
    "/members/2",
    "/messages",
    "/subscriptions",
    "/search?q=tea",
];

/// Number of replies that are read on another node and then deleted.
const REPLIES: usize = 40;

/// Number of reads while replicas fail.
const READS: usize = 20;

/// Below the timeouts of a connection to Postgres and of a read on a replica.
const SHORT: Duration = Duration::from_secs(1);

/// A session of a node whose last statement read posts.
const SESSIONS: &str = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'forum-api' AND query LIKE '%FROM post%'";

#[test]
fn replicas_serve_only_reads_that_include_all_that_the_caller_has_seen() {
    run_drill(run_with_replicas);
}

async fn run_with_replicas(urls: BackendUrls) {
    let mut postgres = Postgres::new();
    for replica in ["first", "second"] {
        postgres.order(&format!("add_replica {replica}"));
    }
    let urls =
        BackendUrls { postgres: postgres.url.clone(), replicas: postgres.replicas.clone(), ..urls };
    let mut board = Board::new(&urls).await;

    for path in PATHS {
        board.wait_for_path("replica", path).await;
    }
    let kept = board.reply("A kept reply.").await;
    for replica in &urls.replicas {
        wait_until("a read on each replica", async || {
            board.read(&kept).await;
            !run(replica, SESSIONS).is_empty()
        })
        .await;
    }
    for synchronous_commit in ["on", "off"] {
        run(&urls.postgres, &format!("ALTER SYSTEM SET synchronous_commit = {synchronous_commit}"));
        run(&urls.postgres, "SELECT pg_reload_conf()");
        board.write_and_read().await;
        println!("{synchronous_commit}: {}", board.shares());
    }
    assert!(board.count("replica") > 0);
    board.read_while_paused(&urls.replicas).await;

    postgres.order("stop first");
    board.read_quickly(&kept).await;
    board.wait_for("replica", &kept).await;
    postgres.order("signal STOP second");
    board.read_quickly(&kept).await;
    board.wait_for("primary_unavailable", &kept).await;
    postgres.order("start_server first");
    board.wait_for("replica", &kept).await;
    postgres.order("stop first");
    postgres.order("signal CONT second");
    board.wait_for("replica", &kept).await;
    println!("{}", board.shares());
    block_in_place(|| board.cluster.stop());
}

/// A board with two nodes. The first one writes, the second one reads.
struct Board {
    cluster: Cluster,
    client: ApiClient,
    member: String,
    moderator: String,
}

impl Board {
    async fn new(urls: &BackendUrls) -> Self {
        let budgets = ["--token-budget", "1000000", "--guest-budget", "1000000"];
        let cluster = Cluster::new(urls, 2, 0, &budgets).await;
        Self {
            client: ApiClient::new(&cluster.nodes, Random::new(0)),
            member: cluster.token("alice"),
            moderator: cluster.token("admin"),
            cluster,
        }
    }

    async fn send_to(&mut self, node: usize, request: &ApiRequest) -> Response {
        let node = self.cluster.nodes.addresses()[node];
        self.client.send_to(node, request).await.unwrap()
    }

    /// Replies to a thread that guests can see. Returns the id of the post.
    async fn reply(&mut self, body: &str) -> String {
        let body = json!({ "body": body });
        let reply = ApiRequest::new("POST", &self.member, "/threads/1/posts", &body);
        let response = self.send_to(0, &reply).await;
        assert_eq!(response.status, 201, "{response:?}");
        response.json()["postId"].as_str().unwrap().into()
    }

    async fn delete(&mut self, post: &str) {
        let path = format!("/threads/1/posts/{post}");
        let delete = ApiRequest::new("DELETE", &self.moderator, &path, &json!(null));
        assert_eq!(self.send_to(0, &delete).await.status, 204);
    }

    /// Returns the statuses of lists that begin at the post, for its author and for a guest.
    async fn read(&mut self, post: &str) -> [u16; 2] {
        let path = format!("/threads/1/posts?from={post}&limit=1");
        let by_member = ApiRequest::get(&self.member, &path);
        let by_guest = ApiRequest { headers: Vec::new(), ..by_member.clone() };
        [self.send_to(1, &by_member).await.status, self.send_to(1, &by_guest).await.status]
    }

    /// Returns the number of posts that a guest finds.
    async fn search(&mut self, word: &str) -> usize {
        let search = ApiRequest {
            method: "GET",
            path: format!("/search?q={word}"),
            ..ApiRequest::default()
        };
        let hits = self.send_to(1, &search).await.json();
        hits["items"].as_array().unwrap().len()
    }

    /// Reads replies and their deletion on another node, each immediately after the write.
    async fn write_and_read(&mut self) {
        for number in 0..REPLIES {
            let post = self.reply(&format!("Reply {number}.")).await;
            assert_eq!(self.read(&post).await, [200, 200]);
            self.delete(&post).await;
            assert_eq!(self.read(&post).await, [400, 400]);
        }
    }

    /// Hides content from replicas whose replay is paused.
    async fn read_while_paused(&mut self, replicas: &[String]) {
        let post = self.reply("A reply about quinces.").await;
        self.wait_for("replica", &post).await;
        let new = ApiRequest::new(
            "POST",
            &self.member,
            "/forums/2/threads",
            &json!({ "title": "Quinces", "body": "Which ones?" }),
        );
        let created = self.send_to(0, &new).await.json();
        let thread = format!("/threads/{}", created["threadId"].as_str().unwrap());
        assert_eq!(self.search("quinces").await, 2);
        for replica in replicas {
            run(replica, "SELECT pg_wal_replay_pause()");
            wait_until("the pause", async || {
                run(replica, "SELECT pg_get_wal_replay_pause_state()") == ["paused"]
            })
            .await;
        }
        self.delete(&post).await;
        let first = self.first_post(&thread).await;
        let path = format!("{thread}/posts/{first}");
        let delete = ApiRequest::new("DELETE", &self.moderator, &path, &json!(null));
        assert_eq!(self.send_to(0, &delete).await.status, 204);
        let served = self.count("replica");
        let lagging_before = self.count("primary_lagging");
        let unavailable_before = self.count("primary_unavailable");
        let read_thread = ApiRequest::get(&self.member, &thread);
        for _ in 0..READS {
            assert_eq!(self.read(&post).await, [400, 400]);
            assert_eq!(self.search("quinces").await, 0);
            assert_eq!(self.send_to(1, &read_thread).await.status, 404);
        }
        assert_eq!(self.count("replica"), served);
        // A replica that does not respond in time, for example on a busy machine, is unavailable.
        let lagging = self.count("primary_lagging") - lagging_before;
        let unavailable = self.count("primary_unavailable") - unavailable_before;
        assert_eq!(lagging + unavailable, 4 * READS as u64);
        assert!(lagging > unavailable, "{lagging} {unavailable}");
        for replica in replicas {
            run(replica, "SELECT pg_wal_replay_resume()");
        }
        let kept = self.reply("A reply after the pause.").await;
        self.wait_for("replica", &kept).await;
    }

    /// Returns the id of the first post of the thread at this path.
    async fn first_post(&mut self, thread: &str) -> String {
        let list = ApiRequest::get(&self.member, &format!("{thread}/posts?limit=1"));
        let posts = self.send_to(0, &list).await.json();
        posts["items"][0]["postId"].as_str().unwrap().into()
    }

    /// Reads while a replica fails. No read waits for it.
    async fn read_quickly(&mut self, post: &str) {
        for _ in 0..READS {
            let begun = Instant::now();
            assert_eq!(self.read(post).await, [200, 200]);
            assert!(begun.elapsed() < SHORT, "{:?}", begun.elapsed());
        }
    }

    /// Reads the post until this target serves a read.
    async fn wait_for(&mut self, target: &str, post: &str) {
        let path = format!("/threads/1/posts?from={post}&limit=1");
        self.wait_for_path(target, &path).await;
    }

    async fn wait_for_path(&mut self, target: &str, path: &str) {
        let before = self.count(target);
        let read = ApiRequest::get(&self.member, path);
        wait_until(target, async || {
            let response = self.send_to(1, &read).await;
            assert_eq!(response.status, 200, "{path}: {response:?}");
            self.count(target) > before
        })
        .await;
    }

    /// Returns the number of reads that this target served on the second node.
    fn count(&self, target: &str) -> u64 {
        let sample = format!("forum_server_reads_total{{target=\"{target}\"}} ");
        let metrics = self.metrics();
        let count = metrics.lines().find_map(|line| line.strip_prefix(&sample));
        count.map_or(0, |count| count.parse().unwrap())
    }

    fn shares(&self) -> String {
        let targets = ["replica", "primary_lagging", "primary_unavailable"];
        let counts = targets.map(|target| format!("{target} {}", self.count(target)));
        counts.join(", ")
    }

    fn metrics(&self) -> String {
        let node = self.cluster.nodes.addresses()[1];
        block_in_place(|| client::get(&format!("http://{node}/metrics")).body)
    }
}

fn run(server: &str, sql: &str) -> Vec<String> {
    block_in_place(|| query(server.into(), sql.into()).unwrap())
}
