//! The lines of the log: their fields, and the absence of tokens, cookies and content.

use std::net::IpAddr;
use std::panic::panic_any;

use crate::support::*;

/// Part of every text that is sent, and of the panic message of the board.
const MARK: &str = "Samovarium";

/// Texts in the requests of the table.
const TEXTS: [&str; 7] = ["Tea", "tea", "Green?", "Green.", "Black.", "At five?", "Which?"];

#[tokio::test]
async fn the_log_has_no_tokens_cookies_or_content() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let modes = [
        ("sound", FailureMode::None),
        ("panic", FailureMode::Error(|| panic_any(format!("no `{MARK}`")))),
        ("error", FailureMode::Error(|| BoardError::conflict(MARK))),
        ("leak", FailureMode::Leak),
    ];
    let forged = format!("forum_pat_{MARK}");
    for (name, mode) in modes {
        for row in ROWS {
            let path = marked(row.path);
            let body = marked(row.body);
            let with_cookie =
                Request::new(row.method, &path).header("cookie", &format!("session={MARK}"));
            let request = if body.is_empty() { with_cookie } else { with_cookie.json(&body) };
            for token in [&alice, &forged] {
                server.board.set_mode(mode.clone());
                let response = server.send(&request.clone().bearer(token)).await;
                let lines = log::of(&response);
                assert!(lines.contains("request completed"), "{name} {row:?}");
                server.board.set_mode(FailureMode::None);
            }
            let unclosed = format!("{{\"{MARK}\":\"{MARK}\"");
            let broken = request.clone().body(unclosed).bearer(&alice);
            server.send(&broken).await;
        }
    }
    server.send(&Request::new(MARK, "/forums")).await;
    let with_token = Request::get("/forums").header("x-request-id", &alice[..60]);
    server.send(&with_token).await;
    let text = log::text();
    for hidden in [MARK, &alice[27..60]] {
        let line = text.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden}");
    }
}

fn marked(text: &str) -> String {
    let replaced = |text: String, word: &&str| text.replace(word, MARK);
    TEXTS.iter().fold(text.to_owned(), replaced)
}

/// Returns the lines of a request from their level on, without the fields of their span. `ID` replaces the id of the
/// request.
fn events(response: &TestResponse) -> Vec<String> {
    log::of(response).lines().map(event).collect()
}

fn event(line: &str) -> String {
    let (_, line) = line.split_once("Z ").unwrap();
    let (span, message) = line.split_once("}: ").unwrap();
    let (level, fields) = span.trim_start().split_once(" request{request_id=\"").unwrap();
    let (id, _) = fields.split_once('"').unwrap();
    format!("{level} {}", message.replace(id, "ID"))
}

/// Failure of the board, path of a request, and its events.
type LinesOfRequest = (fn() -> FailureMode, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const LINES: &[LinesOfRequest] = &[
    (|| FailureMode::None, "/threads/staff-1", &[
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/threads/staff-1" route="/threads/{threadId}" cost=1 status=404 code="not_found" elapsed_ms=0"#,
    ]),
    (|| FailureMode::None, "/members/%40bob", &[
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET route="/members/{userId}" cost=1 status=200 elapsed_ms=0"#,
    ]),
    (|| FailureMode::None, "/nothing", &[
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET cost=1 status=404 code="no_such_route" elapsed_ms=0"#,
    ]),
    (|| FailureMode::None, "/me", &[
        r#"WARN forum_api::operation::services: unauthenticated request_id="ID" reason=Absent"#,
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/me" route="/me" cost=1 status=401 code="unauthenticated" elapsed_ms=0"#,
    ]),
    (|| FailureMode::Error(|| BoardError::forbidden("No.").with_reason("locked")), "/forums", &[
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/forums" route="/forums" cost=1 status=403 code="FORBIDDEN" reason="locked" elapsed_ms=0"#,
    ]),
    (|| FailureMode::Error(|| BoardError::internal("the disk is full")), "/forums", &[
        r#"ERROR forum_api::operation::services: internal error request_id="ID" error=the disk is full"#,
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/forums" route="/forums" cost=1 status=500 code="internal_error" elapsed_ms=0"#,
    ]),
    (|| FailureMode::Error(|| BoardError::internal(OVERLOADED)), "/forums", &[
        r#"WARN forum_api::operation::services: backend overloaded request_id="ID" error=the operation was not run"#,
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/forums" route="/forums" cost=1 status=503 code="internal_error" reason="not_run" elapsed_ms=0"#,
    ]),
    (|| FailureMode::LookUp("guest_access"), "/forums", &[
        r#"ERROR forum_api::operation::services: internal error request_id="ID" error=the look-up failed"#,
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/forums" route="/forums" cost=1 status=503 code="internal_error" reason="not_run" elapsed_ms=0"#,
    ]),
    (|| FailureMode::Leak, "/threads/staff-1", &[
        r#"WARN forum_api::operation::checks: the board returned a result from a hidden forum; result dropped command="getThread" forum=staff"#,
        r#"INFO forum_api::api::context: request completed request_id="ID" method=GET path="/api/v1/threads/staff-1" route="/threads/{threadId}" cost=1 status=404 code="not_found" elapsed_ms=0"#,
    ]),
];

#[tokio::test]
async fn the_lines_of_a_request_have_exactly_their_fields() {
    let server = Server::new();
    for (mode, path, expected) in LINES {
        server.board.set_mode(mode());
        let response = server.send(&Request::get(path)).await;
        assert_eq!(events(&response), *expected, "{path}");
    }
}

/// The span also has the fields of the line, for the lines of the host.
#[tokio::test]
async fn the_line_of_a_write_names_its_caller_its_duration_and_what_it_created() {
    let (server, alice) = Server::with_alice().await;
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let reply = Request::post("/threads/open-1/posts", r#"{"body":"Green."}"#);
    let named = reply.bearer(&alice).header("x-request-id", "client-1");
    let mut request = named.to_http();
    request.extensions_mut().insert(IpAddr::from([192, 0, 2, 7]));
    let command = async {
        checkpoint.reached().await;
        server.clock.advance(Duration::from_millis(1_500));
        checkpoint.release();
    };
    let (response, ()) = tokio::join!(server.call(request), command);
    let id = response.header("x-request-id").unwrap();
    let token = lookup(&alice);
    let route = r#"route="/threads/{threadId}/posts" cost=5 status=201 elapsed_ms=1500"#;
    let caller = format!(
        r#"client_request_id="client-1" client=192.0.2.7 method=POST owner=alice token="{token}""#
    );
    let span = format!(r#"INFO request{{request_id="{id}" {caller} {route}}}"#);
    let message = format!(
        r#"request completed request_id="{id}" token="{token}" method=POST path="/api/v1/threads/open-1/posts" {route}"#
    );
    let created = r#"created="postId=open-1-46 threadId=open-1""#;
    let expected = format!("{span}: forum_api::api::context: {message} {created}");
    let lines = log::of(&response);
    let (_, line) = lines.split_once("Z  ").unwrap();
    assert_eq!(line, expected);
}

#[tokio::test]
async fn the_line_of_a_disconnected_client_has_exactly_its_fields() {
    let (server, alice) = Server::with_alice().await;
    let checkpoint = Checkpoint::new();
    server.board.set_mode(FailureMode::Wait(checkpoint.clone()));
    let request = Request::get("/threads/open-1").bearer(&alice);
    tokio::select! {
        response = server.send(&request) => panic!("{response:?}"),
        () = checkpoint.reached() => {}
    }
    let text = log::text();
    let line = text.lines().rfind(|line| line.contains("client disconnected")).unwrap();
    let token = lookup(&alice);
    let expected = format!(
        r#"INFO forum_api::api::context: client disconnected request_id="ID" token="{token}" method=GET path="/api/v1/threads/open-1" route="/threads/{{threadId}}" cost=1"#
    );
    assert_eq!(event(line), expected);
}

#[tokio::test]
async fn an_unknown_client_address_is_one_warning() {
    const WARNING: &str = " WARN forum_api::api::pipeline: client IP unknown; all such guests share one budget (see ForumApiBuilder::peer_ip)";
    let count = || log::text().lines().filter(|line| line.ends_with(WARNING)).count();
    let server = Server::new();
    let before = count();
    for _ in 0..2 {
        server.expect(Request::get("/forums"), (200, None)).await;
    }
    assert_eq!(count() - before, 1);
}
