//! `webUrl` of resources (`docs/protocol.md`, section 11.4).

use forum_api::host::{RequestInfo, WebPage, WebUrls};
use forum_api::webhook::{Event, EventContext};

use crate::support::*;

const ORIGIN: &str = "https://board.example";

fn web_urls() -> WebUrls {
    WebUrls::new(|page| {
        let path = match page {
            WebPage::Forum(forum) => format!("forums/{forum}"),
            WebPage::Thread(thread) => format!("threads/{thread}"),
            WebPage::Post(thread, post) => format!("threads/{thread}/posts/{post}"),
            WebPage::Member(member) => format!("members/{member}"),
            WebPage::Message(message) => format!("messages/{message}"),
            _ => return None,
        };
        Some(format!("{ORIGIN}/{path}"))
    })
}

/// Returns the path of the page of a resource, which its fields identify.
fn path(resource: &Value) -> String {
    let id = |name: &str| resource[name].as_str().unwrap();
    let has = |name: &str| resource.get(name).is_some();
    if has("messageId") {
        format!("messages/{}", id("messageId"))
    } else if has("number") || resource["kind"] == "post" {
        format!("threads/{}/posts/{}", id("threadId"), id("postId"))
    } else if has("threadId") {
        format!("threads/{}", id("threadId"))
    } else if has("parentId") {
        format!("forums/{}", id("forumId"))
    } else {
        format!("members/{}", id("userId"))
    }
}

/// Returns the objects in a response that have `webUrl`.
fn linked(response: &Value) -> Vec<&Value> {
    let parts: Vec<_> = match response {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let own = response.get("webUrl").map(|_| response);
    own.into_iter().chain(parts.into_iter().flat_map(linked)).collect()
}

/// The operations whose responses have no resource with a page of its own.
const WITHOUT: [&str; 5] = [
    "/members/{userId}/reputation",
    "/threads/{threadId}/poll",
    "/polls/{pollId}/votes",
    "/polls/{pollId}",
    "/subscriptions",
];

#[tokio::test]
async fn resources_have_the_address_of_their_page() {
    let with = Environment::default().web_urls(&web_urls());
    for (environment, is_set) in [(with, true), (Environment::default(), false)] {
        let server = Server::within(environment, settings());
        let alice = server.token("alice").await;
        for row in ROWS.iter().filter(|row| row.success != 204) {
            let response = server.send(&Request::of(row).bearer(&alice)).await.json();
            let resources = linked(&response);
            let is_without = WITHOUT.contains(&row.template);
            assert_eq!(resources.is_empty(), is_without, "{row:?} {response}");
            for resource in resources {
                let expected = is_set.then(|| format!("{ORIGIN}/{}", path(resource)));
                assert_eq!(resource["webUrl"].as_str(), expected.as_deref(), "{row:?}");
            }
        }
    }
}

#[test]
fn an_event_has_the_addresses_of_its_resources_and_keeps_those_of_the_board() {
    let (thread, post) = (fixtures::thread("open-1"), fixtures::post("open-1", 2, "Green."));
    let context = EventContext::new(&thread, "Open");
    let request = RequestInfo::background(fixtures::time());
    let meta = || request.event(fixtures::time()).unwrap();
    let body = |event: Event| serde_json::from_str::<Value>(&event.body).unwrap();
    let plain = body(Event::post_created(meta(), &post, context));
    assert_eq!(plain["data"]["post"]["webUrl"], Value::Null);
    let sent = body(Event::post_created(meta().web_urls(&web_urls()), &post, context));
    assert_eq!(sent["data"]["post"]["webUrl"], format!("{ORIGIN}/threads/open-1/posts/open-1-2"));
    assert_eq!(sent["data"]["thread"]["webUrl"], format!("{ORIGIN}/threads/open-1"));
    let own = Some("https://board.example/tea".to_owned());
    let mut post = post;
    post.web_url = own.clone();
    let sent = body(Event::post_created(meta().web_urls(&web_urls()), &post, context));
    assert_eq!(sent["data"]["post"]["webUrl"].as_str(), own.as_deref());
}
