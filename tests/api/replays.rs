//! What an `Idempotency-Key` keeps of the first answer (contract, section 5).

use forum_api::host::Refusal;

use crate::keys::{is_replay, is_unknown, reply};
use crate::support::{Ask, Mood, ROWS, Server, outcome};

#[tokio::test]
async fn every_post_is_answered_again_as_it_was_the_first_time() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for row in ROWS.iter().filter(|row| row.method == "POST") {
        let ask = Ask::of(row).bearer(&alice).key(row.template);
        let (first, calls) = (server.send(&ask).await, server.board.calls().len());
        let again = server.send(&ask).await;
        assert_eq!(
            (again.status, &again.body),
            (first.status, &first.body),
            "{row:?}"
        );
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!((is_replay(&first), is_replay(&again)), (false, true));
        assert_eq!(server.board.calls().len(), calls);
    }
}

/// What a key does after each outcome of the first run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Replays,
    IsFree,
    IsUnknown,
}

#[tokio::test]
async fn what_is_kept_and_what_is_not() {
    use Then::{IsFree, IsUnknown, Replays};
    for (mood, status, then) in [
        (
            Mood::Refuses(|| Refusal::Forbidden("No.".into())),
            403,
            Replays,
        ),
        (
            Mood::Refuses(|| Refusal::NotFound("No.".into())),
            404,
            Replays,
        ),
        (
            Mood::Refuses(|| Refusal::Conflict("No.".into())),
            409,
            Replays,
        ),
        (
            Mood::Refuses(|| Refusal::invalid("body", "No.")),
            422,
            Replays,
        ),
        (
            Mood::Refuses(|| Refusal::TooFast("No.".into(), None)),
            429,
            IsFree,
        ),
        (Mood::Refuses(|| Refusal::NotImplemented), 501, IsFree),
        (Mood::Refuses(|| Refusal::Absent), 404, IsFree),
        (
            Mood::Refuses(|| Refusal::Unusable("body", "text")),
            400,
            IsFree,
        ),
        (
            Mood::Refuses(|| Refusal::failed("the disk is full")),
            500,
            IsUnknown,
        ),
        (Mood::Panics, 500, IsUnknown),
    ] {
        let server = Server::new();
        let ask = reply("x").bearer(&server.token("alice").await);
        server.board.be(mood);
        let first = server.send(&ask).await;
        assert_eq!(first.status, status);
        server.board.be(Mood::Well);
        let second = server.send(&ask).await;
        let found = match () {
            () if is_replay(&second) => Replays,
            () if is_unknown(&second) => IsUnknown,
            () => IsFree,
        };
        assert_eq!(found, then, "{first:?} {second:?}");
        assert_eq!(
            server.board.calls().len(),
            if then == IsFree { 2 } else { 1 }
        );
        if then == Replays {
            assert_eq!((second.status, second.body), (first.status, first.body));
        }
    }
}

/// The command was carried out, but its answer was not the caller's to see.
#[tokio::test]
async fn a_withheld_answer_leaves_the_outcome_unknown() {
    let server = Server::new();
    server.board.be(Mood::Leaks);
    let body = r#"{"target":"forum","targetId":"staff"}"#;
    let ask = Ask::post("/subscriptions", body)
        .key("k")
        .bearer(&server.token("alice").await);
    assert_eq!(outcome(&server.send(&ask).await), (404, Some("not_found")));
    assert!(is_unknown(&server.send(&ask).await));
}
