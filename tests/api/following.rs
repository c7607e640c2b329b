//! Following what is hidden, or is hidden by now (contract, section 7).

use crate::support::{Ask, Server, bare, outcome};

/// Following answers `NOT_FOUND` for both, in the board's own words.
#[tokio::test]
async fn what_a_body_names_is_hidden_as_if_it_were_absent() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for target in ["thread", "forum"] {
        let mut answers = Vec::new();
        for forum in ["staff", "absent", "no id"] {
            let id = if target == "thread" {
                format!("{forum}-1")
            } else {
                forum.into()
            };
            let body = format!(r#"{{"target":"{target}","targetId":"{id}"}}"#);
            answers.push(bare(
                &server
                    .send(&Ask::post("/subscriptions", &body).bearer(&alice))
                    .await,
            ));
        }
        assert!(answers[0].2.contains("NOT_FOUND"));
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
    }
}

#[tokio::test]
async fn unfollowing_stays_possible_when_the_target_is_hidden() {
    let server = Server::new();
    let alice = server.token("alice").await;
    server.board.shows("alice", &["open"]);
    for (thread, expected) in [
        ("members-1", (204, None)),
        ("staff-1", (404, Some("NOT_FOUND"))),
        ("absent-1", (404, Some("NOT_FOUND"))),
    ] {
        let ask = Ask::new("DELETE", &format!("/subscriptions/thread/{thread}"));
        assert_eq!(outcome(&server.send(&ask.bearer(&alice)).await), expected);
    }
}
