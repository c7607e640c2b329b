//! The form and the API run the same command and return the same errors.

use std::time::Duration;

use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

const PAUSE: Duration = Duration::from_secs(15);

/// SQL that makes the board reject the reply, the topic, the body, and the status, code and message of the form. The API
/// returns the message for the codes of the board.
type Case = (&'static str, i64, String, u16, &'static str, &'static str);

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let body = || String::from("Green.");
    let no_topic = "Topic not found.";
    let long = "ü".repeat(10_001);
    vec![
        ("SELECT", 17, body(), 404, "not_found", no_topic),
        ("UPDATE section SET rank = 2", TOPIC, body(), 404, "not_found", no_topic),
        ("UPDATE member SET banned = true", TOPIC, body(), 403, "owner_unavailable", "Your account is banned."),
        ("UPDATE topic SET locked = true", TOPIC, body(), 403, "FORBIDDEN", "The topic is locked."),
        ("SELECT", TOPIC, " \n".into(), 422, "VALIDATION", "The body is empty."),
        ("SELECT", TOPIC, long, 422, "VALIDATION", "The body is longer than 10,000 characters."),
        ("UPDATE member SET wrote_at = club_now() + 60000", TOPIC, body(), 429, "RATE_LIMITED", "Please wait for 15 seconds."),
        ("DROP VIEW topic_view", TOPIC, body(), 500, "internal_error", "Internal error."),
    ]
}

#[test]
fn the_form_and_the_api_return_the_same_errors() {
    run_with_postgres(async {
        for (setup, topic, body, status, code, message) in cases() {
            let site = Site::new(PAUSE).await;
            site.change(setup, &[]).await;
            let form = site.submit_reply(topic, &body).await;
            let api = site.post_reply(topic, &body).await;
            let statuses = (form.status.as_u16(), api.status.as_u16());
            assert_eq!(statuses, (status, status), "{api:?}");
            assert!(form.text.contains(message), "{form:?}");
            let error = &api.json()["error"];
            assert_eq!(error["code"], code);
            if code == code.to_uppercase() {
                let field = if status == 422 { "body: " } else { "" };
                assert_eq!(error["message"], format!("{field}{message}"));
            }
            assert_eq!(site.count("entry").await, 1, "nothing was written");
            assert_eq!(site.pending_events().await, []);
        }
    });
}

#[test]
fn the_form_and_the_api_share_the_pause_between_replies() {
    run_with_postgres(async {
        let site = Site::new(PAUSE).await;
        let other = Site::new(PAUSE).await;
        assert_eq!(site.submit_reply(TOPIC, "Green.").await.status, 303);
        assert_eq!(site.post_reply(TOPIC, "Black.").await.status, 429);
        assert_eq!(other.post_reply(TOPIC, "Green.").await.status, 201);
        assert_eq!(other.submit_reply(TOPIC, "Black.").await.status, 429);
    });
}

#[test]
fn a_guest_can_read_public_sections_and_cannot_reply() {
    run_with_postgres(async {
        let site = Site::new(PAUSE).await;
        for (rank, method, status) in [(0_i16, "GET", 200), (0, "POST", 401), (1, "GET", 404)] {
            site.change("UPDATE section SET rank = $1", &[&rank]).await;
            for path in ["/topics/1", "/api/v1/threads/1/posts"] {
                let response = site.send_as_guest(method, path).await;
                assert_eq!(response.status, status, "{method} {path}, rank {rank}");
            }
        }
    });
}
