//! Boards that load a token and its owner's access with one call.

use forum_api::test_util::StoreInterceptor;

use crate::support::*;

/// Number of calls before the command: of `TokenStore::find` by the board or the library, of `RateLimitStore::charge`, and
/// number of look-ups of access.
type Visits = [u32; 3];

async fn visits(server: &Server, stores: &StoreInterceptor, request: Request) -> (Outcome, Visits) {
    let before = server.board.access_lookups();
    stores.take_counts();
    let outcome = server.outcome(request).await;
    let counts = stores.take_counts();
    let count = |method| counts.get(method).copied().unwrap_or_default();
    let lookups = server.board.access_lookups() - before;
    let visits = [count("tokens.find"), count("rate_limits.charge"), lookups as u32];
    (outcome, visits)
}

#[tokio::test]
async fn a_request_with_a_token_makes_one_call_before_the_command() {
    let (server, stores) = Server::with_token_loading();
    let alice = server.token("alice").await;
    let read = Request::get("/threads/open-1/posts");
    let write = Request::post("/threads/open-1/posts", r#"{"body":"Green."}"#);
    for (request, status) in [(read, 200), (write, 201)] {
        let (outcome, visits) = visits(&server, &stores, request.bearer(&alice)).await;
        assert_eq!((outcome, visits), ((status, None), [1, 1, 0]));
    }
    assert_eq!(server.board.calls().len(), 2);
    let guest = visits(&server, &stores, Request::get("/forums")).await;
    assert_eq!(guest, ((200, None), [0, 1, 0]));
}

#[tokio::test]
async fn a_rate_limited_request_makes_one_call() {
    let (server, stores) = Server::with_token_loading();
    let alice = server.token("alice").await;
    server.exhaust(&alice, settings().token_budget).await;
    let request = Request::get("/forums").bearer(&alice);
    let refused = visits(&server, &stores, request).await;
    assert_eq!(refused, (RATE_LIMITED, [1, 1, 0]));
    assert!(server.board.calls().is_empty());
}

#[tokio::test]
async fn an_invalid_token_is_refused_as_by_other_boards() {
    let (server, stores) = Server::with_token_loading();
    let good = server.token("alice").await;
    let [revoked, expired, unknown, wrong] = server.invalid_tokens().await;
    let expected = comparable_parts(&server.send(&Request::get("/me")).await);
    for (token, calls) in [
        (&*revoked, 1),
        (&*expired, 1),
        // The board, then the library.
        (&*unknown, 2),
        (&*wrong, 1),
        (&good[..75], 0),
    ] {
        let request = Request::get("/me").bearer(token);
        let refused = visits(&server, &stores, request.clone()).await;
        // The client's address is charged.
        assert_eq!(refused, (UNAUTHENTICATED, [calls, 1, 0]), "{token}");
        let response = server.send(&request).await;
        assert_eq!(comparable_parts(&response), expected, "{token}");
    }
    assert_eq!(server.outcome_for(&good, Request::get("/me")).await.0, 200);
}

#[tokio::test]
async fn an_owner_without_access_is_refused_from_the_loaded_data() {
    let (server, stores) = Server::with_token_loading();
    let alice = server.token("alice").await;
    server.board.ban("alice");
    let request = Request::get("/forums").bearer(&alice);
    let refused = visits(&server, &stores, request).await;
    assert_eq!(refused, (OWNER_UNAVAILABLE, [1, 1, 0]));
}

#[tokio::test]
async fn a_failing_query_is_a_503_without_a_charge() {
    let (server, stores) = Server::with_token_loading();
    let alice = server.token("alice").await;
    stores.on_call(|method, _| match method {
        "tokens.find" => Intervention::Fail,
        _ => Intervention::Proceed,
    });
    let request = Request::get("/forums").bearer(&alice);
    let failed = visits(&server, &stores, request).await;
    assert_eq!(failed, (NOT_RUN, [1, 0, 0]));
}
