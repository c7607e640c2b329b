//! The board behind the API.

use std::time::Duration;

use http::HeaderName;
use serde_json::{Value, json};

use super::*;
use crate::test_util::{TestClient, TestResponse};

board_rules! {
    mod service, __rules_service;

    /// Members and guests can read visible resources through the API: 200.
    async fn members_and_guests_can_read_visible_resources(suite: &Suite) -> TestResult {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        let api = suite.api();
        let mut clients = vec![api.as_member(&alice.id().to_string())];
        clients.extend(suite.guest().is_ok().then(|| api.as_guest()));
        for client in clients {
            for (id, capability, path) in [
                ("listForums", Capability::Threads, "/forums".to_owned()),
                ("listThreads", Capability::Threads, format!("/forums/{forum}/threads")),
                ("getThread", Capability::Threads, format!("/threads/{thread}")),
                ("listPosts", Capability::Posts, format!("/threads/{thread}/posts")),
                ("getMember", Capability::Profiles, format!("/members/{}", alice.id())),
                ("getMember", Capability::Profiles, "/members/@alice".to_owned()),
            ] {
                if suite.require_operation(id, capability).is_err() {
                    continue;
                }
                let response = client.get(&path).await;
                check_eq!(response.status, 200, "GET {path}: {}", response.json())?;
            }
        }
        Ok(())
    }

    /// The responses for a hidden and for a missing thread are identical.
    async fn hidden_and_missing_resources_have_equal_responses(suite: &Suite) -> TestResult {
        let (forum, sam, alice) = suite.staff_forum().await?;
        let hidden = suite.thread(&sam, &forum).await?.thread_id;
        let absent = ThreadId::from(987_654_321);
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        for (id, capability, rest) in [
            ("getThread", Capability::Threads, ""),
            ("listPosts", Capability::Posts, "/posts"),
            ("getPoll", Capability::Polls, "/poll"),
        ] {
            if suite.require_operation(id, capability).is_err() {
                continue;
            }
            let one = client.get(&format!("/threads/{hidden}{rest}")).await;
            let other = client.get(&format!("/threads/{absent}{rest}")).await;
            check_eq!(comparable(&one), comparable(&other), "GET /threads/{{threadId}}{rest}")?;
            check_eq!(one.status, 404)?;
        }
        if suite.require_operation("createPost", Capability::Replies).is_err() {
            return Ok(());
        }
        let post = json!({ "body": "Some words" });
        let one = client.post(&format!("/threads/{hidden}/posts"), &post).await;
        let other = client.post(&format!("/threads/{absent}/posts"), &post).await;
        check_eq!(comparable(&one), comparable(&other), "POST /threads/{{threadId}}/posts")
    }

    /// A token does not give access that its owner has lost since the previous request: a thread whose forum became
    /// hidden is 404 `not_found`, and a banned owner gets 403 `owner_unavailable`.
    async fn a_token_never_outlives_its_owners_access(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        suite.require(Capability::Bans)?;
        suite.require_operation("getThread", Capability::Threads)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let path = format!("/threads/{}", suite.thread(&alice, &forum).await?.thread_id);
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        check_eq!(status_and_code(&client.get(&path).await), (200, None))?;
        suite.fixture.set_readers(&forum, Audience::Staff).await?;
        check_eq!(status_and_code(&client.get(&path).await), (404, Some(ErrorCode::PathNotFound)))?;
        suite.require(Capability::BansRevokeAccess)?;
        suite.fixture.set_banned(&alice.id(), true).await?;
        check_eq!(status_and_code(&client.get(&path).await), (403, Some(ErrorCode::OwnerUnavailable)))
    }

    /// While the board is offline, all callers except administrators get 503 `board_offline`.
    async fn an_offline_board_serves_only_administrators(suite: &Suite) -> TestResult {
        suite.require(Capability::Offline)?;
        suite.require_operation("listForums", Capability::Threads)?;
        let alice = suite.member("alice").await?;
        let ada = suite.admin("ada").await?;
        suite.fixture.set_offline(true).await?;
        let api = suite.api();
        for (caller, expected) in [(alice, (503, Some(ErrorCode::BoardOffline))), (ada, (200, None))] {
            let client = api.as_member(&caller.id().to_string());
            check_eq!(status_and_code(&client.get("/forums").await), expected, "{caller:?}")?;
        }
        Ok(())
    }

    /// A field has the same path in a 400 of the library and in a 422 of the board: in the header `x-error-field`, and at
    /// the beginning of the message.
    async fn a_field_has_the_same_path_in_all_errors(suite: &Suite) -> TestResult {
        suite.require_operation("createThread", Capability::StartingThreads)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        let path = format!("/forums/{forum}/threads");
        let with_text = |field: &str, text: Value| match field {
            "title" => json!({ "title": text, "body": "Tea?" }),
            "body" => json!({ "title": "Tea", "body": text }),
            "poll.question" => with_poll(&json!({ "question": text, "options": ["Yes", "No"] })),
            _ => with_poll(&json!({ "question": "Tea?", "options": ["Yes", text] })),
        };
        for field in ["title", "body", "poll.question", "poll.options[1]"] {
            if field.starts_with("poll") && suite.require_operation("getPoll", Capability::Polls).is_err() {
                continue;
            }
            for (value, status) in [(json!(7), 400), (json!(" "), 422)] {
                suite.advance(Duration::from_secs(60));
                let body = with_text(field, value);
                let response = client.post(&path, &body).await;
                let error = response.json();
                check_eq!(response.status, status, "POST {path} {body}: {error}")?;
                check_eq!(response.header("x-error-field"), Some(field), "POST {path} {body}: {error}")?;
                let message = error.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
                check!(message.starts_with(&format!("{field}: ")), "{message} begins with the field")?;
            }
        }
        Ok(())
    }

    /// Cursors lead from the first to the last page of a list.
    async fn cursors_reach_the_last_page(suite: &Suite) -> TestResult {
        suite.require_operation("listThreads", Capability::Threads)?;
        suite.require_operation("listPosts", Capability::Posts)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread_id;
        for _ in 0..4 {
            suite.thread(&alice, &forum).await?;
            suite.post(&alice, &thread).await?;
        }
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        for list in [format!("/forums/{forum}/threads"), format!("/threads/{thread}/posts")] {
            check_eq!(count_items(&client, &list).await?, 5, "the items of {list}")?;
        }
        Ok(())
    }
}

/// Returns the body of a new thread with a poll.
fn with_poll(poll: &Value) -> Value {
    json!({ "title": "Tea", "body": "Tea?", "poll": poll })
}

/// Returns a response without the headers and fields that differ for each request.
pub(super) fn comparable(response: &TestResponse) -> (u16, Vec<(HeaderName, Vec<u8>)>, Value) {
    let headers = response
        .headers
        .iter()
        .filter(|(name, _)| !name.as_str().starts_with("x-ratelimit-") && *name != "x-request-id")
        .map(|(name, value)| (name.clone(), value.as_bytes().to_vec()));
    let mut body = response.json();
    if let Some(id) = body.pointer_mut("/error/requestId") {
        *id = Value::Null;
    }
    (response.status, headers.collect(), body)
}

/// Returns the number of items of a list, read in pages of two.
async fn count_items(client: &TestClient<'_>, list: &str) -> TestResult<usize> {
    let mut count = 0;
    let mut path = format!("{list}?limit=2");
    for _ in 0..10 {
        let page = client.get(&path).await;
        check_eq!(page.status, 200, "GET {path}: {}", page.json())?;
        let page = page.json();
        let items = page.get("items").and_then(Value::as_array);
        count += items.map_or(0, Vec::len);
        match page.get("next").and_then(Value::as_str) {
            Some(next) => path = format!("{list}?limit=2&after={next}"),
            None => return Ok(count),
        }
    }
    check!(false, "{list} has at most 10 pages").map(|()| count)
}

pub(super) fn status_and_code(response: &TestResponse) -> (u16, Option<ErrorCode>) {
    (response.status, response.code())
}
