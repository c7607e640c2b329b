//! Operations that only this board has.

use http::Method;

use std::collections::BTreeMap;

use super::service::{comparable, status_and_code};
use super::*;
use crate::operation::Operation;
use crate::test_util::{TestApi, TestClient, TestRequest, TestResponse};

board_rules! {
    mod operations, __rules_operations;

    /// An operation rejects a token without its scope with 403 `missing_scope`, and a guest with 401 unless guests can
    /// call it.
    async fn an_operation_needs_its_scope(suite: &Suite) -> TestResult {
        let fixture = OperationsFixture::new(suite).await?;
        for call in &fixture.calls {
            let operation = &call.operation;
            let scope = &operation.spec.scope;
            let others: Vec<_> = fixture.api.api().scopes().iter().filter(|other| other != scope).collect();
            let client = fixture.api.as_member_with_scopes(&fixture.caller, &others);
            let response = call.request(&client).await;
            let expected = (403, Some(ErrorCode::MissingScope));
            check_eq!(status_and_code(&response), expected, "{operation:?} without {scope}")?;
            if operation.handler.needs_token() {
                let response = call.request(&fixture.api.as_guest()).await;
                let expected = (401, Some(ErrorCode::Unauthenticated));
                check_eq!(status_and_code(&response), expected, "{operation:?} of a guest")?;
            }
        }
        Ok(())
    }

    /// The examples of an operation's path and body lead to a successful response, which is charged the cost of the
    /// operation.
    async fn an_operation_accepts_its_example_and_charges_its_cost(suite: &Suite) -> TestResult {
        let fixture = OperationsFixture::new(suite).await?;
        for call in &fixture.calls {
            let response = call.request(&fixture.client()).await;
            call.check_success(&response)?;
            check_eq!(charged(&response), Some(call.operation.spec.cost), "the cost of {:?}", call.operation)?;
        }
        Ok(())
    }

    /// The responses to an operation on a hidden and on a missing thread, post, poll or forum are identical: 404.
    async fn an_operation_does_not_find_hidden_resources(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let mut fixture = OperationsFixture::new(suite).await?;
        suite.fixture.set_readers(&fixture.forum, Audience::Staff).await?;
        fixture.calls.retain(|call| call.variables.keys().any(|name| is_in_forum(name)));
        let client = fixture.client();
        for call in &fixture.calls {
            let operation = &call.operation;
            let hidden = comparable(&call.request(&client).await);
            check_eq!(hidden.0, 404, "{operation:?} in a hidden forum")?;
            let absent = comparable(&call.with_missing_resources().request(&client).await);
            check_eq!(hidden, absent, "{operation:?} of a missing resource")?;
        }
        Ok(())
    }

    /// A repeated `POST` with the same idempotency key has the response of the first one, with `idempotency-replayed:
    /// true`.
    async fn an_operation_takes_effect_once_for_an_idempotency_key(suite: &Suite) -> TestResult {
        let fixture = OperationsFixture::new(suite).await?;
        let client = fixture.client();
        let posts = fixture.calls.iter().filter(|call| call.operation.spec.accepts_idempotency_key());
        for call in posts {
            let operation = &call.operation;
            let send = || call.request(&client).header("idempotency-key", operation.spec.id);
            let first = send().await;
            call.check_success(&first)?;
            let second = send().await;
            check_eq!((second.status, second.json()), (first.status, first.json()), "a repeated {operation:?}")?;
            check_eq!(second.header("idempotency-replayed"), Some("true"), "a repeated {operation:?}")?;
        }
        Ok(())
    }
}

/// The API with the operations of the host, and for each a thread by alice. Bob calls the operations.
struct OperationsFixture {
    api: TestApi,
    calls: Vec<OwnCall>,
    forum: ForumId,
    caller: String,
}

impl OperationsFixture {
    async fn new(suite: &Suite) -> TestResult<Self> {
        let operations = suite.fixture.operations();
        if operations.is_empty() {
            return Err(TestFailure::Unsupported(Capability::OwnOperations));
        }
        let api = suite.api_with(&operations);
        let (forum, alice) = suite.forum_and_member().await?;
        let caller = suite.member("bob").await?.id();
        let mut calls = Vec::new();
        for operation in operations {
            let path = suite.thread(&alice, &forum).await?;
            let mut known = vec![
                ("forumId", forum.to_string()),
                ("threadId", path.thread_id.to_string()),
                ("postId", path.post_id.to_string()),
                ("userId", alice.id().to_string()),
            ];
            if operation.spec.variables.contains(&"pollId") {
                let new = thread_with_poll(suite, new_poll())?;
                let thread = alice.create_thread(&forum, &new).await.expect_ok()?;
                known.extend(thread.poll_id.map(|poll| ("pollId", poll.to_string())));
            }
            let value_of = |name: &str| {
                let found = known.iter().find(|(known, _)| *known == name);
                found.map_or_else(|| "1".into(), |(_, value)| value.clone())
            };
            let names = operation.spec.variables.iter();
            let mut variables = names.map(|name| (*name, value_of(name))).collect();
            let id = operation.spec.id;
            suite.fixture.prepare_operation(id, &caller, &mut variables).await?;
            calls.push(OwnCall { operation, variables });
        }
        Ok(Self { api, calls, forum, caller: caller.to_string() })
    }

    /// Returns a client of the caller with a new token.
    fn client(&self) -> TestClient<'_> {
        self.api.as_member(&self.caller)
    }
}

/// A call of an operation of the host.
#[derive(Clone)]
struct OwnCall {
    operation: Operation,
    /// Values of the path variables.
    variables: BTreeMap<&'static str, String>,
}

impl OwnCall {
    /// Returns a copy whose path names missing resources.
    fn with_missing_resources(&self) -> Self {
        let mut copy = self.clone();
        for (name, value) in &mut copy.variables {
            if is_in_forum(name) {
                *value = "987654321".into();
            }
        }
        copy
    }

    fn request<'a>(&self, client: &TestClient<'a>) -> TestRequest<'a> {
        let spec = &self.operation.spec;
        let fill = |path: String, (name, value): (&&str, &String)| {
            path.replace(&format!("{{{name}}}"), value)
        };
        let path = self.variables.iter().fold(spec.path.to_owned(), fill);
        let request = client.request(spec.method.clone(), &path);
        match self.operation.input().example {
            Some(example) if spec.method != Method::GET => request.json(&example),
            _ => request,
        }
    }

    fn check_success(&self, response: &TestResponse) -> TestResult {
        let is_success = (200..300).contains(&response.status);
        let TestResponse { status, .. } = response;
        let body = response.json();
        check!(is_success, "{status} {body} from {:?}", self.operation)
    }
}

fn is_in_forum(variable: &str) -> bool {
    ["forumId", "threadId", "postId", "pollId"].contains(&variable)
}

/// Returns the units that were charged to a token by its first request.
fn charged(response: &TestResponse) -> Option<u32> {
    let units = |name| response.header(name)?.parse::<u32>().ok();
    units("x-ratelimit-limit")?.checked_sub(units("x-ratelimit-remaining")?)
}
