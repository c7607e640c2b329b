//! Each row of the endpoint table on both surfaces: authorization, cost and routing.

use crate::openapi::{document, operation};
use crate::support::*;

const SURFACES: [Surface; 2] = [Surface::Full, Surface::Compact];

fn environment(surface: Surface) -> Environment {
    Environment::default().surface(surface)
}

/// A board that implements no endpoint.
struct Unimplemented;

#[async_trait]
impl Board for Unimplemented {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Err(BoardError::NotImplemented)
    }
}

#[tokio::test]
async fn a_token_needs_the_scope_of_the_row_even_where_a_guest_needs_none() {
    for surface in SURFACES {
        let server = Server::on(surface);
        let empty = server.token_with("alice", &[]).await;
        let retired = server.token_with("alice", &["retired:read", "admin:read"]).await;
        for row in rows(surface) {
            let scopes = every_scope().filter(|scope| *scope != row.scope);
            let others = server.token_with("alice", &scopes.collect::<Vec<_>>()).await;
            for token in [&others, &empty, &retired] {
                server.expect(Request::of(row).bearer(token), MISSING_SCOPE).await;
            }
            let alone = server.token_with("alice", &[row.scope]).await;
            server.expect(Request::of(row).bearer(&alone), (row.success, None)).await;
        }
    }
}

#[tokio::test]
async fn an_offline_board_serves_only_members_with_access_to_it() {
    for surface in SURFACES {
        let server = Server::on(surface);
        server.board.set_offline(true);
        let alice = server.token("alice").await;
        let admin = server.token("admin").await;
        for row in rows(surface) {
            if !row.needs_token {
                server.expect(Request::of(row), BOARD_OFFLINE).await;
            }
            let request = Request::of(row).bearer(&alice);
            server.expect(request, BOARD_OFFLINE).await;
            let own = Request::at(row, &row.path.replace("alice", "admin"));
            server.expect(own.bearer(&admin), (row.success, None)).await;
        }
    }
}

#[tokio::test]
async fn each_row_costs_exactly_its_units_and_a_rejected_request_costs_none() {
    for surface in SURFACES {
        for row in rows(surface) {
            let mut settings = settings();
            settings.token_budget.units = 2 * row.cost - 1;
            settings.guest_budget.units = 2 * row.cost - 1;
            let server = Server::within(environment(surface), settings);
            let alice = server.token("alice").await;
            let callers = [Some(&alice), None];
            for caller in &callers[..if row.needs_token { 1 } else { 2 }] {
                let left = i64::from(row.cost) - 1;
                let first = server.send(&Request::of(row).maybe_bearer(*caller)).await;
                assert_eq!(first.status, row.success, "{row:?}");
                assert_eq!(number(&first, "x-ratelimit-remaining"), left, "{row:?}");
                for _ in 0..2 {
                    let rejected = server.send(&Request::of(row).maybe_bearer(*caller)).await;
                    assert_eq!(outcome(&rejected), RATE_LIMITED, "{row:?}");
                    assert_eq!(number(&rejected, "x-ratelimit-remaining"), left, "{row:?}");
                    assert_eq!(number(&rejected, "retry-after"), 300, "{row:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_row_that_the_host_does_not_implement_is_a_501_after_authorization() {
    for surface in SURFACES {
        let authority = FullBoard::new();
        let stores = Stores::in_memory();
        let board = Arc::new(Unimplemented);
        let server = Server::over(environment(surface), settings(), stores, &authority, board);
        let alice = server.token("alice").await;
        let not_implemented = (501, Some("not_implemented"));
        for row in rows(surface) {
            let request = Request::of(row).bearer(&alice);
            server.expect(request, not_implemented).await;
            let guest = server.outcome(Request::of(row)).await;
            let expected = if row.needs_token { UNAUTHENTICATED } else { not_implemented };
            assert_eq!(guest, expected, "{row:?}");
        }
        let hidden = Request::get("/forums/staff/threads").bearer(&alice);
        server.expect(hidden, PATH_NOT_FOUND).await;
    }
}

#[tokio::test]
async fn the_compact_surface_routes_its_own_rows_only() {
    let server = Server::on(Surface::Compact);
    let alice = server.token("alice").await;
    for row in ROWS {
        let outcome = server.outcome_for(&alice, Request::of(row)).await;
        let expected = if row.compact { (row.success, None) } else { NO_SUCH_ROUTE };
        assert_eq!(outcome, expected, "{row:?}");
    }
}

#[tokio::test]
async fn a_path_answers_the_methods_of_its_rows_only() {
    let (server, alice) = Server::with_alice().await;
    for row in ROWS {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"] {
            let is_row = |other: &Row| (other.method, other.template) == (method, row.template);
            if !ROWS.iter().any(is_row) {
                let request = Request::new(method, row.path).bearer(&alice);
                server.expect(request, NO_SUCH_ROUTE).await;
            }
        }
        let overridden = Request::get("/me")
            .header("x-http-method-override", row.method)
            .header("x-original-url", row.path);
        server.expect(overridden.bearer(&alice), (200, None)).await;
        assert_eq!(server.board.last_call(), "get_me ()");
    }
}

#[test]
fn every_scope_is_required_by_a_row() {
    for scope in FULL_SCOPES {
        assert!(ROWS.iter().any(|row| row.scope == scope), "{scope}");
    }
}

#[test]
fn the_protocol_lists_the_same_endpoints() {
    let protocol = include_str!("../../docs/protocol.md").lines();
    let table = protocol.skip_while(|line| !line.starts_with("| method | path"));
    let lines = table.skip(2).take_while(|line| line.starts_with('|'));
    let listed = lines.map(|line| {
        let cells: Vec<_> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        // The last column describes the response after the status.
        let status = cells[7].split(' ').next().unwrap();
        [&cells[1..=6], &[status]].concat().join(" ")
    });
    let document = document(Surface::Full);
    let expected = ROWS.iter().map(|row| {
        let id = operation(&document, row)["operationId"].as_str().unwrap();
        let token = if row.needs_token { "required" } else { "optional" };
        let Row { method, template, scope, cost, success, .. } = row;
        format!("{method} {template} {id} {scope} {cost} {token} {success}")
    });
    for (listed, expected) in listed.clone().zip(expected.clone()) {
        assert_eq!(listed, expected);
    }
    assert_eq!(listed.count(), expected.count());
    let [full, compact] = SURFACES.map(|surface| rows(surface).count());
    let protocol = include_str!("../../docs/protocol.md");
    let line = format!("| endpoints | {full} | {compact} |");
    assert!(protocol.contains(&line), "section 1.3 counts {full} and {compact} endpoints");
}
