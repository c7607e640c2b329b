//! Every documented status and error code of every endpoint, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use forum_api::host::{
    Board, BoardError, BoardResult, Caller, InForum, MemberCaller, OverloadedError, ResourceRef,
};
use forum_api::model::*;
use forum_api::test_util::TestResponse;
use forum_api::{ApiSettings, Language, async_trait, board_methods};
use serde_json::Value;

use crate::fixture::Fixture;

/// Operation, caller of a successful request, its path and its body.
type Example = (&'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const EXAMPLES: &[Example] = &[
    ("getMe", "bob", "/me", ""),
    ("listForums", "bob", "/forums", ""),
    ("listThreads", "bob", "/forums/2/threads", ""),
    ("createThread", "alice", "/forums/2/threads", r#"{"title":"Sugar","body":"White?"}"#),
    ("getThread", "bob", "/threads/1", ""),
    ("listPosts", "bob", "/threads/1/posts", ""),
    ("createPost", "carol", "/threads/1/posts", r#"{"body":"Brown."}"#),
    ("updatePost", "mod", "/threads/{thread}/posts/{post}", r#"{"body":"None."}"#),
    ("deletePost", "mod", "/threads/{thread}/posts/{post}", ""),
    ("getMember", "bob", "/members/@alice", ""),
    ("rateMember", "bob", "/members/@alice/reputation", r#"{"points":1,"comment":"Well said."}"#),
    ("listMessages", "bob", "/messages", ""),
    ("sendMessage", "carol", "/messages", r#"{"to":["@alice"],"subject":"Tea","body":"Today?"}"#),
    ("openMessage", "bob", "/messages/{message}", ""),
    ("getPoll", "bob", "/threads/{thread}/poll", ""),
    ("vote", "carol", "/polls/{poll}/votes", r#"{"optionIds":["{option}"]}"#),
    ("updatePoll", "mod", "/polls/{poll}", r#"{"question":"Which?"}"#),
    ("listSubscriptions", "bob", "/subscriptions", ""),
    ("subscribe", "bob", "/subscriptions", r#"{"target":"forum","targetId":"2"}"#),
    ("unsubscribe", "alice", "/subscriptions/forum/2", ""),
    ("search", "bob", "/search?q=tea", ""),
];

/// An operation of the document, with a successful request.
struct Operation {
    id: String,
    method: String,
    scope: String,
    cost: u32,
    serves_guests: bool,
    caller: &'static str,
    path: String,
    body: String,
    /// The path with ids that do not exist; `None` if the path has no ids.
    absent: Option<String>,
    /// Statuses with an error code, or with an empty text for a success.
    documented: BTreeSet<(u16, String)>,
}

impl Operation {
    fn request<'a>(&'a self, path: &'a str) -> (&'a str, &'a str, &'a str) {
        (&self.method, path, &self.body)
    }

    fn check_headers(&self, success: &TestResponse) {
        let number = |name| success.header(name).unwrap().parse::<u32>().unwrap();
        let cost = number("x-ratelimit-limit") - number("x-ratelimit-remaining");
        assert_eq!(cost, self.cost, "{}", self.id);
        let is_private = self.path == "/me" || self.path.starts_with("/messages");
        let cached = if is_private {
            "no-store"
        } else {
            "private, no-cache"
        };
        let json = (success.status != 204).then_some("application/json");
        for (name, value) in [
            ("cache-control", Some(cached)),
            ("content-type", json),
            ("vary", Some("authorization")),
            ("x-content-type-options", Some("nosniff")),
        ] {
            assert_eq!(success.header(name), value, "{} {name}", self.id);
        }
    }
}

#[tokio::test]
async fn every_documented_status_of_every_endpoint_is_produced_and_no_other() {
    let fixture = Fixture::new(ApiSettings::default(), Language::English).await;
    let document = fixture
        .send(None, ("GET", "/openapi.json", ""), &[])
        .await
        .json();
    let scopes = document["info"]["x-scopes"].as_object().unwrap();
    let scopes: Vec<_> = scopes.keys().map(String::as_str).collect();
    let mut settings = ApiSettings::default();
    settings.token_budget.units = 200;
    let mut operations = 0;
    for (template, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let mut fixture = Fixture::new(settings.clone(), Language::English).await;
            let operation = operation(&document, template, method, described, &fixture).await;
            let produced = produced(&operation, &mut fixture, &scopes).await;
            assert_eq!(produced, operation.documented, "{}", operation.id);
            operations += 1;
        }
    }
    assert_eq!(operations, EXAMPLES.len());
}

async fn operation(
    document: &Value,
    template: &str,
    method: &str,
    described: &Value,
    fixture: &Fixture,
) -> Operation {
    let id = described["operationId"].as_str().unwrap();
    let example = EXAMPLES.iter().find(|(known, ..)| *known == id);
    let (_, caller, path, body) = example.unwrap_or_else(|| panic!("{id} has no example"));
    let ids = ids(fixture).await;
    let fill = |text: &str| {
        let put = |text: String, (name, value): (&&str, &String)| text.replace(name, value);
        ids.iter().fold(text.to_owned(), put)
    };
    let segments = template.split('/').zip(path.split('/'));
    let absent = segments.map(|(segment, value)| match segment {
        _ if segment.starts_with('{') => "999",
        _ => value,
    });
    let absent = absent.collect::<Vec<_>>().join("/");
    Operation {
        id: id.into(),
        method: method.to_uppercase(),
        scope: described["x-scope"].as_str().unwrap().into(),
        cost: described["x-ratelimit-cost"].as_u64().unwrap() as u32,
        serves_guests: described["security"].as_array().unwrap().len() == 2,
        caller,
        path: fill(path),
        body: fill(body),
        absent: template.contains('{').then_some(absent),
        documented: documented(document, described),
    }
}

/// Ids on the demo board.
async fn ids(fixture: &Fixture) -> BTreeMap<&'static str, String> {
    let read = async |caller, path| {
        let scopes: &[_] = &["threads:read", "posts:read", "messages:read"];
        fixture
            .send(Some((caller, scopes)), ("GET", path, ""), &[])
            .await
            .json()
    };
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    let threads = read("bob", "/forums/2/threads").await;
    let thread = &threads["items"][0];
    let poll = format!("/threads/{}/poll", id(&thread["threadId"]));
    let poll = read("bob", &poll).await;
    let messages = read("bob", "/messages").await;
    BTreeMap::from([
        ("{thread}", id(&thread["threadId"])),
        ("{post}", id(&thread["lastPost"]["postId"])),
        ("{message}", id(&messages["items"][0]["messageId"])),
        ("{poll}", id(&poll["pollId"])),
        ("{option}", id(&poll["options"][0]["optionId"])),
    ])
}

fn documented(document: &Value, described: &Value) -> BTreeSet<(u16, String)> {
    let mut all = BTreeSet::new();
    for (status, response) in described["responses"].as_object().unwrap() {
        let reference = response["$ref"].as_str().map(|reference| &reference[1..]);
        let response = reference.map_or(response, |path| document.pointer(path).unwrap());
        let examples = response.pointer("/content/application~1json/examples");
        let status: u16 = status.parse().unwrap();
        match examples.and_then(Value::as_object) {
            Some(examples) if status >= 400 => {
                all.extend(examples.keys().map(|code| (status, code.clone())));
            }
            _ => all.extend([(status, String::new())]),
        }
    }
    all
}

/// Sends the request in every way that leads to another result.
async fn produced(
    operation: &Operation,
    fixture: &mut Fixture,
    scopes: &[&str],
) -> BTreeSet<(u16, String)> {
    let scope = [&*operation.scope];
    let caller = Some((operation.caller, &scope[..]));
    let request = operation.request(&operation.path);
    if operation.id == "unsubscribe" {
        let follow = (
            "POST",
            "/subscriptions",
            r#"{"target":"forum","targetId":"2"}"#,
        );
        let other_token = Some((operation.caller, scopes));
        assert_eq!(fixture.send(other_token, follow, &[]).await.status, 201);
    }
    let key = [("idempotency-key", "key")];
    let key = if operation.method == "POST" {
        &key[..]
    } else {
        &[]
    };
    let success = fixture.send(caller, request, key).await;
    operation.check_headers(&success);
    let mut answers = vec![success.clone()];
    if let Some(etag) = success.header("etag") {
        answers.push(
            fixture
                .send(caller, request, &[("if-none-match", etag)])
                .await,
        );
    }
    if operation.id == "subscribe" {
        answers.push(fixture.send(caller, request, &[]).await);
    }
    let mark = if operation.path.contains('?') {
        '&'
    } else {
        '?'
    };
    let unknown_field = format!("{}{mark}x=1", operation.path);
    let unknown_field = operation.request(&unknown_field);
    answers.push(fixture.send(caller, unknown_field, &[]).await);
    let malformed = [("authorization", "Bearer forum_pat_x_y")];
    answers.push(fixture.send(None, request, &malformed).await);
    let guest = fixture.send(None, request, &[]).await.status;
    assert_eq!(guest != 401, operation.serves_guests, "{}", operation.id);
    let mut other_scopes = scopes.to_vec();
    other_scopes.retain(|other| *other != operation.scope);
    answers.push(
        fixture
            .send(Some((operation.caller, &other_scopes)), request, &[])
            .await,
    );
    answers.push(fixture.send(Some(("mallory", &scope)), request, &[]).await);
    if let Some(absent) = &operation.absent {
        let absent = operation.request(absent);
        answers.push(fixture.send(caller, absent, &[]).await);
    }
    fixture.command("offline").await;
    answers.push(fixture.send(caller, request, &[]).await);
    fixture.command("online").await;
    let mut outcomes: BTreeSet<_> = answers.iter().map(outcome).collect();

    let refusals = if operation.method == "GET" {
        &FAILURES[..]
    } else {
        &ALL_REFUSALS
    };
    for refuse in refusals {
        fixture.replace_board(Arc::new(RefusingBoard(*refuse)));
        outcomes.insert(outcome(&fixture.send(caller, request, &[]).await));
    }
    fixture.replace_board(Arc::new(EmptyBoard));
    outcomes.insert(outcome(&fixture.send(caller, request, &[]).await));
    let spent = loop {
        let next = fixture.send(Some(("admin", &scope)), request, &[]).await;
        if next.status == 429 {
            break next;
        }
    };
    assert!(spent.header("retry-after").is_some());
    outcomes.insert(outcome(&spent));
    outcomes
}

fn outcome(answer: &TestResponse) -> (u16, String) {
    let code = answer.code().map_or("", ErrorCode::as_str);
    (answer.status, code.into())
}

const FAILURES: [fn() -> BoardError; 2] = [
    || BoardError::internal("the disk is full"),
    || BoardError::internal(OverloadedError::new(Duration::from_secs(7))),
];

const ALL_REFUSALS: [fn() -> BoardError; 7] = [
    FAILURES[0],
    FAILURES[1],
    || BoardError::forbidden("No."),
    || BoardError::not_found("Nothing."),
    || BoardError::conflict("Taken."),
    || BoardError::validation("body", "Empty."),
    || BoardError::rate_limited("Later.", None),
];

/// A board without any method.
struct EmptyBoard;

#[async_trait]
impl Board for EmptyBoard {
    async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
        Ok(ForumId::from(2))
    }
}

/// A board that refuses every call.
struct RefusingBoard(fn() -> BoardError);

macro_rules! refuse {
    ($($caller:ident $method:ident($($argument:ident: $type:ty),+) -> $result:ty;)+) => {
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl Board for RefusingBoard {
            async fn containing_forum(&self, _: &Caller, _: ResourceRef<'_>) -> BoardResult<ForumId> {
                Ok(ForumId::from(2))
            }

            $(async fn $method(&self, _: &$caller, $(_: $type),+) -> BoardResult<$result> {
                Err((self.0)())
            })+
        }
    };
}

board_methods!(refuse);
