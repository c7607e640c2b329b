//! Operations that only this board has.

use http::Method;

use super::service::{comparable, status_and_code};
use super::*;
use crate::operation::Operation;
use crate::test_util::{TestApi, TestClient, TestRequest, TestResponse};

board_rules! {
    mod operations;

    /// An operation rejects a token without its scope with 403 `missing_scope`, and a guest with 401 unless guests can
    /// call it.
    async fn an_operation_needs_its_scope(suite: &Suite) -> TestResult {
        let fixture = OperationsFixture::new(suite).await?;
        for operation in &fixture.operations {
            let scope = &operation.spec.scope;
            let others: Vec<_> = fixture.api.api().scopes().iter().filter(|other| other != scope).collect();
            let client = fixture.api.as_member_with_scopes(&fixture.alice(), &others);
            let response = fixture.send(&client, operation).await;
            let expected = (403, Some(ErrorCode::MissingScope));
            check_eq!(status_and_code(&response), expected, "{operation:?} without {scope}")?;
            if operation.handler.needs_token() {
                let response = fixture.send(&fixture.api.as_guest(), operation).await;
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
        for operation in &fixture.operations {
            let client = fixture.api.as_member(&fixture.alice());
            let response = fixture.send(&client, operation).await;
            check!((200..300).contains(&response.status), "{operation:?}: {}", response.json())?;
            check_eq!(charged(&response), Some(operation.spec.cost), "the cost of {operation:?}")?;
        }
        Ok(())
    }

    /// The responses to an operation on a hidden and on a missing thread, post, poll or forum are identical: 404.
    async fn an_operation_does_not_find_hidden_resources(suite: &Suite) -> TestResult {
        suite.require(Capability::HiddenForums)?;
        let mut fixture = OperationsFixture::new(suite).await?;
        suite.fixture.set_readers(&fixture.forum, Audience::Staff).await?;
        let client = fixture.api.as_member(&fixture.alice());
        let has_forum = |operation: &&Operation| operation.spec.variables.iter().any(|name| is_in_forum(name));
        let mut hidden = Vec::new();
        for operation in fixture.operations.iter().filter(has_forum) {
            hidden.push(comparable(&fixture.send(&client, operation).await));
        }
        let api = fixture.api.clone();
        let client = api.as_member(&fixture.alice());
        fixture.make_absent();
        for (operation, hidden) in fixture.operations.iter().filter(has_forum).zip(hidden) {
            check_eq!(hidden.0, 404, "{operation:?} in a hidden forum")?;
            let absent = comparable(&fixture.send(&client, operation).await);
            check_eq!(hidden, absent, "{operation:?} of a missing resource")?;
        }
        Ok(())
    }

    /// A repeated `POST` with the same idempotency key has the response of the first one, with `idempotency-replayed:
    /// true`.
    async fn an_operation_takes_effect_once_for_an_idempotency_key(suite: &Suite) -> TestResult {
        let fixture = OperationsFixture::new(suite).await?;
        let client = fixture.api.as_member(&fixture.alice());
        let posts = fixture.operations.iter().filter(|operation| operation.spec.accepts_idempotency_key());
        for operation in posts {
            let send = || fixture.request(&client, operation).header("idempotency-key", operation.spec.id);
            let first = send().await;
            let second = send().await;
            check_eq!((second.status, second.json()), (first.status, first.json()), "a repeated {operation:?}")?;
            check_eq!(second.header("idempotency-replayed"), Some("true"), "a repeated {operation:?}")?;
        }
        Ok(())
    }
}

/// The API with the operations of the host, and a thread by alice.
struct OperationsFixture {
    api: TestApi,
    operations: Vec<Operation>,
    forum: ForumId,
    alice: TestCaller,
    /// Values of path variables.
    variables: Vec<(&'static str, String)>,
}

impl OperationsFixture {
    async fn new(suite: &Suite) -> TestResult<Self> {
        let operations = suite.fixture.operations();
        if operations.is_empty() {
            return Err(TestFailure::Unsupported(Capability::OwnOperations));
        }
        let (forum, alice) = suite.forum_and_member().await?;
        let path = suite.thread(&alice, &forum).await?;
        let mut variables = vec![
            ("forumId", forum.to_string()),
            ("threadId", path.thread_id.to_string()),
            ("postId", path.post_id.to_string()),
            ("userId", alice.id().to_string()),
        ];
        if operations
            .iter()
            .any(|operation| operation.spec.variables.contains(&"pollId"))
        {
            let new = thread_with_poll(suite, new_poll())?;
            let thread = alice.create_thread(&forum, &new).await.expect_ok()?;
            variables.extend(thread.poll_id.map(|poll| ("pollId", poll.to_string())));
        }
        Ok(Self {
            api: suite.api_with(&operations),
            operations,
            forum,
            alice,
            variables,
        })
    }

    fn alice(&self) -> String {
        self.alice.id().to_string()
    }

    /// Replaces the resources in paths with missing ones.
    fn make_absent(&mut self) {
        for (name, value) in &mut self.variables {
            if is_in_forum(name) {
                *value = "987654321".into();
            }
        }
    }

    async fn send(&self, client: &TestClient<'_>, operation: &Operation) -> TestResponse {
        self.request(client, operation).await
    }

    fn request<'a>(&self, client: &TestClient<'a>, operation: &Operation) -> TestRequest<'a> {
        let spec = &operation.spec;
        let value_of = |name: &str| {
            let variable = self
                .variables
                .iter()
                .find(|(variable, _)| *variable == name);
            variable.map_or("1", |(_, value)| value)
        };
        let path = spec
            .variables
            .iter()
            .fold(spec.path.to_owned(), |path, name| {
                path.replace(&format!("{{{name}}}"), value_of(name))
            });
        let request = client.request(spec.method.clone(), &path);
        match operation.input().example {
            Some(example) if spec.method != Method::GET => request.json(&example),
            _ => request,
        }
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
