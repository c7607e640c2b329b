//! The board behind the API.

use http::HeaderName;
use serde_json::Value;

use super::{Audience, Part, Role, Suite, Verdict, equal, holds};
use crate::model::ThreadId;
use crate::test_util::{Answer, TestBoard};

board_rules!(
    mod service;

    /// Every read that names nothing hidden is answered, to members and guests alike.
    async fn reads_are_answered_to_members_and_guests(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        let api = suite.api();
        let mut callers = vec![api.as_member(&alice.id().to_string())];
        callers.extend(suite.guest().is_ok().then(|| api.as_guest()));
        for caller in callers {
            for path in [
                "/forums".to_owned(),
                format!("/forums/{forum}/threads"),
                format!("/threads/{thread}"),
                format!("/threads/{thread}/posts"),
                format!("/members/{}", alice.id()),
                "/members/@alice".to_owned(),
            ] {
                let answer = caller.get(&path).await;
                let found = answer.status;
                equal(format_args!("GET {path}: {}", answer.json()), found, 200)?;
            }
        }
        Ok(())
    }

    /// A hidden thread and one that never was are the same answer, byte for byte.
    async fn hidden_and_absent_are_the_same_bytes(suite: &Suite) -> Verdict {
        let forum = suite.forum(Audience::Staff).await?;
        let (sam, alice) = (
            suite.join("sam", Role::Staff).await?,
            suite.member("alice").await?,
        );
        let hidden = suite.thread(&sam, &forum).await?.thread;
        let absent = ThreadId::from(987_654_321);
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        let post = serde_json::json!({ "body": "Some words" });
        for rest in ["", "/posts", "/poll"] {
            let (one, other) = (
                format!("/threads/{hidden}{rest}"),
                format!("/threads/{absent}{rest}"),
            );
            if rest != "/poll" || suite.needs(Part::Polls).is_ok() {
                let (one, other) = (client.get(&one).await, client.get(&other).await);
                let what = format_args!("GET /threads/{{threadId}}{rest}");
                let found = bare(&one);
                equal(what, found, bare(&other))?;
                equal("the status", one.status, 404)?;
            }
        }
        let (one, other) = (
            client
                .post(&format!("/threads/{hidden}/posts"), &post)
                .await,
            client
                .post(&format!("/threads/{absent}/posts"), &post)
                .await,
        );
        equal("POST /threads/{threadId}/posts", bare(&one), bare(&other))
    }

    /// Between two requests with the same token, what was hidden is gone, and who was banned is refused.
    async fn a_token_never_outlives_its_owners_standing(suite: &Suite) -> Verdict {
        suite.needs(Part::HiddenForums)?;
        suite.needs(Part::Bans)?;
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        let api = suite.api();
        let client = api.as_member(&alice.id().to_string());
        let path = format!("/threads/{thread}");
        equal("at first", told(&client.get(&path).await), (200, None))?;
        suite.stage.set_readers(&forum, Audience::Staff).await?;
        let found = told(&client.get(&path).await);
        equal("hidden", found, (404, Some("not_found")))?;
        suite.stage.set_banned(&alice.id(), true).await?;
        let found = told(&client.get(&path).await);
        equal("banned", found, (403, Some("owner_unavailable")))
    }

    /// While the board is offline, administrators alone get answers.
    async fn an_offline_board_answers_administrators_alone(suite: &Suite) -> Verdict {
        suite.needs(Part::Offline)?;
        let (alice, ada) = (
            suite.member("alice").await?,
            suite.join("ada", Role::Administrator).await?,
        );
        suite.stage.set_offline(true).await?;
        let api = suite.api();
        for (someone, answer) in [(alice, (503, Some("board_offline"))), (ada, (200, None))] {
            let client = api.as_member(&someone.id().to_string());
            equal(someone.name(), told(&client.get("/forums").await), answer)?;
        }
        Ok(())
    }

    /// Cursors lead through a list to its end.
    async fn cursors_lead_to_the_end(suite: &Suite) -> Verdict {
        let (forum, alice) = suite.forum_and_member().await?;
        let thread = suite.thread(&alice, &forum).await?.thread;
        for _ in 0..4 {
            suite.thread(&alice, &forum).await?;
            suite.post(&alice, &thread).await?;
        }
        let (api, reader) = (suite.api(), alice.id().to_string());
        for list in [
            format!("/forums/{forum}/threads"),
            format!("/threads/{thread}/posts"),
        ] {
            let items = walk(&api, &reader, &list).await?;
            equal(format_args!("the items of {list}"), items, 5)?;
        }
        Ok(())
    }
);

/// An answer without what differs between any two.
fn bare(answer: &Answer) -> (u16, Vec<(HeaderName, Vec<u8>)>, Value) {
    let varies = |name: &str| name.starts_with("x-ratelimit-") || name == "x-request-id";
    let headers = answer
        .headers
        .iter()
        .filter(|(name, _)| !varies(name.as_str()));
    let headers = headers.map(|(name, value)| (name.clone(), value.as_bytes().to_vec()));
    let mut body = answer.json();
    if let Some(error) = body.pointer_mut("/error/requestId") {
        *error = Value::Null;
    }
    (answer.status, headers.collect(), body)
}

/// How many items a list has, read by two.
async fn walk(api: &TestBoard, reader: &str, list: &str) -> Verdict<usize> {
    let (client, mut items, mut after) = (api.as_member(reader), 0, String::new());
    for _ in 0..10 {
        let page = client.get(&format!("{list}?limit=2{after}")).await;
        let found = page.status;
        equal(format_args!("GET {list}: {}", page.json()), found, 200)?;
        let page = page.json();
        items += page
            .get("items")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        match page.get("next").and_then(Value::as_str) {
            Some(next) => after = format!("&after={next}"),
            None => return Ok(items),
        }
    }
    holds(format_args!("{list} comes to an end"), false)?;
    Ok(items)
}

fn told(answer: &Answer) -> (u16, Option<&'static str>) {
    (answer.status, answer.code())
}
