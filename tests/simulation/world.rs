//! The world of a simulation: nodes, workers, clients, receivers and an administrator, over one set of stores and one board.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::conformance::{Audience, BoardFactory as _, NewForum, Role};
use forum_api::host::Host;
use forum_api::model::*;
use forum_api::rate_limit::Budget;
use forum_api::runtime::ManualClock;
use forum_api::store::sqlite::rusqlite::{Savepoint, params_from_iter};
use forum_api::store::sqlite::{Database, DatabasePath, SqliteError};
use forum_api::store::{ErasedMember, Stores, WebhookStores};
use forum_api::test_util::{self, Intervention, StoreInterceptor, audit_entry};
use forum_api::token::{Expiry, Lookup, TokenRequest};
use forum_api::webhook::{PlaintextCipher, SecretCipher as _, Topic, WebhookSecret};
use forum_api::worker::{Worker, WorkerHandle, WorkerSettings};
use forum_api::{ApiSettings, Environment, ForumApi, event_feed};
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::action::{Action, NODES, Plan, Setting, Step, Write};
use crate::administrator::{Administrator, Form, PanelRuntime, PanelStores};
use crate::board::{ProcessBoard, SharedBoard};
use crate::faults::Faults;
use crate::journal::{
    ALWAYS, Answer, EndpointFacts, Journal, REPEAT_PERIOD, TokenFacts, WriteFacts, write_text,
};
use crate::network::{Network, ReceiverModes};
use crate::random::ProcessRandom;
use crate::scheduler::{MAX_DIFFERENCE, ProcessClock, ProcessId, ProcessRuntime, START, Scheduler};
use crate::{memory, ready};

/// Time after which nothing waits when no more faults occur.
const RECOVERY_PERIOD: Duration = Duration::from_secs(30 * 60);

/// A time before all events.
const SINCE: &str = "2025-12-31T00:00:00Z";

/// Operations without effect on the rules. Each takes time when a node starts, which renders its OpenAPI document.
const OMITTED_OPERATIONS: [&str; 14] = [
    "listForums",
    "listThreads",
    "getThread",
    "getMe",
    "getMember",
    "rateMember",
    "listMessages",
    "openMessage",
    "getPoll",
    "vote",
    "updatePoll",
    "listSubscriptions",
    "subscribe",
    "search",
];

/// Topics without effect on the rules.
const OMITTED_TOPICS: [Topic; 4] =
    [Topic::POLL_VOTED, Topic::POLL_UPDATED, Topic::MEMBER_RATED, Topic::MEMBER_ERASED];

/// The administrator, who sees everything and keeps all rights.
const ADMINISTRATOR: usize = 0;

/// The member whose token expires after a day.
const EXPIRING: usize = 2;

pub(crate) struct World {
    seed: u64,
    pub(crate) setting: Setting,
    pub(crate) scheduler: Scheduler,
    pub(crate) faults: Faults,
    pub(crate) journal: Journal,
    pub(crate) stores: Stores,
    pub(crate) webhooks: WebhookStores,
    database: Database,
    pub(crate) board: SharedBoard,
    receivers: ReceiverModes,
    processes: Vec<Process>,
    /// Number of processes that were started.
    started: u32,
    members: Vec<Member>,
    forums: Vec<ForumId>,
    /// `None` until there are members.
    administrator: Option<Administrator>,
    writes: Vec<ClientWrite>,
    pub(crate) reader: Arc<Mutex<FeedReader>>,
}

struct Member {
    id: UserId,
    name: String,
    token: String,
    lookup: Lookup,
    is_erased: bool,
}

/// A node or a worker. Its clock runs while the process does not.
struct Process {
    clock: Arc<ProcessClock>,
    running: Option<Running>,
}

struct Running {
    id: ProcessId,
    service: Service,
}

enum Service {
    /// The API, which is built with its document for the first request.
    Node(LazyCell<ForumApi, Box<dyn FnOnce() -> ForumApi>>),
    Worker(WorkerHandle),
}

/// A request that its client can repeat.
struct ClientWrite {
    first_sent_at: Timestamp,
    member: usize,
    method: &'static str,
    path: String,
    key: Option<String>,
    body: Value,
    /// Connections of the clients.
    connections: Vec<oneshot::Sender<()>>,
}

/// A client that reads the feed page by page.
#[derive(Default)]
pub(crate) struct FeedReader {
    after: Option<String>,
    pub(crate) items: Vec<String>,
    pub(crate) is_complete: bool,
}

impl Drop for World {
    fn drop(&mut self) {
        self.scheduler.kill_all();
    }
}

impl World {
    pub(crate) fn new(plan: &Plan, is_verbose: bool) -> Self {
        let scheduler = Scheduler::new();
        let journal = Journal::new(plan.setting.clocks_differ, is_verbose);
        let database = empty_database();
        let blocking = StoreInterceptor::blocking();
        let keys = if plan.setting.keys_in_sqlite {
            Stores::in_sqlite(&database)
        } else {
            Stores::in_memory()
        };
        let webhooks = blocking.webhooks(&WebhookStores::in_sqlite(&database));
        let clock = Arc::new(ManualClock::new(START));
        let created = ready(memory::fixture::Factory::default().create(clock.clone()));
        let outbox = plan.setting.writes_to_outbox.then(|| webhooks.clone());
        let board = SharedBoard {
            fixture: Arc::from(created.unwrap()),
            clock,
            outbox,
            pending: Arc::default(),
            journal: journal.clone(),
        };
        let environment = Environment::new(PanelRuntime(scheduler.clone()))
            .clock(ProcessClock::new(&scheduler))
            .random(ProcessRandom::new(plan.seed))
            .omit_operations(OMITTED_OPERATIONS)
            .omit_topics(OMITTED_TOPICS);
        let processes = (0..NODES + plan.setting.workers)
            .map(|_| Process { clock: Arc::new(ProcessClock::new(&scheduler)), running: None });
        let mut world = Self {
            seed: plan.seed,
            setting: plan.setting.clone(),
            faults: Faults::new(&scheduler),
            journal,
            administrator: None,
            stores: blocking.stores(&keys),
            webhooks,
            database,
            board,
            receivers: Arc::new(Mutex::new(BTreeMap::new())),
            processes: processes.collect(),
            scheduler,
            started: 0,
            members: Vec::new(),
            forums: Vec::new(),
            writes: Vec::new(),
            reader: Arc::default(),
        };
        world.fill(&environment);
        world.add_administrator(&environment);
        world.start_all();
        world
    }

    /// Adds members, forums and endpoints.
    fn fill(&mut self, environment: &Environment) {
        let roles = [Role::Administrator, Role::Member, Role::Member, Role::Newcomer, Role::Staff];
        let scopes: Vec<_> = environment.scopes().iter().collect();
        for (number, role) in roles.into_iter().enumerate() {
            let name = format!("member{number}");
            let id = ready(self.board.fixture.add_member(&name, role)).unwrap();
            let mut request = TokenRequest::new(&id, &scopes);
            if number == EXPIRING {
                request = request.expiry(Expiry::from_days(1).unwrap());
            }
            let (token, record) = ready(environment.issue_token(&self.stores, request)).unwrap();
            let token = token.expose_secret().to_owned();
            let facts = TokenFacts { expires_at: record.expires_at, is_revoked: false };
            self.journal.with(|journal| journal.tokens.push(facts));
            let member = Member { id, name, token, lookup: record.lookup, is_erased: false };
            self.members.push(member);
        }
        for _ in 0..3 {
            let forum = NewForum::new("Forum", Audience::Members, Audience::Members);
            self.forums.push(ready(self.board.fixture.add_forum(&forum)).unwrap());
        }
        for (number, owner) in [0, 0, 1, 2, 4].into_iter().enumerate() {
            let topics = if number == 0 { "*" } else { "*, message.sent" };
            self.add_endpoint(number, self.members[owner].id.clone(), topics);
        }
    }

    fn add_endpoint(&mut self, number: usize, owner: UserId, topics: &str) {
        let id = EndpointId::parse(&format!("whe_{number}")).unwrap();
        let secret = WebhookSecret::parse(&format!("the first secret of {id}")).unwrap();
        let mut endpoint = test_util::endpoint();
        endpoint.url = url(&id);
        endpoint.topics = topics.parse().unwrap();
        endpoint.created_at = ALWAYS;
        endpoint.owner = owner.clone();
        endpoint.secret = PlaintextCipher.encrypt(&secret, &id).unwrap();
        endpoint.id = id;
        assert!(ready(self.webhooks.endpoints().add(&endpoint, &audit_entry())).unwrap());
        self.journal.with(|facts| facts.endpoints.push(EndpointFacts::from_endpoint(&endpoint)));
    }

    fn add_administrator(&mut self, environment: &Environment) {
        let mut logs = vec![self.stores.audit.clone()];
        if !self.setting.keys_in_sqlite {
            let stores = Stores::in_sqlite(&self.database);
            logs.push(StoreInterceptor::blocking().stores(&stores).audit);
        }
        let stores =
            PanelStores { api: self.stores.clone(), webhooks: self.webhooks.clone(), logs };
        self.administrator = Some(Administrator::new(
            &self.scheduler,
            &self.faults,
            &self.journal,
            stores,
            environment,
            self.members[ADMINISTRATOR].id.clone(),
        ));
    }

    fn submit(&mut self, form: &Form) {
        if let Some(administrator) = &mut self.administrator {
            administrator.submit(form);
        }
    }

    pub(crate) fn violation(&self) -> Option<String> {
        self.journal.with(|facts| facts.violation.clone())
    }

    // Processes.

    fn start_all(&mut self) {
        for number in 0..self.processes.len() {
            self.start(number);
        }
    }

    fn start(&mut self, number: usize) {
        if self.processes[number].running.is_some() {
            return;
        }
        self.started += 1;
        let id = ProcessId(self.started);
        self.scheduler.start_process(id);
        let clock = self.processes[number].clock.clone();
        let calls = StoreInterceptor::default();
        let faults = self.faults.clone();
        let journal = self.journal.clone();
        calls.on_call(move |method, _| {
            let choice = faults.choose();
            let has_effect = matches!(
                choice,
                Intervention::Delay(_) | Intervention::DelayResult(_) | Intervention::LoseResult
            );
            if method == "usage.add_token_usage" && has_effect && faults.is_active() {
                journal.loses_usage_result(id);
            }
            choice
        });
        self.journal.observe(&calls, id);
        let runtime = ProcessRuntime { scheduler: self.scheduler.clone(), process: id };
        let random = ProcessRandom::new(self.seed ^ (u64::from(id.0) << 32));
        let environment = Environment::new(runtime)
            .clock(clock.clone())
            .random(random)
            .omit_operations(OMITTED_OPERATIONS)
            .omit_topics(OMITTED_TOPICS);
        let board = ProcessBoard {
            shared: self.board.clone(),
            process: id,
            clock: clock.clone(),
            faults: self.faults.clone(),
        };
        let webhooks = calls.webhooks(&self.webhooks);
        let service = if number < NODES {
            let stores = calls.stores(&self.stores);
            let retention = self.setting.feed_retention;
            let scheduler = self.scheduler.clone();
            let build = move || {
                let api = node(Arc::new(board), stores, &webhooks, retention, &environment);
                let counted = api.clone();
                let flush = async move { counted.flush_usage_periodically().await };
                scheduler.spawn(id, Box::pin(flush));
                api
            };
            Service::Node(LazyCell::new(Box::new(build)))
        } else {
            let network = Network {
                process: id,
                clock,
                scheduler: self.scheduler.clone(),
                receivers: self.receivers.clone(),
                journal: self.journal.clone(),
            };
            let mut worker = Worker::builder(webhooks, board.clone(), &environment)
                .transport(network)
                .settings(worker_settings(self.setting.feed_retention));
            if !self.setting.writes_to_outbox {
                worker = worker.pending_events(board);
            }
            Service::Worker(worker.build().unwrap().start())
        };
        self.journal.note(|| format!("{id:?} starts"));
        self.processes[number].running = Some(Running { id, service });
    }

    fn crash(&mut self, number: usize) {
        if let Some(running) = self.processes[number].running.take() {
            self.scheduler.kill(running.id);
            self.journal.note(|| format!("{:?} crashes", running.id));
        }
    }

    /// Stops a worker. It ends within three time limits of its steps while the stores respond.
    fn stop_worker(&mut self, number: usize) {
        if let Some(Running { id, service: Service::Worker(handle) }) =
            &self.processes[number].running
        {
            let (id, handle) = (*id, handle.clone());
            let stopping = handle.clone();
            self.scheduler.spawn(id, Box::pin(async move { stopping.stop().await }));
            for _ in 0..60 {
                self.scheduler.advance(Duration::from_secs(1));
                if handle.health().stopped {
                    break;
                }
            }
            self.crash(number);
        }
    }

    /// Notifies the workers of new events, as a process does after a commit.
    fn wake_workers(&self) {
        for process in &self.processes {
            if let Some(Running { service: Service::Worker(worker), .. }) = &process.running {
                worker.wake();
            }
        }
    }

    // Steps.

    pub(crate) fn perform(&mut self, step: &Step) {
        self.scheduler.set_random(step.seed);
        self.act(&step.action);
        if self.faults.chance(60) {
            self.wake_workers();
        }
        let polls = self.scheduler.choose(|random| random.below(80));
        self.scheduler.run(polls as u32);
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Write { member, node, has_key, kind } => {
                self.write(member, node, has_key, kind)
            }
            Action::Repeat { write, node } => {
                if let Some(number) = reduced(write, self.writes.len()) {
                    self.send(number, node);
                }
            }
            Action::Disconnect { write } => {
                if let Some(number) = reduced(write, self.writes.len()) {
                    self.writes[number].connections.clear();
                }
            }
            Action::ReadFeed { node } => self.read_feed(node, 3),
            Action::Approve { post } => {
                if let Some(post) = self.post(post) {
                    drop(ready(self.board.fixture.approve(&post.post_id)));
                    self.board.commit();
                }
            }
            Action::Restore { post } => {
                if let Some(post) = self.post(post) {
                    drop(ready(self.board.fixture.restore(&post.post_id)));
                    self.board.commit();
                }
            }
            Action::SetBanned { member, banned } => {
                let member = &self.members[1 + member % (self.members.len() - 1)];
                if !member.is_erased {
                    ready(self.board.fixture.set_banned(&member.id, banned)).unwrap();
                    self.journal.with(|facts| facts.exclude(|one| one.owner == member.id));
                }
            }
            Action::SetHidden { forum, hidden } => {
                let forum = &self.forums[forum % self.forums.len()];
                let readers = if hidden { Audience::Staff } else { Audience::Members };
                ready(self.board.fixture.set_readers(forum, readers)).unwrap();
                let administrator = &self.members[ADMINISTRATOR].id;
                self.journal.with(|facts| facts.exclude(|one| one.owner != *administrator));
            }
            Action::Erase { member } => self.erase(1 + member % (self.members.len() - 1)),
            Action::SetReceiver { endpoint, mode } => {
                let id = self.endpoint(endpoint);
                if let Some(endpoint) = ready(self.webhooks.find_endpoint(&id)).unwrap() {
                    self.receivers.lock().unwrap().insert(endpoint.url, mode);
                }
            }
            Action::IssueToken => self.submit(&Form::IssueToken),
            Action::RevokeToken { member } => {
                let member = 1 + member % (self.members.len() - 1);
                let lookup = self.members[member].lookup;
                self.submit(&Form::RevokeToken { member, lookup });
            }
            Action::AddEndpoint => self.submit(&Form::AddEndpoint),
            Action::ChangeEndpoint { endpoint, form } => {
                let endpoint = self.endpoint(endpoint);
                self.submit(&Form::Endpoint { endpoint, form });
            }
            Action::Redeliver { delivery } => {
                let known = self.journal.with(|facts| {
                    let number = reduced(delivery, facts.deliveries.len())?;
                    facts.deliveries.keys().nth(number).cloned()
                });
                if let Some(delivery) = known {
                    self.submit(&Form::Redeliver { delivery });
                }
            }
            Action::Wait { seconds } => self.scheduler.advance(Duration::from_secs(seconds)),
            Action::Crash { process } => self.crash(process % self.processes.len()),
            Action::Start { process } => self.start(process % self.processes.len()),
            Action::StopWorker { worker } => {
                self.stop_worker(NODES + worker % self.setting.workers)
            }
            Action::SetFaults { percent } => self.faults.set_percent(percent),
            Action::SetClock { process, offset_seconds, drift } => {
                let clock = &self.processes[process % self.processes.len()].clock;
                clock.set(offset_seconds, drift);
            }
        }
    }

    fn endpoint(&self, number: usize) -> EndpointId {
        self.journal.with(|facts| facts.endpoints[number % facts.endpoints.len()].id.clone())
    }

    fn post(&self, number: usize) -> Option<PostPath> {
        self.journal.with(|facts| Some(facts.posts[reduced(number, facts.posts.len())?].clone()))
    }

    fn erase(&mut self, number: usize) {
        // The events of a board that are not in the outbox are erased by the board.
        let member = &mut self.members[number];
        if !self.setting.writes_to_outbox || std::mem::replace(&mut member.is_erased, true) {
            return;
        }
        ready(self.board.fixture.remove_account(&member.id)).unwrap();
        let erased = ErasedMember::new(member.id.clone(), &member.name);
        blocking(self.database.write(move |savepoint| erase(savepoint, &erased))).unwrap();
        self.journal.erased(&member.id);
        self.journal.with(|facts| facts.tokens[number].is_revoked = true);
    }

    // Clients.

    fn write(&mut self, member: usize, node: usize, has_key: bool, kind: Write) {
        let member = member % self.members.len();
        let number = self.writes.len();
        let text = write_text(number);
        let path_of =
            |post: PostPath| format!("/threads/{}/posts/{}", post.thread_id, post.post_id);
        let request = match kind {
            Write::Thread { forum } => {
                let forum = &self.forums[forum % self.forums.len()];
                Some((
                    "POST",
                    format!("/forums/{forum}/threads"),
                    json!({ "title": text, "body": text }),
                ))
            }
            Write::Post { thread } => {
                let thread = self.journal.with(|facts| {
                    Some(facts.threads[reduced(thread, facts.threads.len())?].clone())
                });
                thread.map(|thread| {
                    ("POST", format!("/threads/{thread}/posts"), json!({ "body": text }))
                })
            }
            Write::Edit { post } => {
                self.post(post).map(|post| ("PATCH", path_of(post), json!({ "body": text })))
            }
            Write::Delete { post } => {
                self.post(post).map(|post| ("DELETE", path_of(post), Value::Null))
            }
            Write::Message { recipient } => {
                let recipient = &self.members[recipient % self.members.len()].name;
                let body =
                    json!({ "to": [format!("@{recipient}")], "subject": text, "body": "Hello" });
                Some(("POST", "/messages".into(), body))
            }
        };
        let Some((method, path, body)) = request else {
            return;
        };
        let has_key = has_key && method == "POST";
        self.writes.push(ClientWrite {
            first_sent_at: self.scheduler.now(),
            member,
            method,
            path,
            key: has_key.then(|| format!("key-{number}")),
            body,
            connections: Vec::new(),
        });
        let facts = WriteFacts {
            member,
            has_key,
            commits: 0,
            created: None,
            last_status: 0,
            last_reason: None,
        };
        self.journal.with(|journal| journal.writes.push(facts));
        self.send(number, node);
    }

    /// Sends a write to a node, unless the node does not run or the key may have ended.
    fn send(&mut self, number: usize, node: usize) {
        let write = &mut self.writes[number];
        let is_late = self.scheduler.now() > write.first_sent_at.saturating_add(REPEAT_PERIOD);
        let Some(Running { id, service: Service::Node(api) }) =
            &self.processes[node % NODES].running
        else {
            return;
        };
        if is_late && write.key.is_some() {
            return;
        }
        self.journal
            .note(|| format!("{id:?} receives write {number}: {} {}", write.method, write.path));
        let mut request = Request::builder()
            .method(write.method)
            .uri(format!("/api/v1{}", write.path))
            .header("authorization", format!("Bearer {}", self.members[write.member].token));
        if let Some(key) = &write.key {
            request = request.header("idempotency-key", key);
        }
        let body = match &write.body {
            Value::Null => String::new(),
            body => {
                request = request.header("content-type", "application/json");
                body.to_string()
            }
        };
        let request = request.body(Full::new(bytes::Bytes::from(body))).unwrap();
        let difference = if self.setting.clocks_differ { MAX_DIFFERENCE } else { Duration::ZERO };
        let earliest = self.scheduler.now().saturating_sub(difference);
        let had_ended = self.journal.with(|facts| facts.tokens[write.member].has_ended(earliest));
        let scheduler = self.scheduler.clone();
        let (connection, disconnection) = oneshot::channel();
        write.connections.push(connection);
        let api = ForumApi::clone(api);
        let journal = self.journal.clone();
        journal.requested(*id, self.members[write.member].lookup);
        self.scheduler.spawn(
            *id,
            Box::pin(async move {
                let response = tokio::select! {
                    biased;
                    response = api.respond(request) => response,
                    _ = disconnection => return,
                };
                let header =
                    |name| Some(response.headers().get(name)?.to_str().unwrap().to_owned());
                let answer = Answer {
                    status: response.status().as_u16(),
                    had_ended,
                    latest: scheduler.now().saturating_add(difference),
                    created: header("location"),
                    reason: header("x-error-reason"),
                };
                journal.answered(number, answer);
            }),
        );
    }

    fn read_feed(&self, node: usize, limit: u32) {
        let Some(Running { id, service: Service::Node(api) }) =
            &self.processes[node % NODES].running
        else {
            return;
        };
        let after = self.reader.lock().unwrap().after.clone();
        let start = match &after {
            Some(after) => format!("after={after}"),
            None => format!("since={SINCE}"),
        };
        let request = Request::get(format!("/api/v1/x/events?{start}&limit={limit}"))
            .header("authorization", format!("Bearer {}", self.members[ADMINISTRATOR].token))
            .body(Full::new(bytes::Bytes::new()))
            .unwrap();
        let api = ForumApi::clone(api);
        let reader = self.reader.clone();
        let journal = self.journal.clone();
        journal.requested(*id, self.members[ADMINISTRATOR].lookup);
        let scheduler = self.scheduler.clone();
        let sent_at = scheduler.now();
        let retention = self.setting.feed_retention;
        self.scheduler.spawn(
            *id,
            Box::pin(async move {
                let response = api.respond(request).await;
                journal.note(|| format!("the feed after {after:?} gets {}", response.status()));
                let reason = response.headers().get("x-error-reason");
                let is_expired = reason.is_some_and(|reason| reason == "position_expired");
                if let Some(after) =
                    after.as_deref().filter(|_| is_expired || response.status() == 200)
                {
                    journal.read_position(after, is_expired, sent_at, scheduler.now(), retention);
                }
                if is_expired {
                    let mut reader = reader.lock().unwrap();
                    if reader.after == after {
                        *reader = FeedReader::default();
                    }
                }
                if response.status() != 200 {
                    return;
                }
                let bytes = response.into_body().into_bytes();
                let body: Value = serde_json::from_slice(&bytes).unwrap();
                let mut reader = reader.lock().unwrap();
                // A page that another request has read is ignored.
                if reader.after == after {
                    let items = body["items"].as_array().unwrap().iter();
                    let ids: Vec<_> =
                        items.map(|item| item["event"].as_str().unwrap().to_owned()).collect();
                    let next = body["next"].as_str().map(str::to_owned);
                    let positions = ids.last().into_iter().chain(&next);
                    for position in positions {
                        journal.read_position(position, false, sent_at, scheduler.now(), retention);
                    }
                    reader.is_complete = next.is_none();
                    reader.after = next.or(ids.last().cloned()).or(after);
                    reader.items.extend(ids);
                }
            }),
        );
    }

    // Rest.

    pub(crate) fn is_running(&self, id: ProcessId) -> bool {
        self.processes.iter().filter_map(|one| one.running.as_ref()).any(|one| one.id == id)
    }

    /// Returns the requests with each token of a member who is not erased, as the store has them.
    pub(crate) fn usage_of_tokens(&self) -> Vec<(Lookup, u64)> {
        let members = self.members.iter().filter(|member| !member.is_erased);
        let count = |lookup: Lookup| {
            let usage = &self.stores.usage;
            let hours = ready(usage.token_usage_by_hour(ALWAYS, Some(&lookup))).unwrap();
            (lookup, hours.iter().map(|(_, counts)| counts.requests).sum())
        };
        members.map(|member| count(member.lookup)).collect()
    }

    /// Ends all faults, and waits until nothing more can happen.
    pub(crate) fn recover(&mut self) {
        self.scheduler.set_random(self.seed);
        self.faults.set_percent(0);
        self.receivers.lock().unwrap().clear();
        for process in &self.processes {
            process.clock.set(0, 0);
        }
        self.start_all();
        self.scheduler.advance(RECOVERY_PERIOD);
    }

    /// Repeats each write whose key is valid. Returns their numbers.
    pub(crate) fn repeat_writes(&mut self) -> Vec<usize> {
        let mut repeated = Vec::new();
        for number in 0..self.writes.len() {
            let write = &self.writes[number];
            let is_late = self.scheduler.now() > write.first_sent_at.saturating_add(REPEAT_PERIOD);
            if write.key.is_none() || is_late {
                continue;
            }
            repeated.push(number);
            for _ in 0..3 {
                self.send(number, number);
                self.scheduler.run_until_idle();
                let status = self.journal.with(|facts| facts.writes[number].last_status);
                if status != 429 {
                    break;
                }
                self.scheduler.advance(Duration::from_secs(61));
            }
        }
        repeated
    }

    /// Reads the feed to the last page. Returns the items that a client has that reads from the beginning only now.
    pub(crate) fn read_whole_feed(&mut self) -> Vec<String> {
        self.read_to_end();
        let known = std::mem::take(&mut *self.reader.lock().unwrap());
        self.read_to_end();
        let now = std::mem::replace(&mut *self.reader.lock().unwrap(), known);
        now.items
    }

    fn read_to_end(&self) {
        for _ in 0..60 {
            self.reader.lock().unwrap().is_complete = false;
            self.read_feed(0, 100);
            self.scheduler.run_until_idle();
            if self.reader.lock().unwrap().is_complete {
                return;
            }
            self.scheduler.advance(Duration::from_secs(10));
        }
    }
}

fn node(
    board: Arc<ProcessBoard>,
    stores: Stores,
    webhooks: &WebhookStores,
    retention: Duration,
    environment: &Environment,
) -> ForumApi {
    let mut settings = ApiSettings::default();
    settings.token_budget = Budget { units: 30, window: Duration::from_secs(60) };
    ForumApi::builder(Host::from(board), stores)
        .environment(environment)
        .settings(settings)
        .operation(event_feed(webhooks, retention, environment))
        .build()
        .unwrap()
}

pub(crate) fn worker_settings(event_retention: Duration) -> WorkerSettings {
    let mut settings = WorkerSettings::default();
    settings.poll_interval = Duration::from_secs(600);
    settings.retention = Duration::from_secs(2 * 3600);
    settings.event_retention = event_retention;
    settings
}

fn url(endpoint: &EndpointId) -> String {
    format!("https://{endpoint}.example/")
}

/// Reduces a number to an index; `None` if there are no elements.
const fn reduced(number: usize, length: usize) -> Option<usize> {
    number.checked_rem(length)
}

/// Returns the database of this thread, without rows. Opening one for each simulation takes longer than its steps.
fn empty_database() -> Database {
    thread_local! {
        static DATABASE: Database = Database::open(&DatabasePath::Memory).unwrap();
    }
    let database = DATABASE.with(Clone::clone);
    blocking(database.write(delete_rows)).unwrap();
    database
}

fn delete_rows(savepoint: &Savepoint<'_>) -> Result<(), SqliteError> {
    for table in [
        "attempts",
        "deliveries",
        "events",
        "endpoints",
        "webhook_key",
        "audit_log",
        "idempotency_keys",
        "tokens",
        "usage",
    ] {
        savepoint.execute(&format!("DELETE FROM forum_api_{table}"), [])?;
    }
    Ok(())
}

fn erase(savepoint: &Savepoint<'_>, erased: &ErasedMember) -> Result<(), SqliteError> {
    let run = |statement: forum_api::store::ErasureStatement| {
        let sql = statement.sql.replace('$', "?");
        savepoint.execute(&sql, params_from_iter(statement.parameters))
    };
    for statement in erased.statements() {
        run(statement)?;
    }
    let find_events = ErasedMember::FIND_EVENTS_SQL.replace('$', "?");
    let mut find = savepoint.prepare(&find_events)?;
    // A history has fewer events than one call of the query returns.
    let parameters = (erased.event_pattern(), 0);
    let rows = find.query_map(parameters, |row| Ok((row.get("id")?, row.get("body")?)))?;
    let events: Vec<(String, Option<String>)> = rows.collect::<Result<_, _>>()?;
    for (id, body) in events {
        for statement in erased.of_event(&id, &body.unwrap_or_default()) {
            run(statement)?;
        }
    }
    Ok(())
}

/// Returns the result of an operation of the database, which another thread runs.
fn blocking<T>(operation: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(operation)
}
