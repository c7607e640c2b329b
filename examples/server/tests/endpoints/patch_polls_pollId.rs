//! `PATCH /polls/{pollId}`.

use serde_json::{Value, json};

use crate::client::Answer;
use crate::places::{self, options, poll};
use crate::program::Server;
use crate::road::{Request, refusal};

fn path(poll: &Value) -> String {
    format!("/polls/{}", poll["pollId"].as_str().unwrap())
}

fn patch(server: &Server, token: &str, path: &str, edit: &Value) -> Answer {
    server.ask("PATCH", token, path, &edit.to_string())
}

fn vote(server: &Server, token: &str, poll: &Value, place: usize) -> u16 {
    let vote = json!({ "optionIds": [options(poll)[place]] });
    server
        .post(token, &format!("{}/votes", path(poll)), &vote)
        .status
}

#[test]
fn it_keeps_to_the_road() {
    let server = Server::new(&[]);
    let path = path(&poll(&server, &server.token("alice")));
    let request = Request {
        method: "PATCH",
        path: &path,
        body: r#"{"question":"Coffee, then?"}"#,
        owner: "alice",
        scope: "polls:write",
        cost: 5,
        success: 200,
    };
    request.keeps_to_the_road();
}

#[test]
fn the_edited_poll_is_answered_and_found() {
    let server = Server::new(&[]);
    let alice = server.token("alice");
    let demo = poll(&server, &alice);
    let ids = options(&demo);
    let edit = json!({
        "question": " Coffee, then? ",
        "options": [{ "text": "Never" }, { "optionId": ids[1], "text": "Green coffee" }],
        "maxChoices": 2,
        "canChangeVote": true,
        "closesAt": "2100-01-01T00:00:00+01:00",
        "expectedVersion": 1,
    });
    let edited = patch(&server, &alice, &path(&demo), &edit);
    let seen = edited.json();
    assert_eq!(edited.status, 200, "{seen}");
    for (field, value) in [
        ("question", json!("Coffee, then?")),
        ("maxChoices", json!(2)),
        ("canChangeVote", json!(true)),
        ("closesAt", json!("2099-12-31T23:00:00.000Z")),
        ("closed", json!(false)),
        ("version", json!(2)),
    ] {
        assert_eq!(seen[field], value, "{field}");
    }
    let texts: Vec<_> = seen["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["text"])
        .collect();
    assert_eq!(texts, ["Never", "Green coffee"]);
    assert_eq!(options(&seen)[1], ids[1]);
    assert!(!ids.contains(&options(&seen)[0]));
    assert_eq!(poll(&server, &server.token("bob")), seen);
    let open_ended = json!({ "closesAt": null });
    let edited = patch(&server, &alice, &path(&demo), &open_ended).json();
    assert_eq!(
        (&edited["closesAt"], &edited["maxChoices"]),
        (&Value::Null, &json!(2))
    );
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let demo = poll(&server, &alice);
    let (path, id) = (path(&demo), options(&demo)[0]);
    let many: Vec<_> = (0..21)
        .map(|number| json!({ "text": number.to_string() }))
        .collect();
    let fine = json!({ "question": "Coffee?" });
    for (token, path, edit, code) in [
        (&bob, &*path, fine.clone(), (403, "FORBIDDEN")),
        (
            &alice,
            &path,
            json!({ "question": "x", "expectedVersion": 2 }),
            (409, "CONFLICT"),
        ),
        (
            &alice,
            &path,
            json!({ "question": " \n" }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "question": "ä".repeat(121) }),
            (422, "VALIDATION"),
        ),
        (&alice, &path, json!({ "options": [] }), (422, "VALIDATION")),
        (
            &alice,
            &path,
            json!({ "options": [{ "text": "a" }] }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "options": [{ "text": "a" }, { "text": " a " }] }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "options": [{ "text": "a" }, { "text": "" }] }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "options": many }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "maxChoices": 0 }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "maxChoices": 5 }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "options": [{ "text": "a" }, { "text": "b" }], "maxChoices": 3 }),
            (422, "VALIDATION"),
        ),
        (
            &alice,
            &path,
            json!({ "options": [{ "optionId": id, "text": "a" }, { "optionId": "999", "text": "b" }] }),
            (404, "NOT_FOUND"),
        ),
        (&alice, &path, json!({}), (400, "bad_request")),
        (
            &alice,
            &path,
            json!({ "expectedVersion": 1 }),
            (400, "bad_request"),
        ),
        (
            &alice,
            &path,
            json!({ "question": null }),
            (400, "bad_request"),
        ),
        (
            &alice,
            &path,
            json!({ "options": ["a", "b"] }),
            (400, "bad_request"),
        ),
        (
            &alice,
            &path,
            json!({ "closesAt": "tomorrow" }),
            (400, "bad_request"),
        ),
        (
            &alice,
            &path,
            json!({ "question": "x", "closed": true }),
            (400, "bad_request"),
        ),
        (&alice, "/polls/999", fine.clone(), (404, "not_found")),
        (&alice, "/polls/01", fine.clone(), (404, "not_found")),
    ] {
        let refused = patch(&server, token, path, &edit);
        assert_eq!(refusal(&refused), (code.0, code.1.into()), "{path} {edit}");
    }
    assert_eq!(poll(&server, &alice), demo);
}

#[test]
fn a_vote_and_a_lock_bind_the_writer_alone() {
    let server = Server::new(&[]);
    let (alice, moderator) = (server.token("alice"), server.token("mod"));
    let demo = poll(&server, &alice);
    let ids = options(&demo);
    let two = json!({ "options": [{ "optionId": ids[1], "text": "Green" }, { "optionId": ids[3], "text": "Herbs" }] });
    for (name, place) in [("bob", 0), ("carol", 1)] {
        assert_eq!(vote(&server, &server.token(name), &demo, place), 201);
    }
    let path = path(&demo);
    let refused = patch(&server, &alice, &path, &two);
    assert_eq!(refusal(&refused), (409, "CONFLICT".into()));
    let more = json!({ "maxChoices": 2 });
    assert_eq!(patch(&server, &alice, &path, &more).status, 200);
    let edited = patch(&server, &moderator, &path, &two).json();
    let votes = [0, 1].map(|place| &edited["options"][place]["votes"]);
    assert_eq!(
        (votes, &edited["totalVotes"]),
        ([&json!(1), &json!(0)], &json!(1))
    );
    let bob = server.token("bob");
    assert_eq!(poll(&server, &bob)["ownVote"], Value::Null);
    assert_eq!(vote(&server, &bob, &edited, 1), 201);
    let thread = places::thread(&server);
    let locked = server.command(&["thread", "lock", thread.trim_start_matches("/threads/")]);
    assert_eq!(locked.status, 0);
    let refused = patch(&server, &alice, &path, &more);
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".into()));
    for name in ["mod", "admin"] {
        assert_eq!(
            patch(&server, &server.token(name), &path, &more).status,
            200,
            "{name}"
        );
    }
}

#[test]
fn options_are_as_many_as_the_setting_says() {
    let server = Server::new(&[]);
    let alice = server.token("alice");
    let demo = poll(&server, &alice);
    assert_eq!(
        server.command(&["setting", "poll.options_max", "3"]).status,
        0
    );
    let to = |texts: &[&str]| {
        let options: Vec<_> = texts.iter().map(|text| json!({ "text": text })).collect();
        patch(
            &server,
            &alice,
            &path(&demo),
            &json!({ "options": options }),
        )
    };
    let refused = to(&["a", "b", "c", "d"]);
    assert_eq!(refusal(&refused), (422, "VALIDATION".into()));
    let message = &refused.json()["error"]["message"];
    assert_eq!(message, "options: no more than 3 are allowed.");
    assert_eq!(to(&["a", "b", "c"]).status, 200);
    let new = json!({ "title": "x", "body": "x", "poll": { "question": "?", "options": ["a", "b", "c", "d"] } });
    let refused = server.post(&alice, "/forums/2/threads", &new);
    assert_eq!(refusal(&refused), (422, "VALIDATION".into()));
}

#[test]
fn a_refusal_is_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let bob = server.token("bob");
    let demo = poll(&server, &bob);
    let refused = patch(&server, &bob, &path(&demo), &json!({ "maxChoices": 2 })).json();
    let text = "Nur ihr Verfasser und die Moderatoren dürfen diese Umfrage bearbeiten.";
    assert_eq!(refused["error"]["message"], text);
}
