//! All 21 rows over a socket, on both surfaces: who is let in, what it costs, and what answers.

use forum_api::Environment;
use forum_api::runtime::TokioRuntime;
use std::sync::Arc;

use forum_api::host::Board;
use forum_api::scope::Surface;
use forum_api::store::Stores;

use crate::support::rows::{FULL_SCOPES, rows};
use crate::support::server::settings;
use crate::support::{Ask, EVERY_SCOPE, FullBoard, ROWS, Row, Server, number, outcome};

const SURFACES: [Surface; 2] = [Surface::Full, Surface::Compact];

/// A board that has written nothing yet.
struct Unwritten;

impl Board for Unwritten {}

#[tokio::test]
async fn whoever_has_no_valid_token_gets_401_where_one_is_needed_or_sent() {
    for surface in SURFACES {
        let server = Server::on(surface).listening().await;
        for row in rows(surface) {
            let guest = server.send(&Ask::of(row)).await;
            let expected = if row.needs_token {
                (401, Some("unauthenticated"))
            } else {
                (row.success, None)
            };
            assert_eq!(outcome(&guest), expected, "{row:?}");
            let bad = server
                .send(&Ask::of(row).bearer("forum_pat_nonsense"))
                .await;
            assert_eq!(outcome(&bad), (401, Some("unauthenticated")), "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_token_needs_the_scope_of_the_row_even_where_a_guest_needs_none() {
    for surface in SURFACES {
        let server = Server::on(surface).listening().await;
        let empty = server.token_with("alice", &[]).await;
        let retired = server.token_with("alice", &["retired:read"]).await;
        for row in rows(surface) {
            let others: Vec<_> = EVERY_SCOPE
                .into_iter()
                .filter(|scope| *scope != row.scope)
                .collect();
            let others = server.token_with("alice", &others).await;
            for token in [&others, &empty, &retired] {
                let answer = server.send(&Ask::of(row).bearer(token)).await;
                assert_eq!(outcome(&answer), (403, Some("missing_scope")), "{row:?}");
            }
            let alone = server.token_with("alice", &[row.scope]).await;
            let answer = server.send(&Ask::of(row).bearer(&alone)).await;
            assert_eq!(answer.status, row.success, "{row:?}");
        }
    }
}

#[tokio::test]
async fn an_owner_who_can_no_longer_act_opens_nothing() {
    for surface in SURFACES {
        let server = Server::on(surface).listening().await;
        let banned = server.token("banned").await;
        for row in rows(surface) {
            let answer = server.send(&Ask::of(row).bearer(&banned)).await;
            assert_eq!(
                outcome(&answer),
                (403, Some("owner_unavailable")),
                "{row:?}"
            );
        }
        assert!(server.board.calls().is_empty());
    }
}

#[tokio::test]
async fn an_offline_board_is_there_for_those_who_may_see_it() {
    for surface in SURFACES {
        let server = Server::on(surface).listening().await;
        server.board.go_offline(true);
        let (alice, admin) = (server.token("alice").await, server.token("admin").await);
        for row in rows(surface) {
            let refused = (503, Some("board_offline"));
            if !row.needs_token {
                assert_eq!(
                    outcome(&server.send(&Ask::of(row)).await),
                    refused,
                    "{row:?}"
                );
            }
            let member = server.send(&Ask::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&member), refused, "{row:?}");
            let path = row.path.replace("alice", "admin");
            let ask = Ask::of(&Row {
                path: path.leak(),
                ..*row
            });
            let answer = server.send(&ask.bearer(&admin)).await;
            assert_eq!(answer.status, row.success, "{row:?}");
        }
    }
}

#[tokio::test]
async fn each_row_costs_exactly_its_units_and_a_refusal_costs_none() {
    for surface in SURFACES {
        for row in rows(surface) {
            let mut settings = settings();
            settings.token_window.units = 2 * row.cost - 1;
            settings.guest_window.units = 2 * row.cost - 1;
            let server = Server::within(Environment::new(TokioRuntime).surface(surface), settings)
                .listening()
                .await;
            let alice = server.token("alice").await;
            let callers = [Some(&alice), None];
            let callers = &callers[..if row.needs_token { 1 } else { 2 }];
            for caller in callers {
                let paid = server.send(&Ask::of(row).by(*caller)).await;
                let left = i64::from(row.cost) - 1;
                assert_eq!(paid.status, row.success, "{row:?}");
                assert_eq!(number(&paid, "x-ratelimit-remaining"), left, "{row:?}");
                for _ in 0..2 {
                    let refused = server.send(&Ask::of(row).by(*caller)).await;
                    assert_eq!(outcome(&refused), (429, Some("rate_limited")), "{row:?}");
                    assert_eq!(number(&refused, "x-ratelimit-remaining"), left, "{row:?}");
                    assert_eq!(number(&refused, "retry-after"), 300, "{row:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_row_that_the_host_has_not_written_answers_501_and_refuses_as_ever() {
    for surface in SURFACES {
        let environment = Environment::new(TokioRuntime).surface(surface);
        let authority = FullBoard::new();
        let server = Server::over_in(
            environment,
            settings(),
            Stores::in_memory(),
            &authority,
            Arc::new(Unwritten),
        )
        .listening()
        .await;
        let alice = server.token("alice").await;
        for row in rows(surface) {
            let answer = server.send(&Ask::of(row).bearer(&alice)).await;
            assert_eq!(outcome(&answer), (501, Some("not_implemented")), "{row:?}");
            let guest = server.send(&Ask::of(row)).await;
            let expected = if row.needs_token { 401 } else { 501 };
            assert_eq!(guest.status, expected, "{row:?}");
        }
        let hidden = server
            .send(&Ask::get("/forums/staff/threads").bearer(&alice))
            .await;
        assert_eq!(outcome(&hidden), (404, Some("not_found")));
    }
}

#[tokio::test]
async fn the_smaller_surface_routes_seven_rows_and_knows_nothing_of_the_others() {
    let server = Server::on(Surface::Compact).listening().await;
    let alice = server.token("alice").await;
    let mut routed = Vec::new();
    for row in &ROWS {
        let answer = server.send(&Ask::of(row).bearer(&alice)).await;
        match answer.code() {
            Some(code) => assert_eq!((answer.status, code), (404, "no_such_route"), "{row:?}"),
            None => routed.push((row.method, row.template)),
        }
    }
    let expected = [
        ("GET", "/me"),
        ("GET", "/forums"),
        ("GET", "/forums/{forumId}/threads"),
        ("GET", "/threads/{threadId}"),
        ("GET", "/threads/{threadId}/posts"),
        ("POST", "/threads/{threadId}/posts"),
        ("GET", "/search"),
    ];
    assert_eq!(routed, expected);
}

#[test]
fn the_table_is_the_specifications() {
    assert_eq!(ROWS.iter().filter(|row| !row.needs_token).count(), 7);
    for scope in FULL_SCOPES {
        assert!(
            ROWS.iter().any(|row| row.scope == scope),
            "{scope} is required by an endpoint"
        );
    }
}

#[test]
fn the_readme_shows_the_same_table() {
    let readme = include_str!("../../README.md");
    let shown: Vec<_> = readme
        .lines()
        .skip_while(|line| !line.starts_with("| method | path"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let token = |row: &Row| {
        if row.needs_token {
            "required"
        } else {
            "optional"
        }
    };
    let line = |row: &Row| {
        format!(
            "| {} | {} | {} | {} | {} |",
            row.method,
            row.template,
            row.scope,
            row.cost,
            token(row)
        )
    };
    assert_eq!(shown, ROWS.iter().map(line).collect::<Vec<_>>());
}
