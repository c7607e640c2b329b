//! `POST /members/{userId}/reputation`.

use serde_json::{Value, json};

use crate::client::{Answer, get};
use crate::places::{first_post, last_post, reply};
use crate::program::Server;
use crate::road::{Request, number, refusal};

fn rate(server: &Server, token: &str, member: &str, rating: &Value) -> Answer {
    server.post(token, &format!("/members/{member}/reputation"), rating)
}

fn plain(points: i64) -> Value {
    json!({ "points": points, "comment": "Well said." })
}

/// A rating for the post at the end of this path.
fn for_post(path: &str) -> Value {
    let id = path.rsplit('/').next().unwrap();
    json!({ "points": 1, "comment": "Well said.", "postId": id })
}

fn total(server: &Server, member: &str) -> Value {
    get(&server.api(&format!("/members/{member}"))).json()["reputation"].clone()
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "POST",
        path: "/members/@alice/reputation",
        body: &plain(1).to_string(),
        owner: "bob",
        scope: "reputation:write",
        cost: 5,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn a_rating_is_answered_and_counts_on_the_profile() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let alice = get(&server.api("/members/@alice")).json()["userId"].clone();
    assert_eq!(total(&server, "@alice"), 0);
    let rated = rate(
        &server,
        &bob,
        "@alice",
        &json!({ "points": 2, "comment": " Well said. " }),
    );
    assert_eq!((rated.status, rated.header("location")), (201, None));
    let rating = rated.json();
    for (field, value) in [
        ("userId", alice.clone()),
        ("postId", Value::Null),
        ("points", json!(2)),
        ("comment", json!("Well said.")),
        ("reputation", json!(2)),
    ] {
        assert_eq!(rating[field], value, "{field}");
    }
    assert!(rating["ratingId"].is_string() && rating["createdAt"].is_string());
    let moderators = server.token("mod");
    let for_a_post = for_post(&first_post(&server));
    let rating = rate(&server, &moderators, alice.as_str().unwrap(), &for_a_post).json();
    assert_eq!(
        (&rating["postId"], &rating["reputation"]),
        (&for_a_post["postId"], &json!(3))
    );
    assert_eq!(total(&server, "@alice"), 3);
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let (alice, bob) = (server.token("alice"), server.token("bob"));
    let staff = server.get(&server.token("mod"), "/forums/5/threads").json();
    let hidden = &staff["items"][0];
    let starter = format!("@{}", hidden["author"]["username"].as_str().unwrap());
    let hidden = for_post(hidden["firstPostId"].as_str().unwrap());
    let mods = for_post(&last_post(&server));
    for (token, member, rating, code) in [
        (&alice, "@alice", plain(1), (403, "FORBIDDEN")),
        (&alice, "@ALICE", plain(1), (403, "FORBIDDEN")),
        (&bob, "@alice", plain(0), (422, "VALIDATION")),
        (&bob, "@alice", plain(6), (422, "VALIDATION")),
        (&bob, "@alice", plain(-1), (422, "VALIDATION")),
        (&bob, "@alice", json!({ "points": 1 }), (422, "VALIDATION")),
        (
            &bob,
            "@alice",
            json!({ "points": 1, "comment": " " }),
            (422, "VALIDATION"),
        ),
        (
            &bob,
            "@alice",
            json!({ "points": 1, "comment": "ä".repeat(20_001) }),
            (422, "VALIDATION"),
        ),
        (&bob, "@alice", mods.clone(), (404, "NOT_FOUND")),
        (&bob, &starter, hidden, (404, "NOT_FOUND")),
        (&bob, "@alice", for_post("999"), (404, "NOT_FOUND")),
        (&bob, "@alice", for_post("no id"), (404, "NOT_FOUND")),
        (&bob, "@alice", json!({}), (400, "bad_request")),
        (
            &bob,
            "@alice",
            json!({ "points": "1" }),
            (400, "bad_request"),
        ),
        (
            &bob,
            "@alice",
            json!({ "points": 1.5 }),
            (400, "bad_request"),
        ),
        (
            &bob,
            "@alice",
            json!({ "points": 1, "why": "x" }),
            (400, "bad_request"),
        ),
        (&bob, "@nobody", plain(1), (404, "not_found")),
        (&bob, "999", plain(1), (404, "not_found")),
        (&bob, "01", plain(1), (404, "not_found")),
    ] {
        let refused = rate(&server, token, member, &rating);
        assert_eq!(
            refusal(&refused),
            (code.0, code.1.into()),
            "{member} {rating}"
        );
    }
    assert_eq!(total(&server, "@alice"), 0);
    for rating in [plain(1), for_post(&first_post(&server))] {
        assert_eq!(rate(&server, &bob, "@alice", &rating).status, 201);
        let refused = rate(&server, &bob, "@alice", &rating);
        assert_eq!(refusal(&refused), (409, "CONFLICT".into()));
    }
}

#[test]
fn settings_say_what_a_rating_may_be() {
    let server = Server::new(&[]);
    let (bob, carol) = (server.token("bob"), server.token("carol"));
    let set =
        |key: &str, value: &str| assert_eq!(server.command(&["setting", key, value]).status, 0);
    let bare = json!({ "points": 1 });
    set("reputation.allow_empty_comment", "true");
    let rating = rate(&server, &bob, "@alice", &bare).json();
    assert_eq!(
        (&rating["comment"], &rating["reputation"]),
        (&json!(""), &json!(1))
    );
    set("reputation.allow_negative", "true");
    set("reputation.max_points", "9");
    assert_eq!(rate(&server, &carol, "@alice", &plain(-10)).status, 422);
    assert_eq!(
        rate(&server, &carol, "@alice", &plain(-9)).json()["reputation"],
        -8
    );
    assert_eq!(total(&server, "@alice"), -8);
}

#[test]
fn a_day_has_room_for_so_many_ratings() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    assert_eq!(
        server
            .command(&["setting", "reputation.per_day", "2"])
            .status,
        0
    );
    let statuses = ["@alice", "@nobody", "@bob", "@carol"]
        .map(|name| rate(&server, &bob, name, &plain(1)).status);
    assert_eq!(statuses, [201, 404, 403, 201]);
    let refused = rate(&server, &bob, "@mod", &plain(1));
    assert_eq!(refusal(&refused), (429, "RATE_LIMITED".into()));
    assert!((86_300..=86_400).contains(&number(&refused, "retry-after")));
    assert_eq!(
        rate(&server, &server.token("carol"), "@mod", &plain(1)).status,
        201
    );
}

#[test]
fn what_waits_is_rated_by_those_who_see_it_and_a_banned_member_by_everybody() {
    let server = Server::new(&[]);
    let waiting = for_post(&reply(&server, &server.token("newbie")));
    for (name, status) in [("bob", 404), ("mod", 201), ("admin", 201)] {
        let rated = rate(&server, &server.token(name), "@newbie", &waiting);
        assert_eq!(rated.status, status, "{name}");
    }
    let bob = server.token("bob");
    assert_eq!(rate(&server, &bob, "@mallory", &plain(1)).status, 201);
    assert_eq!(total(&server, "@mallory"), 1);
}

#[test]
fn a_refusal_is_in_the_boards_language() {
    let server = Server::new(&["--language", "de"]);
    let bob = server.token("bob");
    for (member, points, text) in [
        ("@bob", 1, "Sich selbst kann man nicht bewerten."),
        ("@alice", 6, "points: Höchstens 5 sind erlaubt."),
    ] {
        let refused = rate(&server, &bob, member, &plain(points)).json();
        assert_eq!(refused["error"]["message"], text);
    }
}
