//! What an `Idempotency-Key` keeps of the first answer (`docs/protocol.md`, section 9.3).

use forum_api::host::BoardError;

use crate::keys::{is_replay, is_unknown, reply};
use crate::support::*;

#[tokio::test]
async fn every_post_is_answered_again_as_it_was_the_first_time() {
    let server = Server::new();
    let alice = server.token("alice").await;
    for row in ROWS.iter().filter(|row| row.method == "POST") {
        let ask = Ask::of(row).bearer(&alice).key(row.template);
        let (first, writes) = (server.send(&ask).await, server.board.writes());
        let again = server.send(&ask).await;
        assert_eq!(
            (again.status, &again.body),
            (first.status, &first.body),
            "{row:?}"
        );
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!((is_replay(&first), is_replay(&again)), (false, true));
        assert_eq!(server.board.writes(), writes);
    }
}

#[tokio::test]
async fn a_rejected_request_frees_its_key_and_a_failed_one_leaves_its_outcome_unknown() {
    let (free, unknown) = (true, false);
    for (mood, status, then) in [
        (
            Mood::Refuses(|| BoardError::Forbidden("No.".into())),
            403,
            free,
        ),
        (
            Mood::Refuses(|| BoardError::NotFound("No.".into())),
            404,
            free,
        ),
        (
            Mood::Refuses(|| BoardError::Conflict("No.".into())),
            409,
            free,
        ),
        (
            Mood::Refuses(|| BoardError::invalid("body", "No.")),
            422,
            free,
        ),
        (
            Mood::Refuses(|| BoardError::RateLimited("No.".into(), None)),
            429,
            free,
        ),
        (Mood::Refuses(|| BoardError::NotImplemented), 501, free),
        (Mood::Refuses(|| BoardError::PathNotFound), 404, free),
        (
            Mood::Refuses(|| BoardError::InvalidParameter("body", "text")),
            400,
            free,
        ),
        (
            Mood::Refuses(|| BoardError::internal("the disk is full")),
            500,
            unknown,
        ),
        (Mood::Panics, 500, unknown),
    ] {
        let server = Server::new();
        let alice = server.token("alice").await;
        server.board.be(mood);
        let first = server.send(&reply("x").bearer(&alice)).await;
        assert_eq!(first.status, status);
        server.board.be(Mood::Well);
        if then == free {
            // The key is free for another request as well.
            assert_eq!(
                server.outcome_for(&alice, reply("y")).await,
                (201, None),
                "{first:?}"
            );
            assert_eq!(server.outcome_for(&alice, reply("x")).await, CONFLICT);
        } else {
            let second = server.send(&reply("x").bearer(&alice)).await;
            assert!(is_unknown(&second) && !is_replay(&second), "{second:?}");
            assert_eq!(server.outcome_for(&alice, reply("y")).await, CONFLICT);
        }
        assert_eq!(server.board.calls().len(), if then == free { 2 } else { 1 });
    }
}

/// Resource that becomes invisible between a request and its repeat.
#[derive(Clone, Copy, Debug)]
enum Loses {
    Nothing,
    /// The forum `members`.
    Forum,
    /// A thread, a post or a member is deleted.
    Item(&'static str),
}

#[rustfmt::skip]
const REPEATED: &[(&str, &str, Loses, Option<&str>)] = &[
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, Loses::Nothing, None),
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, Loses::Forum, Some("not_found")),
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, Loses::Item("members-4"), Some("NOT_FOUND")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, Loses::Forum, Some("not_found")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, Loses::Item("members-1"), Some("not_found")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, Loses::Item("members-1-46"), Some("NOT_FOUND")),
    ("/polls/members-1/votes", r#"{"optionIds":["1"]}"#, Loses::Forum, Some("not_found")),
    ("/members/bob/reputation", r#"{"points":1,"postId":"members-1-2"}"#, Loses::Nothing, None),
    ("/members/bob/reputation", r#"{"points":1,"postId":"members-1-2"}"#, Loses::Forum, Some("NOT_FOUND")),
    ("/members/bob/reputation", r#"{"points":1}"#, Loses::Forum, None),
    ("/members/@bob/reputation", r#"{"points":1}"#, Loses::Item("bob"), Some("not_found")),
    ("/messages", r#"{"to":["bob"],"subject":"x","body":"x"}"#, Loses::Forum, None),
    ("/subscriptions", r#"{"target":"forum","targetId":"members"}"#, Loses::Forum, Some("NOT_FOUND")),
    ("/subscriptions", r#"{"target":"thread","targetId":"members-1"}"#, Loses::Forum, Some("NOT_FOUND")),
    ("/subscriptions", r#"{"target":"thread","targetId":"members-1"}"#, Loses::Item("members-1"), Some("NOT_FOUND")),
];

#[tokio::test]
async fn a_replay_is_refused_while_the_caller_cannot_see_what_it_is_about() {
    for (path, body, loses, code) in REPEATED {
        let server = Server::new();
        let ask = Ask::post(path, body).key("k");
        let ask = ask.bearer(&server.token("alice").await);
        let first = server.send(&ask).await;
        assert!(matches!(first.status, 200 | 201), "{path} {body} {first:?}");
        match loses {
            Loses::Nothing => {}
            Loses::Forum => server.board.shows("alice", &["open"]),
            Loses::Item(id) => server.board.delete(id),
        }
        let second = server.send(&ask).await;
        let status = if code.is_some() { 404 } else { first.status };
        assert_eq!(outcome(&second), (status, *code), "{path} {body} {loses:?}");
        assert_eq!(is_replay(&second), code.is_none(), "{path} {body}");
        server.board.shows("alice", &["open", "members"]);
        server.board.restore();
        let third = server.send(&ask).await;
        assert!(is_replay(&third), "{path} {body} {third:?}");
        assert_eq!((third.status, &third.body), (first.status, &first.body));
        assert_ne!(third.header("x-request-id"), first.header("x-request-id"));
        assert_eq!(server.board.writes(), 1, "the command ran once");
    }
}

#[tokio::test]
async fn the_rating_of_a_hidden_post_is_withheld() {
    let server = Server::new();
    server.board.be(Mood::Leaks);
    let body = r#"{"points":1,"postId":"staff-1-1"}"#;
    let ask = Ask::post("/members/bob/reputation", body);
    let answer = server.send(&ask.bearer(&server.token("alice").await)).await;
    assert_eq!(outcome(&answer), (404, Some("not_found")));
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
