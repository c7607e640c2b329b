//! `POST /threads/{threadId}/posts`.

use serde_json::{Value, json};

use crate::client::get;
use crate::places::{first_post, new_thread, staff_thread, tea};
use crate::program::Server;
use crate::road::{Request, all, number, refusal};

fn plain() -> Value {
    json!({ "body": "With *milk*." })
}

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "POST",
        path: "/threads/1/posts",
        body: &plain().to_string(),
        owner: "bob",
        scope: "posts:write",
        cost: 5,
        success: 201,
    };
    request.keeps_to_the_road();
}

#[test]
fn the_reply_is_answered_and_found_by_everybody() {
    let server = Server::new(&[]);
    let (bob, tea) = (server.token("bob"), tea(&server));
    let before = get(&server.api(&tea)).json();
    let replied = server.post(&bob, &tea, &plain());
    assert_eq!((replied.status, replied.header("location")), (201, None));
    let post = replied.json();
    for (field, value) in [
        ("threadId", before["items"][0]["threadId"].clone()),
        ("number", json!(7)),
        ("state", json!("visible")),
        ("editedAt", Value::Null),
        ("editedBy", Value::Null),
        ("body", json!("With *milk*.")),
        ("bodyHtml", json!("<p>With <em>milk</em>.</p>\n")),
        ("canEdit", json!(true)),
        ("canDelete", json!(true)),
        ("version", json!(1)),
    ] {
        assert_eq!(post[field], value, "{field}");
    }
    assert_eq!(post["author"]["username"], "bob");
    let list = server.get(&bob, &tea).json();
    assert_eq!(list["items"][6], post);
    let seen = get(&server.api(&tea));
    assert_eq!(all(&seen, "postId")[6], post["postId"]);
}

#[test]
fn who_replies_may_follow() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let reply = json!({ "body": "x", "subscribe": true });
    assert_eq!(server.post(&bob, "/threads/1/posts", &reply).status, 201);
    let followed = all(&server.get(&bob, "/subscriptions"), "targetId");
    assert_eq!(followed, ["1"]);
}

#[test]
fn each_refusal_has_its_kind() {
    let server = Server::new(&[]);
    let bob = server.token("bob");
    let waiting = new_thread(&server, &server.token("newbie"));
    let (invalid, unusable, absent) = (
        (422, "VALIDATION"),
        (400, "bad_request"),
        (404, "not_found"),
    );
    for (thread, body, outcome) in [
        ("/threads/1", json!({}), invalid),
        ("/threads/1", json!({ "body": " \n" }), invalid),
        ("/threads/1", json!({ "body": "ä".repeat(20_001) }), invalid),
        ("/threads/1", json!({ "body": null }), unusable),
        ("/threads/1", json!({ "body": ["x"] }), unusable),
        ("/threads/1", json!({ "body": "x", "title": "y" }), unusable),
        ("/threads/1", json!([]), unusable),
        (&staff_thread(&server), plain(), absent),
        (&waiting, plain(), absent),
        ("/threads/999", plain(), absent),
        ("/threads/007", plain(), absent),
    ] {
        let refused = server.post(&bob, &format!("{thread}/posts"), &body);
        assert_eq!(
            refusal(&refused),
            (outcome.0, outcome.1.into()),
            "{thread} {body}"
        );
    }
    let posts = get(&server.api("/threads/1/posts"));
    assert_eq!(all(&posts, "number").len(), 4);
}

#[test]
fn a_locked_thread_is_for_moderators_and_a_hidden_one_for_nobody() {
    let server = Server::new(&[]);
    let (bob, moderator, tea) = (server.token("bob"), server.token("mod"), tea(&server));
    let answers = || [&bob, &moderator].map(|token| refusal(&server.post(token, &tea, &plain())));
    let (fine, forbidden) = ((201, String::new()), (403, "FORBIDDEN".to_owned()));
    let id = tea.split('/').nth(2).unwrap();
    assert_eq!(server.command(&["thread", "lock", id]).status, 0);
    assert_eq!(answers(), [forbidden.clone(), fine.clone()]);
    assert_eq!(server.command(&["thread", "unlock", id]).status, 0);
    assert_eq!(answers(), [fine.clone(), fine]);
    let first = first_post(&server);
    assert_eq!(server.ask("DELETE", &moderator, &first, "").status, 204);
    assert_eq!(answers(), [(404, "not_found".into()), forbidden]);
}

#[test]
fn who_may_reply_is_the_forums_matter() {
    let server = Server::new(&[]);
    let add = ["forum", "add", "News", "--reply", "staff"];
    let forum = server.command(&add).out;
    let path = format!("/forums/{}/threads", forum.trim_end());
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    let new = json!({ "title": "x", "body": "y" });
    let thread = server.post(&bob, &path, &new).json();
    let posts = format!("/threads/{}/posts", thread["threadId"].as_str().unwrap());
    let answers = [&bob, &moderator].map(|token| server.post(token, &posts, &plain()));
    let outcomes = answers.map(|answer| refusal(&answer));
    assert_eq!(outcomes, [(403, "FORBIDDEN".into()), (201, String::new())]);
}

#[test]
fn flood_rules_bind_members_and_the_interval_spares_staff() {
    let server = Server::new(&[]);
    let (bob, moderator) = (server.token("bob"), server.token("mod"));
    let outcome = |token: &str| refusal(&server.post(token, "/threads/1/posts", &plain()));
    let (fine, too_soon) = ((201, String::new()), (422, "VALIDATION".into()));
    assert_eq!([outcome(&bob), outcome(&bob)], [fine.clone(), too_soon]);
    assert_eq!(
        [outcome(&moderator), outcome(&moderator)],
        [fine.clone(), fine]
    );
    let most = ["setting", "post.per_hour", "2"];
    assert_eq!(server.command(&most).status, 0);
    let refused = server.post(&moderator, "/threads/1/posts", &plain());
    assert_eq!(refusal(&refused), (429, "RATE_LIMITED".into()));
    assert!((3500..=3600).contains(&number(&refused, "retry-after")));
}

#[test]
fn a_newcomers_reply_awaits_approval() {
    let server = Server::new(&[]);
    let newbie = server.token("newbie");
    let post = server.post(&newbie, "/threads/1/posts", &plain()).json();
    assert_eq!(post["state"], "awaiting_approval");
    let numbers = |posts| all(&posts, "number").len();
    assert_eq!(numbers(server.get(&newbie, "/threads/1/posts")), 5);
    assert_eq!(numbers(get(&server.api("/threads/1/posts"))), 4);
    let thread = get(&server.api("/threads/1")).json();
    assert_eq!(thread["replyCount"], 3);
}
