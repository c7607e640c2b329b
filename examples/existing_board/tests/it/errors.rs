//! The form and the API run the same command and return the same errors.

use std::time::Duration;

use deadpool_postgres::{PoolError, TimeoutType};
use forum_api::host::{BackendError, BoardError};

use crate::before::ReplyError;
use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC};

const PAUSE: Duration = Duration::from_secs(15);

struct Case {
    /// SQL that makes the board reject the reply.
    setup: &'static str,
    topic: i64,
    body: String,
    status: u16,
    code: &'static str,
    /// The message of the form. The API returns it for the codes of the board.
    message: &'static str,
}

fn case(setup: &'static str, status: u16, code: &'static str, message: &'static str) -> Case {
    let topic = TOPIC;
    let body = "Green.".into();
    Case { setup, topic, body, status, code, message }
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let nothing = "SELECT";
    let no_topic = "Topic not found.";
    let long = "ü".repeat(10_001);
    vec![
        Case { topic: 17, ..case(nothing, 404, "not_found", no_topic) },
        case("UPDATE section SET rank = 2", 404, "not_found", no_topic),
        case("UPDATE member SET banned = true", 403, "owner_unavailable", "Your account is banned."),
        case("UPDATE topic SET locked = true", 403, "FORBIDDEN", "The topic is locked."),
        Case { body: " \n".into(), ..case(nothing, 422, "VALIDATION", "The body is empty.") },
        Case { body: long, ..case(nothing, 422, "VALIDATION", "The body is longer than 10,000 characters.") },
        case("UPDATE member SET wrote_at = club_now() + 60000", 429, "RATE_LIMITED", "Please wait for 15 seconds."),
        case("ALTER TABLE entry ADD CHECK (false) NOT VALID", 500, "internal_error", "Internal error."),
    ]
}

#[test]
fn the_form_and_the_api_return_the_same_errors() {
    run_with_postgres(async {
        for case in cases() {
            let site = Site::new(PAUSE).await;
            site.change(case.setup, &[]).await;
            let form = site.submit_reply(case.topic, &case.body).await;
            let api = site.post_reply(case.topic, &case.body).await;
            let statuses = (form.status.as_u16(), api.status.as_u16());
            assert_eq!(statuses, (case.status, case.status), "{api:?}");
            assert!(form.text.contains(case.message), "{form:?}");
            let error = &api.json()["error"];
            assert_eq!(error["code"], case.code);
            if case.code == case.code.to_uppercase() {
                let field = if case.status == 422 { "body: " } else { "" };
                assert_eq!(error["message"], format!("{field}{}", case.message));
            }
            assert_eq!(site.count("entry").await, 1, "nothing was written");
            assert_eq!(site.pending_events().await, []);
        }
    });
}

#[test]
fn a_command_without_a_connection_did_not_run() {
    let error = || ReplyError::from(PoolError::Timeout(TimeoutType::Wait));
    assert_eq!(BoardError::from(error()).status(), 503);
    assert_eq!(BoardError::from(BackendError::from(error())).status(), 503);
    run_with_postgres(async {
        let timeouts = Site::new(PAUSE).await.club.pool.timeouts();
        for limit in [timeouts.wait, timeouts.create] {
            assert!(limit.is_some_and(|limit| limit <= Duration::from_secs(10)), "{limit:?}");
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
