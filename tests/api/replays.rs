//! Replays of the response to the first request with an `Idempotency-Key` (`docs/protocol.md`, section 9.3).

use crate::idempotency::{is_replay, is_unknown, reply};
use crate::support::*;

#[tokio::test]
async fn a_repeated_post_gets_the_first_response() {
    let (server, alice) = Server::with_alice().await;
    for row in ROWS.iter().filter(|row| row.method == "POST") {
        let request = Request::of(row).bearer(&alice).key(row.template);
        let first = server.send(&request).await;
        let calls = server.board.calls().len();
        let again = server.send(&request).await;
        assert_eq!(again.status, first.status, "{row:?}");
        assert_eq!(again.body, first.body, "{row:?}");
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!((is_replay(&first), is_replay(&again)), (false, true));
        assert_eq!(server.board.calls().len(), calls);
    }
}

#[tokio::test]
async fn a_rejected_request_frees_its_key_and_a_failed_request_leaves_its_outcome_unknown() {
    #[rustfmt::skip]
    let more: [(fn() -> BoardError, u16); 5] = [
        (|| BoardError::NotImplemented, 501),
        (|| BoardError::PathNotFound, 404),
        (|| BoardError::invalid_parameter("body", "text"), 400),
        (|| BoardError::internal("the disk is full"), 500),
        (|| panic!("the test board panics"), 500),
    ];
    for (error, status) in DOMAIN_ERRORS.into_iter().chain(more) {
        let server = Server::new();
        let alice = server.token("alice").await;
        server.board.fail_with(error);
        let first = server.send(&reply("x").bearer(&alice)).await;
        assert_eq!(first.status, status);
        server.board.set_mode(FailureMode::None);
        let is_free = status != 500;
        if !is_free {
            let second = server.send(&reply("x").bearer(&alice)).await;
            assert!(is_unknown(&second) && !is_replay(&second), "{second:?}");
        }
        // A free key can be used for another request.
        let other = server.outcome_for(&alice, reply("y")).await;
        let expected = if is_free { (201, None) } else { CONFLICT };
        assert_eq!(other, expected, "{first:?}");
        assert_eq!(server.board.calls().len(), 1 + usize::from(is_free));
    }
}

/// Resource that becomes invisible between a request and its repeat.
#[derive(Clone, Copy, Debug)]
enum HiddenResource {
    Nothing,
    /// The forum `members`.
    Forum,
    /// A thread, a post or a member is deleted.
    Item(&'static str),
}

#[rustfmt::skip]
const REPEATED: &[(&str, &str, HiddenResource, Option<&str>)] = &[
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, HiddenResource::Nothing, None),
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, HiddenResource::Forum, Some("not_found")),
    ("/forums/members/threads", r#"{"title":"x","body":"x"}"#, HiddenResource::Item("members-4"), Some("NOT_FOUND")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, HiddenResource::Forum, Some("not_found")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, HiddenResource::Item("members-1"), Some("not_found")),
    ("/threads/members-1/posts", r#"{"body":"x"}"#, HiddenResource::Item("members-1-46"), Some("NOT_FOUND")),
    ("/polls/members-1/votes", r#"{"optionIds":["1"]}"#, HiddenResource::Forum, Some("not_found")),
    ("/members/bob/reputation", r#"{"points":1,"postId":"members-1-2"}"#, HiddenResource::Nothing, None),
    ("/members/bob/reputation", r#"{"points":1,"postId":"members-1-2"}"#, HiddenResource::Forum, Some("NOT_FOUND")),
    ("/members/bob/reputation", r#"{"points":1}"#, HiddenResource::Forum, None),
    ("/members/@bob/reputation", r#"{"points":1}"#, HiddenResource::Item("bob"), Some("not_found")),
    ("/messages", r#"{"to":["bob"],"subject":"x","body":"x"}"#, HiddenResource::Forum, None),
    ("/subscriptions", r#"{"target":"forum","targetId":"members"}"#, HiddenResource::Forum, Some("NOT_FOUND")),
    ("/subscriptions", r#"{"target":"thread","targetId":"members-1"}"#, HiddenResource::Forum, Some("NOT_FOUND")),
    ("/subscriptions", r#"{"target":"thread","targetId":"members-1"}"#, HiddenResource::Item("members-1"), Some("NOT_FOUND")),
];

#[tokio::test]
async fn a_replay_is_refused_while_its_resource_is_hidden() {
    for (path, body, loses, code) in REPEATED {
        let server = Server::new();
        let alice = server.token("alice").await;
        let request = Request::post(path, body).key("k").bearer(&alice);
        let first = server.send(&request).await;
        assert!(matches!(first.status, 200 | 201), "{path} {body} {first:?}");
        match loses {
            HiddenResource::Nothing => {}
            HiddenResource::Forum => server.board.show("alice", &["open"]),
            HiddenResource::Item(id) => server.board.delete(id),
        }
        let second = server.send(&request).await;
        let status = if code.is_some() { 404 } else { first.status };
        assert_eq!(outcome(&second), (status, *code), "{path} {body} {loses:?}");
        assert_eq!(is_replay(&second), code.is_none(), "{path} {body}");
        server.board.show("alice", &["open", "members"]);
        server.board.restore();
        let third = server.send(&request).await;
        assert!(is_replay(&third), "{path} {body} {third:?}");
        assert_eq!((third.status, &third.body), (first.status, &first.body));
        assert_ne!(third.header("x-request-id"), first.header("x-request-id"));
        assert_eq!(server.board.calls().len(), 1, "only the command ran");
    }
}

#[tokio::test]
async fn the_rating_of_a_hidden_post_is_withheld() {
    let server = Server::new();
    server.board.set_mode(FailureMode::Leak);
    let body = r#"{"points":1,"postId":"staff-1-1"}"#;
    let request = Request::post("/members/bob/reputation", body);
    let response = server.send(&request.bearer(&server.token("alice").await)).await;
    assert_eq!(outcome(&response), (404, Some("not_found")));
}

/// The board executed the command, but its result is hidden from the caller.
#[tokio::test]
async fn a_withheld_response_leaves_the_outcome_unknown() {
    let server = Server::new();
    server.board.set_mode(FailureMode::Leak);
    let body = r#"{"target":"forum","targetId":"staff"}"#;
    let request =
        Request::post("/subscriptions", body).key("k").bearer(&server.token("alice").await);
    assert_eq!(outcome(&server.send(&request).await), (404, Some("not_found")));
    assert!(is_unknown(&server.send(&request).await));
}
