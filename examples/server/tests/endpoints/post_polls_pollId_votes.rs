//! `POST /polls/{pollId}/votes`.

use std::thread;

use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::places::{self, new_poll, options, poll};
use crate::program::Server;
use crate::road::{Request, refusal};

fn votes(poll: &Value) -> String {
    format!("/polls/{}/votes", poll["pollId"].as_str().unwrap())
}

/// Votes for the options in these places.
fn cast(server: &Server, token: &str, poll: &Value, places: &[usize]) -> Answer {
    let options = options(poll);
    let named: Vec<_> = places.iter().map(|place| options[*place]).collect();
    server.post(token, &votes(poll), &json!({ "optionIds": named }))
}

/// What each option has, and the voters.
fn counts(poll: &Value) -> (Vec<u64>, u64) {
    let options = poll["options"].as_array().unwrap().iter();
    let votes = options.map(|option| option["votes"].as_u64().unwrap());
    (votes.collect(), poll["totalVotes"].as_u64().unwrap())
}

#[test]
fn it_keeps_to_the_road() {
    let server = Server::new(&[]);
    let poll = poll(&server, &server.token("bob"));
    let request = Request {
        method: "POST",
        path: &votes(&poll),
        body: &json!({ "optionIds": [options(&poll)[0]] }).to_string(),
        owner: "bob",
        scope: "polls:write",
        cost: 5,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn a_vote_is_answered_with_the_poll_that_it_counts_in() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let demo = poll(&server, &bob);
    let voted = cast(&server, &bob, &demo, &[2]);
    assert_eq!((voted.status, voted.header("location")), (201, None));
    let seen = voted.json();
    assert_eq!(counts(&seen), (vec![0, 0, 1, 0], 1));
    assert_eq!(seen["ownVote"], json!([options(&demo)[2]]));
    assert_eq!(
        (&seen["version"], poll(&server, &bob)),
        (&json!(1), seen.clone())
    );
    let path = format!("{}/poll", places::thread(&server));
    let by_a_guest = get(&server.api(&path)).json();
    assert_eq!(
        (counts(&by_a_guest), &by_a_guest["ownVote"]),
        (counts(&seen), &Value::Null)
    );
    for name in ["alice", "mod", "newbie"] {
        assert_eq!(
            cast(&server, &server.token(name), &demo, &[0]).status,
            201,
            "{name}"
        );
    }
    assert_eq!(counts(&poll(&server, &bob)), (vec![3, 0, 1, 0], 4));
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let demo = poll(&server, &bob);
    let one = options(&demo)[0];
    let asked = json!({ "question": "Milk?", "options": ["first", "last"] });
    let other = new_poll(&server, &alice, &asked);
    let (path, elsewhere) = (votes(&demo), options(&other)[0]);
    let named = |options: &[&str]| json!({ "optionIds": options });
    for (path, body, code) in [
        (&*path, named(&[]), (422, "VALIDATION")),
        (&path, named(&[one, one]), (422, "VALIDATION")),
        (&path, named(&[one, options(&demo)[1]]), (422, "VALIDATION")),
        (&path, named(&[elsewhere]), (404, "NOT_FOUND")),
        (&path, named(&["999"]), (404, "NOT_FOUND")),
        (&path, named(&["no id"]), (404, "NOT_FOUND")),
        (&path, json!({}), (400, "bad_request")),
        (&path, json!({ "optionIds": one }), (400, "bad_request")),
        (&path, json!({ "optionIds": [1] }), (400, "bad_request")),
        (
            &path,
            json!({ "optionIds": [one], "as": "alice" }),
            (400, "bad_request"),
        ),
        ("/polls/999/votes", named(&[one]), (404, "not_found")),
        ("/polls/01/votes", named(&[one]), (404, "not_found")),
        ("/polls/tea/votes", named(&[]), (404, "not_found")),
        ("/polls/1/votes/", named(&[one]), (404, "no_such_route")),
    ] {
        let refused = server.post(&bob, path, &body);
        assert_eq!(refusal(&refused), (code.0, code.1.into()), "{path} {body}");
    }
    assert_eq!(cast(&server, &bob, &demo, &[0]).status, 201);
    for places in [[0], [1]] {
        let refused = cast(&server, &bob, &demo, &places);
        assert_eq!(refusal(&refused), (409, "CONFLICT".into()));
    }
    let close = json!({ "closesAt": "2026-01-01T00:00:00Z" }).to_string();
    let closed = server.ask("PATCH", &alice, path.trim_end_matches("/votes"), &close);
    assert_eq!(closed.json()["closed"], true);
    for token in [&alice, &bob] {
        let refused = cast(&server, token, &demo, &[1]);
        assert_eq!(refusal(&refused), (403, "FORBIDDEN".into()));
    }
    assert_eq!(counts(&poll(&server, &bob)), (vec![1, 0, 0, 0], 1));
}

#[test]
fn sight_of_the_thread_is_all_it_takes() {
    let server = Server::new(&[]);
    let (bob, newbie) = (server.token("bob"), server.token("newbie"));
    let demo = poll(&server, &bob);
    let thread = places::thread(&server);
    let locked = server.command(&["thread", "lock", thread.trim_start_matches("/threads/")]);
    assert_eq!(locked.status, 0);
    let reply = json!({ "body": "Black." });
    assert_eq!(
        server.post(&bob, &format!("{thread}/posts"), &reply).status,
        403
    );
    assert_eq!(cast(&server, &bob, &demo, &[0]).status, 201);
    let asked = json!({ "question": "Milk?", "options": ["first", "last"] });
    let waiting = new_poll(&server, &newbie, &asked);
    for (name, status) in [("newbie", 201), ("mod", 201), ("bob", 404)] {
        let voted = cast(&server, &server.token(name), &waiting, &[0]);
        assert_eq!(voted.status, status, "{name}");
    }
}

#[test]
fn of_fifty_votes_at_once_one_counts() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let demo = poll(&server, &bob);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let voters: Vec<_> = (0..50)
            .map(|number| {
                let (server, bob, demo) = (&server, &bob, &demo);
                scope.spawn(move || cast(server, bob, demo, &[number % 4]).status)
            })
            .collect();
        voters
            .into_iter()
            .map(|voter| voter.join().unwrap())
            .collect()
    });
    let counted = statuses.iter().filter(|status| **status == 201).count();
    let refused = statuses.iter().filter(|status| **status == 409).count();
    assert_eq!((counted, refused), (1, 49));
    let (votes, voters) = counts(&poll(&server, &bob));
    assert_eq!((votes.iter().sum::<u64>(), voters), (1, 1));
}

#[test]
fn a_refusal_is_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let bob = server.token("bob");
    let demo = poll(&server, &bob);
    for (places, text) in [
        (
            &[][..],
            "optionIds: Eine Stimme braucht mindestens eine Antwort.",
        ),
        (&[0, 1], "optionIds: Höchstens 1 Antworten sind wählbar."),
    ] {
        let refused = cast(&server, &bob, &demo, places).json();
        assert_eq!(refused["error"]["message"], text);
    }
}
