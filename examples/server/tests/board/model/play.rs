//! A board and its model, step by step.

use forum_api::scope::Surface;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use forum_api::Settings;
use forum_api::conformance::{Host, NewForum, Stage};
use forum_api::model::{ForumId, Timestamp};
use forum_api::rate_limit::Window;
use forum_api::runtime::{Clock, ManualClock};
use forum_api::store::Stores;
use forum_api::test_util::{Answer, TestBoard};
use serde_json::{Value, json};

use super::act::Act;
use super::request::Request;
use super::rules::Refused;
use super::world::{FORUMS, Forum, MEMBERS, Member, World};
use crate::backend::Backend;

/// Between two steps: longer than anybody has to wait between two posts.
const STEP: Duration = Duration::from_secs(61);

/// A board and its model.
pub struct Play {
    pub world: World,
    pub stage: Box<dyn Stage>,
    pub clock: Arc<ManualClock>,
    api: TestBoard,
    tokens: Vec<String>,
}

impl Play {
    pub async fn new(backend: Backend) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_767_225_600_000)));
        let stage = backend.empty(clock.clone()).await.unwrap();
        let (authority, board) = stage.board();
        let plenty = Window {
            units: u32::MAX,
            ..Settings::default().token_window
        };
        let settings = Settings {
            token_window: plenty,
            guest_window: plenty,
            ..Settings::default()
        };
        let ticking: Arc<dyn Clock> = clock.clone();
        let api = TestBoard::with(
            authority,
            board,
            Stores::in_memory(),
            settings,
            |environment| environment.clock(ticking),
        );
        let mut play = Self {
            world: World::default(),
            stage,
            api,
            clock,
            tokens: Vec::new(),
        };
        play.people().await;
        play
    }

    async fn people(&mut self) {
        for (name, role) in MEMBERS {
            let id = self.stage.add_member(name, role).await.unwrap();
            let scopes: Vec<_> = Surface::Full
                .scopes()
                .map(|scope| scope.to_string())
                .collect();
            let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
            self.tokens.push(
                self.api
                    .token(&id.to_string(), &scopes, "")
                    .reveal()
                    .to_owned(),
            );
            self.world.members.push(Member {
                id: id.to_string(),
                role,
                banned: false,
                ignores: BTreeSet::new(),
                follows: BTreeSet::new(),
                sent: Vec::new(),
            });
        }
        for (parent, readers, writers) in FORUMS {
            let above = parent.map(|parent| ForumId::new(&self.world.forums[parent].id).unwrap());
            let mut forum = NewForum::new("Forum", readers, writers);
            forum.parent = above;
            let id = self.stage.add_forum(&forum).await.unwrap().to_string();
            let moderators = BTreeSet::new();
            self.world.forums.push(Forum {
                id,
                parent,
                readers,
                writers,
                moderators,
            });
        }
    }

    /// Takes a step on both, and tells where they part.
    pub async fn step(&mut self, act: &Act) -> Result<(), String> {
        self.clock.advance(STEP);
        self.world.now += STEP.as_secs();
        let Some(request) = self.world.request(act) else {
            return self.operate(act).await;
        };
        let answer = self.send(&request).await;
        let expected = self.expected(act);
        let found = found(&request, &answer);
        if expected != found {
            let Request {
                who, method, path, ..
            } = request;
            let who = who.map_or("the guest", |member| MEMBERS[member].0);
            return Err(format!(
                "{method} {path} by {who}: {found}, and {expected} in the model"
            ));
        }
        self.learn(act, &answer).await;
        Ok(())
    }

    async fn send(&self, request: &Request) -> Answer {
        let client = self
            .api
            .client(request.who.map(|member| self.tokens[member].clone()));
        let path = &request.path;
        match request.method {
            "GET" => client.get(path).await,
            "POST" => client.post(path, &request.body).await,
            "PATCH" => client.patch(path, &request.body).await,
            _ => client.delete(path).await,
        }
    }

    fn expected(&mut self, act: &Act) -> Value {
        let told = match self.world.reads(act) {
            Some(rows) => rows.map(|rows| (200, sorted(rows))),
            None => self
                .world
                .writes_of(act)
                .unwrap()
                .map(|status| (status, Value::Null)),
        };
        match told {
            Ok((status, rows)) => json!([status, rows]),
            Err(refused) => written(refused),
        }
    }

    /// The ids that the board gave.
    async fn learn(&mut self, act: &Act, answer: &Answer) {
        match act {
            Act::Start(..) if answer.status == 201 => self.learn_thread(&answer.json()).await,
            Act::Reply(..) if answer.status == 201 => {
                self.world.posts.last_mut().unwrap().id = text(&answer.json()["postId"]);
            }
            Act::Send(..) if answer.status == 201 => {
                self.world.copies.last_mut().unwrap().id = text(&answer.json()["messageId"]);
            }
            Act::Inbox(Some(member)) if answer.status == 200 => {
                self.learn_inbox(*member, &answer.json())
            }
            _ => {}
        }
    }

    async fn learn_thread(&mut self, thread: &Value) {
        let id = text(&thread["threadId"]);
        let poll = self
            .api
            .client(Some(self.tokens[0].clone()))
            .get(&format!("/threads/{id}/poll"))
            .await;
        self.world.posts.last_mut().unwrap().id = text(&thread["firstPostId"]);
        let new = self.world.threads.last_mut().unwrap();
        new.id = id;
        if let Some(new) = &mut new.poll {
            let poll = poll.json();
            new.id = text(&poll["pollId"]);
            let options = poll["options"].as_array().unwrap().iter();
            new.options = options.map(|option| text(&option["optionId"])).collect();
        }
    }

    fn learn_inbox(&mut self, member: usize, list: &Value) {
        let newest_first = list["items"].as_array().unwrap().iter();
        let copies = self.world.copies.iter_mut().rev();
        let own = copies.filter(|copy| copy.owner == member && copy.inbox);
        for (copy, item) in own.zip(newest_first) {
            copy.id = text(&item["messageId"]);
        }
    }
}

/// A status, and what was read, in one order; or the code of a refusal.
fn found(request: &Request, answer: &Answer) -> Value {
    match answer.code() {
        Some(code) => json!([answer.status, code]),
        None if request.fields.is_empty() => json!([answer.status, null]),
        None => json!([answer.status, sorted(rows(&answer.json(), request.fields))]),
    }
}

fn rows(body: &Value, fields: &[&str]) -> Vec<Value> {
    let row = |item: &Value| fields.iter().map(|field| seen(item, field)).collect();
    match body["items"].as_array() {
        Some(items) => items.iter().map(row).collect(),
        None => vec![row(body)],
    }
}

/// When something was read is told as whether it was.
fn seen(item: &Value, field: &str) -> Value {
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

fn written((status, code): Refused) -> Value {
    json!([status, code])
}

fn text(id: &Value) -> String {
    id.as_str().unwrap().to_owned()
}
