//! TLS from the server to Postgres and Redis, and Unix-domain sockets of Postgres, as an operator configures them.

use forum_test_support::tls::{Certificate, TlsPostgres, TlsRedis};

use crate::prelude::*;

#[test]
fn a_server_uses_postgres_and_redis_over_verified_tls() {
    let mut postgres = TlsPostgres::stopped();
    let mut redis = TlsRedis::stopped();
    postgres.start(Some(Certificate::Valid));
    redis.start(Certificate::Valid);
    let url = |host: &str| {
        let root = postgres.certificates.root();
        postgres.url(host, &format!("sslmode=verify-full&{root}"))
    };
    let redis_url = |host: &str| format!("{}?{}", redis.url(host), redis.certificates.root());
    let database = url("localhost");
    let budgets = redis_url("localhost");
    let environment = [("FORUM_DATABASE", &*database), ("FORUM_REDIS", &*budgets)];
    let options = ["--empty", "--redis-timeout", "5"];
    let server = Server::start_with(ServerDirectory::in_sqlite(), &options, &environment, "");
    wait_for_status(&server.url("/ready"), 200);
    assert_eq!(get(&server.api_url("/forums")).status, 200);
    // The certificates end in the year 4096.
    wait_until(|| {
        let metrics = get(&server.url("/metrics")).body;
        let has_certificates = ["postgres", "redis"].iter().all(|server| {
            metrics.contains(&format!("forum_server_certificate_days{{server=\"{server}\"}} 75"))
        });
        has_certificates && metrics.lines().any(|line| line == "forum_server_redis_reachable 1")
    });
    let (directory, log) = server.stop_with_log();
    assert!(directory.files().is_empty(), "{:?}", directory.files());
    assert!(!log.contains("Redis unreachable"), "{log}");
    for message in ["database created", "server started"] {
        let line = log.lines().find(|line| line.contains(message)).unwrap();
        assert!(line.contains("postgres://forum:***@localhost"), "{line}");
    }

    let refused = directory.run(&["token", "list", "--database", &url("127.0.0.1")], "");
    assert_eq!(
        refused.error_message(),
        "error performing TLS handshake: the certificate is for another host name"
    );

    let budgets = redis_url("127.0.0.1");
    let environment = [("FORUM_DATABASE", &*database), ("FORUM_REDIS", &*budgets)];
    let server = Server::start_with(directory, &["--redis-timeout", "5"], &environment, "");
    assert_eq!(get(&server.api_url("/forums")).status, 200);
    let (_, log) = server.stop_with_log();
    assert!(log.contains("Redis unreachable"), "{log}");
}

#[test]
fn a_server_a_replica_commands_and_a_copy_use_a_unix_domain_socket() {
    let mut postgres = TlsPostgres::stopped();
    postgres.start(None);
    let url = postgres.socket_url(true, "sslmode=verify-full");
    let other_form = postgres.socket_url(false, "sslmode=require");
    let environment = [("FORUM_DATABASE", &*url), ("FORUM_DATABASE_REPLICA", &*other_form)];
    let options = ["--empty", "--no-worker"];
    let server = Server::start_with(ServerDirectory::in_sqlite(), &options, &environment, "");
    wait_for_status(&server.url("/ready"), 200);
    assert_eq!(get(&server.api_url("/forums")).status, 200);
    let directory = server.stop();
    for command in ["member list", "status", "copy --online --to sqlite:copied.db"] {
        let done = directory.run_line(&format!("{command} --database {other_form}"), "");
        assert_eq!(done.status, 0, "{done:?}");
        assert!(!done.stdout.contains("certified"), "{done:?}");
    }
    assert!(directory.path().join("copied.db").exists());
}
