//! The form and the API run one command, and fail alike.

use std::time::Duration;

use forum_api::store::OutboxStore;
use forum_api::store::postgres::PostgresStore;

use crate::fixture::run_with_postgres;
use crate::site::Site;

const TOPIC: i64 = 1;

const PAUSE: Duration = Duration::from_secs(15);

struct BoardError {
    /// What makes the board refuse.
    because: &'static str,
    topic: i64,
    body: String,
    status: u16,
    code: &'static str,
    /// What the form says, and the API where the code is the board's own: for 422 after the field's name.
    says: &'static str,
}

fn refusal(
    because: &'static str,
    status: u16,
    code: &'static str,
    says: &'static str,
) -> BoardError {
    BoardError {
        because,
        topic: TOPIC,
        body: "Green.".into(),
        status,
        code,
        says,
    }
}

#[rustfmt::skip]
fn refusals() -> Vec<BoardError> {
    let nothing = "SELECT";
    let no_topic = "Topic not found.";
    let long = "ü".repeat(10_001);
    vec![
        BoardError { topic: 17, ..refusal(nothing, 404, "not_found", no_topic) },
        refusal("UPDATE section SET rank = 2", 404, "not_found", no_topic),
        refusal("UPDATE member SET banned = true", 403, "owner_unavailable", "Your account is banned."),
        refusal("UPDATE topic SET locked = true", 403, "FORBIDDEN", "The topic is locked."),
        BoardError { body: " \n".into(), ..refusal(nothing, 422, "VALIDATION", "The body is empty.") },
        BoardError { body: long, ..refusal(nothing, 422, "VALIDATION", "The body is longer than 10,000 characters.") },
        refusal("UPDATE member SET wrote_at = club_now() + 60000", 429, "RATE_LIMITED", "Please wait for 15 seconds."),
        refusal("DROP VIEW topic_view", 500, "internal_error", "Internal error."),
    ]
}

#[test]
fn the_form_and_the_api_fail_alike() {
    run_with_postgres(async {
        for refusal in refusals() {
            let site = Site::new(PAUSE).await;
            site.change(refusal.because, &[]).await;
            let form = site.type_reply(refusal.topic, &refusal.body).await;
            let api = site.post_reply(refusal.topic, &refusal.body).await;
            let statuses = (form.status.as_u16(), api.status.as_u16());
            assert_eq!(statuses, (refusal.status, refusal.status), "{api:?}");
            assert!(form.text.contains(refusal.says), "{form:?}");
            let error = &api.json()["error"];
            assert_eq!(error["code"], refusal.code);
            if refusal.code == refusal.code.to_uppercase() {
                let field = match refusal.status {
                    422 => "body: ",
                    _ => "",
                };
                assert_eq!(error["message"], format!("{field}{}", refusal.says));
            }
            assert_eq!(site.count("entry").await, 1, "nothing was written");
            let outbox = PostgresStore::new(site.club.pool.clone());
            assert_eq!(outbox.pending(9).await.unwrap(), []);
        }
    });
}

#[test]
fn a_reply_through_one_door_makes_the_next_wait_at_the_other() {
    run_with_postgres(async {
        let (site, other) = (Site::new(PAUSE).await, Site::new(PAUSE).await);
        assert_eq!(site.type_reply(TOPIC, "Green.").await.status, 303);
        assert_eq!(site.post_reply(TOPIC, "Black.").await.status, 429);
        assert_eq!(other.post_reply(TOPIC, "Green.").await.status, 201);
        assert_eq!(other.type_reply(TOPIC, "Black.").await.status, 429);
    });
}

#[test]
fn a_guest_is_kept_out_at_both_doors() {
    run_with_postgres(async {
        let site = Site::new(PAUSE).await;
        let doors = ["/topics/1", "/api/v1/threads/1/posts"];
        for (hidden, method, status) in [(0_i16, "GET", 200), (0, "POST", 401), (1, "GET", 404)] {
            let hide = "UPDATE section SET rank = $1";
            site.change(hide, &[&hidden]).await;
            for door in doors {
                let answer = site.ask_as_guest(method, door).await;
                assert_eq!(answer.status, status, "{method} {door}, {hidden}");
            }
        }
    });
}
