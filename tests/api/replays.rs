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

/// State of a key after a first run that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    IsFree,
    IsUnknown,
}

#[tokio::test]
async fn what_is_kept_and_what_is_not() {
    use Then::{IsFree, IsUnknown};
    for (mood, status, then) in [
        (
            Mood::Refuses(|| Refusal::Forbidden("No.".into())),
            403,
            IsFree,
        ),
        (
            Mood::Refuses(|| Refusal::NotFound("No.".into())),
            404,
            IsFree,
        ),
        (
            Mood::Refuses(|| Refusal::Conflict("No.".into())),
            409,
            IsFree,
        ),
        (
            Mood::Refuses(|| Refusal::invalid("body", "No.")),
            422,
            IsFree,
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
        let alice = server.token("alice").await;
        let ask = reply("x").bearer(&alice);
        server.board.be(mood);
        let first = server.send(&ask).await;
        assert_eq!(first.status, status);
        server.board.be(Mood::Well);
        let second = server.send(&ask).await;
        let other = server.send(&reply("y").bearer(&alice)).await;
        let expected = match then {
            IsFree => [(201, None), (409, Some("CONFLICT"))],
            IsUnknown => [(409, Some("CONFLICT")); 2],
        };
        assert_eq!([outcome(&second), outcome(&other)], expected, "{first:?}");
        assert_eq!(is_unknown(&second), then == IsUnknown, "{second:?}");
        assert!(!is_replay(&second));
        let ran = if then == IsFree { 2 } else { 1 };
        assert_eq!(server.board.calls().len(), ran);
    }
}

#[tokio::test]
async fn a_refusal_frees_the_key_for_another_request() {
    let server = Server::new();
    let alice = server.token("alice").await;
    let refuses = || Refusal::invalid("body", "Too soon.");
    server.board.be(Mood::Refuses(refuses));
    let refused = server.send(&reply("x").bearer(&alice)).await;
    assert_eq!(outcome(&refused), (422, Some("VALIDATION")));
    server.board.be(Mood::Well);
    assert_eq!(server.send(&reply("y").bearer(&alice)).await.status, 201);
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
