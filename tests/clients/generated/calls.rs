//! Typical calls through the Rust client of openapi-generator, with values of a later version in responses.

use openapi::apis::Error;
use openapi::apis::configuration::Configuration;
use openapi::apis::{events_api, me_api, posts_api, search_api, threads_api};
use openapi::models::{ErrorBody, PostInput};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let variable = |name| std::env::var(name).unwrap();
    let board = Configuration {
        base_path: variable("API"),
        bearer_access_token: Some(variable("TOKEN")),
        ..Configuration::default()
    };
    let me = me_api::get_me(&board, None).await.unwrap();
    assert_eq!(me.owner.username, "alice");

    // Not from `since`: the generated client writes times in another format than RFC 3339.
    let latest = events_api::list_events(&board, None, None, None, None, None).await.unwrap().next;

    let body = PostInput::new("Sent from Rust.".into());
    let reply = posts_api::create_post(&board, "16", body, None).await.unwrap();
    assert_eq!(reply.state, "of_a_later_version");
    let feed = events_api::list_events(&board, latest.as_deref(), None, None, None, None).await.unwrap();
    assert!(feed.items.iter().all(|event| event.topic == "of_a_later_version"));
    let mut changed = feed.items.iter().filter_map(|event| event.data.post.as_ref());
    assert!(changed.any(|post| post.post_id == reply.post_id));
    let mut posts = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = posts_api::list_posts(&board, "16", Some(3), after.as_deref(), None, None, None, None, None)
            .await
            .unwrap();
        posts.extend(page.items.into_iter().map(|post| post.post_id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(posts.len() > 3 && posts.contains(&reply.post_id));

    let hits = search_api::search(&board, Some("Rust"), None, None, None, None, None, None, None, None, None);
    assert!(hits.await.unwrap().items.iter().any(|hit| hit.post_id == reply.post_id));

    let Err(Error::ResponseError(refused)) = threads_api::get_thread(&board, "unknown", None).await else {
        panic!("an unknown thread");
    };
    let error: ErrorBody = serde_json::from_str(&refused.content).unwrap();
    assert_eq!((refused.status.as_u16(), &*error.error.code), (404, "not_found"));
}
