//! `GET /threads/{threadId}/poll`.

use serde_json::{Value, json};

use crate::client::get;
use crate::places::{new_poll, options, poll, staff_thread, thread};
use crate::program::Server;
use crate::road::{Request, refusal};

#[test]
fn it_keeps_to_the_road() {
    let path = format!("{}/poll", thread(&Server::new(&[])));
    let request = Request {
        method: "GET",
        path: &path,
        body: "",
        owner: "bob",
        scope: "threads:read",
        cost: 1,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

#[test]
fn the_demo_boards_poll_is_there_for_everybody() {
    let server = Server::new(&[]);
    let thread = thread(&server);
    let answer = get(&server.api(&format!("{thread}/poll")));
    let seen = answer.json();
    assert_eq!(answer.status, 200);
    assert_eq!(
        get(&server.api(&thread)).json()["pollId"],
        seen["pollId"],
        "{seen}"
    );
    assert_eq!(seen["author"]["username"], "alice");
    assert_eq!(seen["question"], "What goes into the pot when it rains?");
    let first = &seen["options"][0];
    assert_eq!(
        (&first["text"], &first["votes"]),
        (&json!("Black tea"), &json!(0))
    );
    for (field, value) in [
        ("threadId", json!(thread.trim_start_matches("/threads/"))),
        ("totalVotes", json!(0)),
        ("maxChoices", json!(1)),
        ("canChangeVote", json!(false)),
        ("closesAt", Value::Null),
        ("closed", json!(false)),
        ("ownVote", Value::Null),
        ("version", json!(1)),
    ] {
        assert_eq!(seen[field], value, "{field}");
    }
    for name in ["bob", "mod", "admin"] {
        assert_eq!(poll(&server, &server.token(name)), seen, "{name}");
    }
}

#[test]
fn what_is_known_already_is_not_sent_again() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let path = format!("{}/poll", thread(&server));
    let first = server.get(&bob, &path);
    let tag = first.header("etag").unwrap();
    let again = || {
        let bearer = format!("Bearer {bob}");
        let headers = [("authorization", bearer.as_str()), ("if-none-match", tag)];
        crate::client::send("GET", &server.api(&path), &headers, "").status
    };
    assert_eq!(again(), 304);
    let seen = first.json();
    let vote = json!({ "optionIds": [options(&seen)[0]] });
    let votes = format!("/polls/{}/votes", seen["pollId"].as_str().unwrap());
    assert_eq!(server.post(&bob, &votes, &vote).status, 201);
    assert_eq!(again(), 200);
}

#[test]
fn a_poll_is_seen_with_its_thread() {
    let server = Server::new(&[]);
    let (alice, newbie) = (server.token("alice"), server.token("newbie"));
    let asked = json!({ "question": "Milk?", "options": ["first", "last"] });
    let waiting = new_poll(&server, &newbie, &asked);
    let waiting = format!("/threads/{}/poll", waiting["threadId"].as_str().unwrap());
    for (name, status) in [("newbie", 200), ("mod", 200), ("admin", 200), ("bob", 404)] {
        assert_eq!(
            server.get(&server.token(name), &waiting).status,
            status,
            "{name}"
        );
    }
    let hidden = format!("{}/poll", staff_thread(&server));
    for path in [
        &waiting,
        &hidden,
        "/threads/1/poll",
        "/threads/999/poll",
        "/threads/007/poll",
    ] {
        let refused = server.get(&alice, path);
        assert_eq!(refusal(&refused), (404, "not_found".into()), "{path}");
    }
    let query = server.get(&alice, &format!("{}/poll?body=html", thread(&server)));
    assert_eq!(refusal(&query), (400, "bad_request".into()));
}
