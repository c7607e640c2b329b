//! `GET /search`.

use serde_json::{Value, json};

use crate::client::{Answer, get, send};
use crate::places::{last_post, reply, tea};
use crate::program::Server;
use crate::road::{Request, all, refusal};

#[test]
fn it_keeps_to_the_road() {
    let request = Request {
        method: "GET",
        path: "/search?q=tea",
        body: "",
        owner: "bob",
        scope: "search:read",
        cost: 10,
        success: 200,
    };
    request.keeps_to_the_open_road();
}

/// A hundred and twenty units are not enough for this file.
fn generous() -> Server {
    Server::new(&["--guest-budget", "10000"])
}

fn search(server: &Server, query: &str) -> Answer {
    get(&server.api(&format!("/search?{query}")))
}

fn titles(answer: &Answer) -> Vec<Value> {
    all(answer, "title")
}

#[test]
fn a_hit_is_told_in_full() {
    let server = generous();
    let answer = search(&server, "q=%22chipped%20spout%22");
    assert_eq!(answer.status, 200);
    let hit = &answer.json()["items"][0];
    assert_eq!(hit["kind"], "post");
    assert_eq!(hit["title"], "Which tea for a rainy afternoon?");
    assert_eq!(hit["author"]["username"], "alice");
    assert_eq!(hit["forumId"], "2");
    let thread = tea(&server);
    let thread = thread.split('/').nth(2).unwrap();
    assert_eq!(hit["threadId"], thread);
    let first = get(&server.api(&tea(&server))).json()["items"][0].clone();
    assert_eq!(
        (&hit["postId"], &hit["createdAt"]),
        (&first["postId"], &first["createdAt"])
    );
    let excerpt = hit["excerpt"].as_str().unwrap();
    assert!(
        excerpt.contains("I used to say Assam, with milk, from the pot with the chipped spout.")
    );
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    assert_eq!(hit.as_object().unwrap().len(), 9);
    assert_eq!(answer.json()["next"], Value::Null);
}

#[test]
fn everybody_finds_what_they_may_read() {
    let server = generous();
    let (alice, admin) = (server.token("alice"), server.token("admin"));
    for (word, guest, member, staff) in [
        ("tea", true, true, true),
        ("introduce", true, true, true),
        ("sellers", false, false, true),
        ("zzz", false, false, false),
    ] {
        let path = format!("/search?q={word}");
        for (answer, finds) in [
            (get(&server.api(&path)), guest),
            (server.get(&alice, &path), member),
            (server.get(&admin, &path), staff),
        ] {
            assert_eq!(answer.status, 200);
            assert_eq!(!titles(&answer).is_empty(), finds, "{word}: {answer:?}");
        }
    }
    let members = "/search?q=the&forum=4";
    assert!(titles(&get(&server.api(members))).is_empty());
    assert!(!titles(&server.get(&alice, members)).is_empty());
}

#[test]
fn a_search_is_narrowed() {
    let server = generous();
    let count = |query: &str| titles(&search(&server, query)).len();
    let everywhere = count("q=tea&limit=100");
    let (general, help) = (count("q=tea&forum=2"), count("q=tea&forum=3"));
    assert!(help > 0 && general > help && general < everywhere);
    assert_eq!(count("q=tea&forum=1,2&limit=100"), everywhere);
    assert_eq!(count("q=tea&forum=5"), 0);
    assert_eq!(count("q=tea&forum=x,-"), 0);
    assert!(count("q=tea&by=@Alice") > 0);
    assert_eq!(count("q=tea&by=@nobody") + count("q=tea&by=999"), 0);
    assert_eq!(count("q=tea&in=titles"), 1);
    assert_eq!(count("q=rainy&in=posts"), 0);
    assert_eq!(count("q=tea&when=24h"), 0);
    assert_eq!(count("q=tea&when=1y"), everywhere - 1);
    assert_eq!(count("q=tea&when=2000-01-01..&limit=100"), everywhere);
    assert_eq!(count("q=tea%20-green&limit=100"), everywhere - 1);
    let threads = search(&server, "q=tea&show=threads");
    assert!(all(&threads, "kind").iter().all(|kind| kind == "thread"));
    let mut ids: Vec<String> = all(&threads, "threadId")
        .iter()
        .map(Value::to_string)
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), titles(&threads).len());
}

#[test]
fn hits_come_in_order_and_in_pages() {
    let server = generous();
    for sort in ["relevance", "newest", "oldest"] {
        for show in ["posts", "threads"] {
            let query = format!("q=the&sort={sort}&show={show}");
            let whole = search(&server, &format!("{query}&limit=100")).json();
            let whole = whole["items"].as_array().unwrap().clone();
            let (mut walked, mut path) = (Vec::new(), format!("/search?{query}&limit=3"));
            loop {
                let page = get(&server.api(&path)).json();
                walked.extend(page["items"].as_array().unwrap().clone());
                let Some(next) = page["next"].as_str() else {
                    break;
                };
                path = format!("/search?{query}&limit=3&after={next}");
            }
            assert_eq!(walked, whole, "{query}");
            let key = if sort == "relevance" {
                "score"
            } else {
                "createdAt"
            };
            let keys: Vec<_> = whole.iter().map(|hit| hit[key].clone()).collect();
            let fine = keys.is_sorted_by(|a, b| match sort {
                "relevance" => a.as_f64() >= b.as_f64(),
                "newest" => a.as_str() >= b.as_str(),
                _ => a.as_str() <= b.as_str(),
            });
            assert!(fine, "{query}: {keys:?}");
        }
    }
}

#[test]
fn what_is_written_and_deleted_shows_at_once() {
    let server = generous();
    let bob = server.token("bob");
    let finds = |word: &str| titles(&search(&server, &format!("q={word}"))).len();
    assert_eq!(finds("quokka"), 0);
    let body = json!({ "body": "A quokka drinks tea." });
    assert_eq!(server.post(&bob, &tea(&server), &body).status, 201);
    assert_eq!(finds("quokka"), 1);
    let post = last_post(&server);
    let body = json!({ "body": "A wombat drinks tea." }).to_string();
    assert_eq!(server.ask("PATCH", &bob, &post, &body).status, 200);
    assert_eq!((finds("quokka"), finds("wombat")), (0, 1));
    assert_eq!(server.ask("DELETE", &bob, &post, "").status, 204);
    assert_eq!(finds("wombat"), 0);
    let id = post.rsplit('/').next().unwrap();
    assert_eq!(server.command(&["post", "restore", id]).status, 0);
    assert_eq!(finds("wombat"), 1);
    let waiting = reply(&server, &server.token("newbie"));
    assert_eq!(finds("black"), 0);
    let id = waiting.rsplit('/').next().unwrap();
    assert_eq!(server.command(&["post", "approve", id]).status, 0);
    assert_eq!(finds("black"), 1);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let server = generous();
    let next = search(&server, "q=tea&limit=1").json()["next"].clone();
    let foreign = format!("q=tea&limit=1&sort=newest&after={}", next.as_str().unwrap());
    let long = format!("q={}", "x".repeat(201));
    for (query, name) in [
        ("", "q"),
        ("q=", "q"),
        ("q=-tea", "q"),
        ("q=!?", "q"),
        (&*long, "q"),
        ("q=tea&when=..", "when"),
        ("q=tea&when=2d", "when"),
        ("q=tea&forum=,", "forum"),
        ("q=tea&by=@", "by"),
        ("q=tea&in=bodies", "in"),
        ("q=tea&show=all", "show"),
        ("q=tea&sort=best", "sort"),
        ("q=tea&limit=0", "limit"),
        ("q=tea&after=x", "after"),
        (&*foreign, "after"),
        ("q=tea&page=2", "page"),
        ("q=tea&q=cup", "q"),
    ] {
        let refused = search(&server, query);
        assert_eq!(refusal(&refused), (400, "bad_request".into()), "{query}");
        let message = refused.json()["error"]["message"].clone();
        assert!(message.as_str().unwrap().starts_with(name), "{message}");
    }
    let posted = send("POST", &server.api("/search?q=tea"), &[], "");
    assert_eq!(refusal(&posted), (404, "no_such_route".into()));
}
