//! The log contains no tokens, cookies or content.

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
