//! What no line of the log holds, whatever happens (`docs/protocol.md`, section 18).

use std::panic::panic_any;

use forum_api::host::BoardError;

use crate::support::{Ask, Mood, ROWS, Server, log};

/// Stands in every text that is sent here, and in what a panicking board quotes.
const MARK: &str = "Samovarium";

/// What the good requests of the table say.
const TEXTS: [&str; 7] = [
    "Tea", "tea", "Green?", "Green.", "Black.", "At five?", "Which?",
];

#[tokio::test]
async fn neither_tokens_nor_cookies_nor_what_was_written() {
    let server = Server::new().listening().await;
    let alice = server.token("alice").await;
    let ways = [
        ("answered", Mood::Well),
        (
            "quotes",
            Mood::Refuses(|| panic_any(format!("no `{MARK}`"))),
        ),
        (
            "refuses",
            Mood::Refuses(|| BoardError::Conflict(MARK.into())),
        ),
        ("leaks", Mood::Leaks),
    ];
    let forged = format!("forum_pat_{MARK}");
    for (way, mood) in ways {
        for row in ROWS {
            let (path, body) = (marked(row.path), marked(row.body));
            let ask = Ask::new(row.method, &path).header("cookie", &format!("session={MARK}"));
            let ask = if body.is_empty() {
                ask
            } else {
                ask.json(&body)
            };
            for token in [&alice, &forged] {
                server.board.be(mood.clone());
                let answer = server.send(&ask.clone().bearer(token)).await;
                assert!(
                    log::of(&answer).contains("request completed"),
                    "{way} {row:?}"
                );
                server.board.be(Mood::Well);
            }
            let broken = ask
                .clone()
                .body(format!("{{\"{MARK}\":\"{MARK}\""))
                .bearer(&alice);
            server.send(&broken).await;
        }
    }
    let text = log::text();
    for hidden in [MARK, &alice[27..]] {
        let line = text.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden}");
    }
}

fn marked(text: &str) -> String {
    let replaced = |text: String, word: &&str| text.replace(word, MARK);
    TEXTS.iter().fold(text.to_owned(), replaced)
}
