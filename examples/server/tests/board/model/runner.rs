//! Runs actions on a board and on its model, and compares the results.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::ApiSettings;
use forum_api::conformance::{Audience, BoardFactory, BoardFixture, NewForum};
use forum_api::model::{ForumId, PostId, ThreadId, Timestamp, UserId};
use forum_api::rate_limit::Budget;
use forum_api::runtime::ManualClock;
use forum_api::scope::Surface;
use forum_api::store::Stores;
use forum_api::test_util::{TestApi, TestResponse};
use forum_api::token::Expiry;
use serde_json::{Value, json};

use super::action::{Action, Kind};
use super::commands::Request;
use super::state::{FORUMS, Forum, MEMBERS, Member, ModelState, State};
use crate::backend::Backend;
use crate::demo::api_of;

/// Time between two steps: longer than the minimum interval between two posts.
const STEP: Duration = Duration::from_secs(61);

/// A board and its model.
pub struct ModelRunner {
    pub state: ModelState,
    pub fixture: Box<dyn BoardFixture>,
    pub clock: Arc<ManualClock>,
    api: TestApi,
    tokens: Vec<String>,
}

impl ModelRunner {
    pub async fn new(backend: Backend) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(1_767_225_600_000)));
        let fixture = backend.create(clock.clone()).await.unwrap();
        let unlimited = Budget {
            units: u32::MAX,
            ..ApiSettings::default().token_budget
        };
        let mut settings = ApiSettings::default();
        settings.token_budget = unlimited;
        settings.guest_budget = unlimited;
        let api = api_of(fixture.board(), Stores::in_memory(), settings, &clock);
        let mut runner = Self {
            state: ModelState::default(),
            fixture,
            api,
            clock,
            tokens: Vec::new(),
        };
        runner.add_members_and_forums().await;
        runner
    }

    async fn add_members_and_forums(&mut self) {
        for (name, role) in MEMBERS {
            let id = self.fixture.add_member(name, role).await.unwrap();
            let scopes: Vec<_> = Surface::Full.scopes().collect();
            let token = self
                .api
                .issue_token(&id.to_string(), &scopes, Expiry::NEVER);
            self.tokens.push(token.expose_secret().to_owned());
            self.state.members.push(Member {
                id: id.to_string(),
                role,
                banned: false,
                ignores: BTreeSet::new(),
                subscriptions: BTreeSet::new(),
                sent: Vec::new(),
            });
        }
        for (parent, readers, writers) in FORUMS {
            let parent_id =
                parent.map(|parent| ForumId::parse(&self.state.forums[parent].id).unwrap());
            let mut forum = NewForum::new("Forum", readers, writers);
            forum.parent_id = parent_id;
            let id = self.fixture.add_forum(&forum).await.unwrap().to_string();
            let moderators = BTreeSet::new();
            self.state.forums.push(Forum {
                id,
                parent,
                readers,
                writers,
                moderators,
            });
        }
    }

    /// Runs an action on the board and on the model. Returns a difference as an error.
    pub async fn step(&mut self, action: &Action) -> Result<(), String> {
        self.clock.advance(STEP);
        self.state.now += STEP.as_secs();
        let Some((request, expected)) = self.state.respond(action) else {
            return self.run_operation(action).await;
        };
        let expected = match expected {
            Ok((status, rows)) => json!([status, rows.map(sorted)]),
            Err((status, code)) => json!([status, code]),
        };
        let answer = self.send(&request).await;
        let actual = actual_result(&request, &answer);
        if expected != actual {
            let Request {
                caller,
                method,
                path,
                ..
            } = request;
            let caller = caller.map_or("the guest", |member| MEMBERS[member].0);
            return Err(format!(
                "{method} {path} by {caller}: {actual}, and {expected} in the model"
            ));
        }
        self.record_ids(action, &answer).await;
        Ok(())
    }

    async fn send(&self, request: &Request) -> TestResponse {
        let client = self
            .api
            .client(request.caller.map(|member| self.tokens[member].clone()));
        let path = &request.path;
        match request.method {
            "GET" => client.get(path).await,
            "POST" => client.post(path, &request.body).await,
            "PATCH" => client.patch(path, &request.body).await,
            _ => client.delete(path).await,
        }
    }

    /// Records the ids in a response of the board.
    async fn record_ids(&mut self, action: &Action, answer: &TestResponse) {
        let body = || answer.json();
        match (action.kind, answer.status) {
            (Kind::Start, 201) => self.record_thread_ids(&body()).await,
            (Kind::Reply, 201) => self.state.posts.last_mut().unwrap().id = text(&body()["postId"]),
            (Kind::Send, 201) => {
                self.state.copies.last_mut().unwrap().id = text(&body()["messageId"])
            }
            (Kind::Inbox, 200) => self.record_message_ids(action.caller.unwrap(), &body()),
            _ => {}
        }
    }

    async fn record_thread_ids(&mut self, thread: &Value) {
        let id = text(&thread["threadId"]);
        let poll = self
            .api
            .client(Some(self.tokens[0].clone()))
            .get(&format!("/threads/{id}/poll"))
            .await;
        self.state.posts.last_mut().unwrap().id = text(&thread["firstPostId"]);
        let new = self.state.threads.last_mut().unwrap();
        new.id = id;
        if let Some(new) = &mut new.poll {
            let poll = poll.json();
            new.id = text(&poll["pollId"]);
            let options = poll["options"].as_array().unwrap().iter();
            new.options = options.map(|option| text(&option["optionId"])).collect();
        }
    }

    fn record_message_ids(&mut self, member: usize, list: &Value) {
        let newest_first = list["items"].as_array().unwrap().iter();
        let copies = self.state.copies.iter_mut().rev();
        let own = copies.filter(|copy| copy.owner == member && copy.inbox);
        for (copy, item) in own.zip(newest_first) {
            copy.id = text(&item["messageId"]);
        }
    }

    /// Runs a change by an operator on the board and on the model. The first administrator is never banned, because
    /// [`record_thread_ids`](Self::record_thread_ids) uses its token.
    async fn run_operation(&mut self, action: &Action) -> Result<(), String> {
        let (state, fixture) = (&mut self.state, &self.fixture);
        let Action {
            kind,
            index,
            other_index,
            flag,
            ..
        } = *action;
        let (member, other, forum) = (
            index % MEMBERS.len(),
            other_index % MEMBERS.len(),
            index % FORUMS.len(),
        );
        let user = |member: usize| UserId::parse(&state.members[member].id).unwrap();
        let (user, other_user) = (user(member), user(other));
        let forum_id = ForumId::parse(&state.forums[forum].id).unwrap();
        match kind {
            Kind::Ban if member > 0 => {
                state.members[member].banned = flag;
                fixture.set_banned(&user, flag).await.unwrap();
            }
            Kind::Offline => {
                state.offline = other_index.is_multiple_of(5);
                fixture.set_offline(state.offline).await.unwrap();
            }
            Kind::Readers => {
                let readers =
                    [Audience::Guests, Audience::Members, Audience::Staff][other_index % 3];
                state.forums[forum].readers = readers;
                fixture.set_readers(&forum_id, readers).await.unwrap();
            }
            Kind::Moderator => {
                let result = fixture.set_moderator(&forum_id, &other_user, flag).await;
                let reads = state.sees_forum(Some(other), forum) && !state.members[other].banned;
                if result.is_ok() != (reads || !flag) {
                    return Err(format!("{action:?}: {result:?}"));
                }
                let moderators = &mut state.forums[forum].moderators;
                if flag && reads {
                    moderators.insert(other);
                } else if !flag {
                    moderators.remove(&other);
                }
            }
            Kind::Lock => {
                if let Some(thread) = state.thread(index) {
                    state.threads[thread].locked = flag;
                    let id = ThreadId::parse(&state.threads[thread].id).unwrap();
                    fixture.set_locked(&id, flag).await.unwrap();
                }
            }
            Kind::Approve => return self.moderate(index, State::Awaiting).await,
            Kind::Restore => return self.moderate(index, State::Deleted).await,
            Kind::Ignore => {
                state.members[member].ignores.insert(other);
                fixture.ignore(&user, &other_user).await.unwrap();
            }
            Kind::Wait => {
                let minutes = index as u64 % 60;
                state.now += minutes * 60;
                self.clock.advance(Duration::from_secs(minutes * 60));
            }
            _ => {}
        }
        Ok(())
    }

    /// Approves or restores a post. The board must refuse a post in another state.
    async fn moderate(&mut self, post: usize, from: State) -> Result<(), String> {
        let Some(number) = self.state.post(post) else {
            return Ok(());
        };
        let post = &mut self.state.posts[number];
        let id = PostId::parse(&post.id).unwrap();
        let result = match from {
            State::Awaiting => self.fixture.approve(&id).await,
            _ => self.fixture.restore(&id).await,
        };
        if result.is_ok() != (post.state == from) {
            return Err(format!(
                "a post in state {:?}, expected {from:?}: {result:?}",
                post.state
            ));
        }
        if result.is_ok() {
            post.version += 1;
            post.state = match from {
                State::Deleted => post.before,
                _ => State::Visible,
            };
        }
        Ok(())
    }
}

/// Returns the status with the sorted rows of a response, or with the code of an error.
fn actual_result(request: &Request, answer: &TestResponse) -> Value {
    match answer.code() {
        Some(code) => json!([answer.status, code]),
        None if request.fields.is_empty() => json!([answer.status, null]),
        None => json!([answer.status, sorted(rows(&answer.json(), request.fields))]),
    }
}

fn rows(body: &Value, fields: &[&str]) -> Vec<Value> {
    let row = |item: &Value| {
        fields
            .iter()
            .map(|field| field_value(item, field))
            .collect()
    };
    match body["items"].as_array() {
        Some(items) => items.iter().map(row).collect(),
        None => vec![row(body)],
    }
}

/// Returns the value of a field. Of `/readAt` it returns only whether the message was read.
fn field_value(item: &Value, field: &str) -> Value {
    let value = item
        .pointer(field)
        .unwrap_or_else(|| panic!("no {field} in {item}"));
    if field == "/readAt" {
        json!(!value.is_null())
    } else {
        value.clone()
    }
}

fn sorted(mut rows: Vec<Value>) -> Value {
    rows.sort_by_key(Value::to_string);
    rows.into()
}

fn text(id: &Value) -> String {
    id.as_str().unwrap().to_owned()
}
