//! Budgets in the Redis that `--redis` names.

use std::env;
use std::io::{Write, stderr};

use crate::client::get;
use crate::program::Server;

/// What a guest has left after asking for something.
fn left(server: &Server) -> u32 {
    let answer = get(&server.api("/forums"));
    let left = answer.header("x-ratelimit-remaining");
    left.unwrap().parse().unwrap()
}

#[test]
fn a_server_whose_redis_is_out_of_reach_meters_by_itself() {
    let server = Server::new(&["--empty", "--redis", "redis://:hush@127.0.0.1:1"]);
    assert_eq!([left(&server), left(&server)], [119, 118]);
    server.signal("TERM");
    let (_, status, log) = server.wait();
    assert!(status.success());
    assert_eq!(log.matches("Redis is out of reach").count(), 1, "{log}");
    assert!(!log.contains("hush"), "{log}");
}

#[test]
fn servers_with_one_redis_share_budgets() {
    let Ok(redis) = env::var("FORUM_API_REDIS") else {
        let left_out = "left out: servers with one Redis, as FORUM_API_REDIS names none";
        return writeln!(stderr(), "{left_out}").unwrap();
    };
    // What other tests spend is in other databases.
    let redis = format!("{}/1023", redis.trim_end_matches("/0"));
    let servers = [(), ()].map(|()| Server::new(&["--empty", "--redis", &redis]));
    let first = left(&servers[0]);
    assert_eq!(left(&servers[1]), first - 1);
    assert_eq!(left(&servers[0]), first - 2);
}
