//! The journal: what the processes did, as the stores, the board, the receivers and the clients saw it. Each record checks
//! the rules that concern it, so that a violation is found in the step that causes it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::host::Access;
use forum_api::model::*;
use forum_api::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};
use forum_api::store::{ClaimBatch, ClaimRequest, ClaimedDelivery, FanOut, Settlement, TokenUsage};
use forum_api::test_util::StoreInterceptor;
use forum_api::token::Lookup;
use forum_api::webhook::{
    DeliveryState, Endpoint, Event, PlaintextCipher, SecretCipher as _, SignedRequest, Topic,
    TopicSet, WebhookSecret, verify,
};
use serde_json::Value;

use crate::scheduler::{ProcessId, START};

/// Time in which a client repeats a request. Keys are kept for 24 hours, by clocks that differ by up to two hours.
pub(crate) const REPEAT_PERIOD: Duration = Duration::from_secs(20 * 3600);

/// Time until a new secret becomes active.
pub(crate) const ROTATION_PERIOD: Duration = Duration::from_secs(24 * 3600);

/// Largest difference of clocks that is tolerated.
const TOLERANCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Journal(Arc<Mutex<Facts>>);

pub(crate) struct Facts {
    /// Number of records, which orders them.
    order: u64,
    trace: DefaultHasher,
    /// Prints each record.
    is_verbose: bool,
    /// `true` if leases and delays are not checked against the clocks.
    clocks_differ: bool,
    pub(crate) violation: Option<String>,
    /// Tokens of the members, by their numbers.
    pub(crate) tokens: Vec<TokenFacts>,
    pub(crate) writes: Vec<WriteFacts>,
    pub(crate) threads: Vec<ThreadId>,
    pub(crate) posts: Vec<PostPath>,
    /// Committed events, in the order of their commits.
    pub(crate) events: Vec<Event>,
    event_ids: HashSet<EventId>,
    pub(crate) deliveries: BTreeMap<DeliveryId, DeliveryFacts>,
    pub(crate) endpoints: Vec<EndpointFacts>,
    loads: BTreeMap<(ProcessId, UserId), Vec<Load>>,
    windows: BTreeMap<Vec<u8>, WindowState>,
    erased: Vec<(UserId, u64)>,
    /// Times of the first fan-outs of events.
    pub(crate) fan_outs: HashMap<EventId, Timestamp>,
    /// Requests of each node.
    pub(crate) usage: BTreeMap<ProcessId, UsageFacts>,
}

/// Requests to a node by token; `None` if the node does not know the token, because the store has failed.
#[derive(Default)]
pub(crate) struct UsageFacts {
    pub(crate) requests: BTreeMap<Option<Lookup>, u64>,
    /// Requests that the node has added to the store.
    pub(crate) stored: BTreeMap<Option<Lookup>, u64>,
    /// `true` if the result of such a call may have been lost: the node repeats it.
    pub(crate) may_repeat: bool,
}

pub(crate) struct TokenFacts {
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) is_revoked: bool,
}

impl TokenFacts {
    pub(crate) fn has_ended(&self, now: Timestamp) -> bool {
        self.is_revoked || self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// A request of a client that changes the board, with its repeats.
pub(crate) struct WriteFacts {
    /// Number of the member.
    pub(crate) member: usize,
    pub(crate) has_key: bool,
    pub(crate) commits: u32,
    /// Location of the first successful response.
    pub(crate) created: Option<String>,
    pub(crate) last_status: u16,
    /// Header `x-error-reason` of the last response.
    pub(crate) last_reason: Option<String>,
}

/// Response to a write.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `true` if the token had ended by each clock when the request was sent.
    pub(crate) had_ended: bool,
    /// The time of the response, by the clock that is furthest ahead.
    pub(crate) latest: Timestamp,
    /// Header `location`.
    pub(crate) created: Option<String>,
    /// Header `x-error-reason`.
    pub(crate) reason: Option<String>,
}

#[derive(Default)]
pub(crate) struct DeliveryFacts {
    /// `None` until a result is recorded.
    pub(crate) state: Option<DeliveryState>,
    attempts: u32,
    due_at: Option<Timestamp>,
    lease: Option<Lease>,
    /// `true` if a worker recorded that sending begins, and no result.
    is_begun: bool,
    /// Number of leases under which each process recorded that sending begins, without an attempt yet.
    pending_sends: BTreeMap<ProcessId, u32>,
}

struct Lease {
    id: i64,
    process: ProcessId,
    claimed: ClaimedDelivery,
    claimed_at: Timestamp,
    order: u64,
    /// Order of the record that sending begins.
    begun: Option<u64>,
    sends: u32,
    /// One reply. If clocks differ, also those to attempts of the process under its earlier leases.
    replies: Vec<(Reply, Timestamp)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Status(u16),
    None,
}

pub(crate) struct EndpointFacts {
    pub(crate) id: EndpointId,
    pub(crate) owner: UserId,
    pub(crate) topics: TopicSet,
    /// `false` if an administrator ever disabled it, or erased its owner, or if the owner ever lost a right.
    pub(crate) receives_all: bool,
    secrets: Vec<SecretFacts>,
    pub(crate) is_removed: bool,
}

struct SecretFacts {
    secret: WebhookSecret,
    /// Time from which it signs, by the clock of the worker.
    usable_at: Timestamp,
    /// Order in which a rotation replaced it before it was active.
    replaced: Option<u64>,
    /// Order in which an administrator activated it.
    activated: u64,
}

/// Access of a member as a process loaded it.
struct Load {
    order: u64,
    /// Visible forums; `None` if the member cannot act.
    forums: Option<HashSet<ForumId>>,
}

type RuleResult = Result<(), String>;

fn require(holds: bool, fault: impl FnOnce() -> String) -> RuleResult {
    if holds { Ok(()) } else { Err(fault()) }
}

impl Journal {
    pub(crate) fn new(clocks_differ: bool, is_verbose: bool) -> Self {
        Self(Arc::new(Mutex::new(Facts {
            order: 0,
            trace: DefaultHasher::new(),
            is_verbose,
            clocks_differ,
            violation: None,
            tokens: Vec::new(),
            writes: Vec::new(),
            threads: Vec::new(),
            posts: Vec::new(),
            events: Vec::new(),
            event_ids: HashSet::new(),
            deliveries: BTreeMap::new(),
            endpoints: Vec::new(),
            loads: BTreeMap::new(),
            windows: BTreeMap::new(),
            erased: Vec::new(),
            fan_outs: HashMap::new(),
            usage: BTreeMap::new(),
        })))
    }

    pub(crate) fn with<T>(&self, run: impl FnOnce(&mut Facts) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(crate) fn trace(&self) -> u64 {
        self.with(|facts| facts.trace.finish())
    }

    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        self.with(|facts| facts.record(text));
    }

    /// Reports a violation of a rule at rest.
    pub(crate) fn require(&self, holds: bool, fault: impl FnOnce() -> String) {
        self.with(|facts| facts.check(require(holds, fault)));
    }

    /// Observes the calls of a process after their effect, even if the process does not get their result.
    pub(crate) fn observe(&self, calls: &StoreInterceptor, process: ProcessId) {
        macro_rules! observe {
            ($method:literal, |$facts:ident, $arguments:ident: $types:ty, $result:ident: $type:ty| $record:expr) => {
                let journal = self.clone();
                calls.on_result_with_arguments(
                    $method,
                    move |$arguments: &$types, $result: &mut $type| {
                        journal.with(|$facts| $record);
                    },
                );
            };
        }
        observe!("deliveries.claim", |facts,
                                      arguments: (ClaimRequest, Timestamp),
                                      batch: ClaimBatch| {
            for claimed in &batch.deliveries {
                facts.claimed(process, claimed, arguments.1);
            }
        });
        observe!(
            "deliveries.begin_sending",
            |facts, arguments: (Vec<ClaimedDelivery>, Timestamp), begun: HashSet<DeliveryId>| {
                facts.check_distinct(arguments.0.iter().map(|claimed| &claimed.delivery.id));
                for claimed in &arguments.0 {
                    if begun.contains(&claimed.delivery.id) {
                        facts.begun(claimed);
                    }
                }
            }
        );
        observe!(
            "deliveries.settle",
            |facts, arguments: (Vec<Settlement>, Timestamp), settled: HashSet<DeliveryId>| {
                facts.check_distinct(arguments.0.iter().map(|one| &one.delivery_id));
                for settlement in &arguments.0 {
                    if settled.contains(&settlement.delivery_id) {
                        facts.settled(settlement, arguments.1);
                    }
                }
            }
        );
        observe!("deliveries.release", |facts,
                                        arguments: (Vec<ClaimedDelivery>, Duration, Timestamp),
                                        _result: ()| {
            for claimed in &arguments.0 {
                facts.released(claimed, arguments.2.saturating_add(arguments.1));
            }
        });
        observe!(
            "rate_limits.charge",
            |facts,
             arguments: (RateLimitKey, u32, Budget, Timestamp),
             decision: RateLimitDecision| {
                facts.charged(&arguments.0, arguments.1, arguments.2, arguments.3, decision);
            }
        );
        observe!("outbox.fan_out", |facts, arguments: (Vec<FanOut>, Timestamp), _result: ()| {
            for fan_out in &arguments.0 {
                facts.fan_outs.entry(fan_out.event_id.clone()).or_insert(arguments.1);
            }
        });
        observe!("usage.add_token_usage", |facts, arguments: (Vec<TokenUsage>,), _result: ()| {
            let stored = &mut facts.usage.entry(process).or_default().stored;
            for one in &arguments.0 {
                *stored.entry(one.token).or_default() += one.counts.requests;
            }
        });
        observe!("rate_limits.refund", |facts,
                                        arguments: (RateLimitKey, u32, Budget, Timestamp),
                                        _result: ()| {
            facts.refunded(&arguments.0, arguments.1, arguments.2, arguments.3);
        });
    }

    // The board.

    pub(crate) fn committed_event(&self, event: &Event) {
        self.with(|facts| {
            facts.record(|| format!("committed {} {}", event.topic, event.id));
            facts.event_ids.insert(event.id.clone());
            facts.events.push(event.clone());
        });
    }

    /// Records the commit of the write with this text.
    pub(crate) fn committed_write(&self, text: &str) {
        self.with(|facts| {
            facts.record(|| format!("committed {text:?}"));
            let Some(write) = write_number(text).and_then(|number| facts.writes.get_mut(number))
            else {
                return;
            };
            write.commits += 1;
            let happens_once = !write.has_key || write.commits == 1;
            facts.check(require(happens_once, || {
                format!("a write with a key happens once: {text:?}")
            }));
        });
    }

    pub(crate) fn created_thread(&self, thread: &Thread) {
        self.with(|facts| {
            facts.threads.push(thread.thread_id.clone());
            let path = PostPath {
                thread_id: thread.thread_id.clone(),
                post_id: thread.first_post_id.clone(),
            };
            facts.posts.push(path);
        });
    }

    pub(crate) fn created_post(&self, post: &Post) {
        self.with(|facts| facts.posts.push(post.path()));
    }

    pub(crate) fn loaded_access(
        &self,
        process: ProcessId,
        member: &UserId,
        access: Option<&Access>,
    ) {
        self.with(|facts| {
            facts.record(|| format!("{process:?} loads {member}"));
            let forums =
                access.map(|access| access.visible_forums().as_ids().cloned().unwrap_or_default());
            let order = facts.order;
            let loads = facts.loads.entry((process, member.clone())).or_default();
            loads.push(Load { order, forums });
        });
    }

    pub(crate) fn erased(&self, member: &UserId) {
        self.with(|facts| {
            facts.record(|| format!("erased {member}"));
            let order = facts.order;
            facts.erased.push((member.clone(), order));
            let name = in_json(member);
            for delivery in facts.deliveries.values_mut() {
                // The erasure ends the leases of events that contain the member.
                let ended =
                    delivery.lease.take_if(|lease| lease.claimed.event.body.contains(&name));
                delivery.is_begun &= ended.is_none();
            }
            facts.exclude(|endpoint| endpoint.owner == *member);
        });
    }

    // The clients.

    pub(crate) fn answered(&self, number: usize, answer: Answer) {
        self.with(|facts| {
            let Answer { status, had_ended, latest, created, reason } = answer;
            facts.record(|| {
                format!("write {number} gets {status} {}", reason.as_deref().unwrap_or_default())
            });
            let Some(write) = facts.writes.get_mut(number) else {
                return;
            };
            write.last_status = status;
            write.last_reason = reason;
            let is_accepted = status != 401 || facts.tokens[write.member].has_ended(latest);
            facts.check(require(is_accepted, || {
                format!("a valid token is accepted: write {number}")
            }));
            let write = &mut facts.writes[number];
            if !(200..300).contains(&status) {
                return;
            }
            let is_committed = write.commits > 0 || created.is_none();
            let is_same = !write.has_key || write.created.is_none() || write.created == created;
            write.created = write.created.take().or(created);
            facts.check(require(!had_ended, || {
                format!("a token that has ended is refused: write {number}")
            }));
            facts.check(require(is_committed, || {
                format!("an acknowledged write is committed: write {number}")
            }));
            facts.check(require(is_same, || {
                format!("repeats get the same response: write {number}")
            }));
        });
    }

    /// Records that a node receives a request with a token.
    pub(crate) fn requested(&self, process: ProcessId, token: Lookup) {
        self.with(|facts| {
            let requests = &mut facts.usage.entry(process).or_default().requests;
            *requests.entry(Some(token)).or_default() += 1;
        });
    }

    /// Records that the result of a call of a node may be lost, after it has added requests to the store.
    pub(crate) fn loses_usage_result(&self, process: ProcessId) {
        self.with(|facts| facts.usage.entry(process).or_default().may_repeat = true);
    }

    /// Records whether a position of the feed has expired, in a request from `sent_at` to `now`.
    pub(crate) fn read_position(
        &self,
        after: &str,
        is_expired: bool,
        sent_at: Timestamp,
        now: Timestamp,
        retention: Duration,
    ) {
        self.with(|facts| {
            // The erasure of a member removes events.
            if facts.clocks_differ || !facts.erased.is_empty() {
                return;
            }
            let fan_out = facts.fan_outs.get(&EventId::parse(after).unwrap()).copied();
            let holds = if is_expired {
                fan_out.is_some_and(|time| time < now.saturating_sub(retention))
            } else {
                fan_out.is_none_or(|time| time >= sent_at.saturating_sub(retention))
            };
            facts.check(require(holds, || {
                format!("a position expires with its event: {after} of {fan_out:?}, {is_expired}")
            }));
        });
    }

    // The receivers.

    /// Records that a process sends a delivery. Returns the id of its lease.
    pub(crate) fn sent(
        &self,
        process: ProcessId,
        request: &SignedRequest,
        now: Timestamp,
    ) -> Option<i64> {
        self.with(|facts| {
            let id = delivery_id(request);
            facts.record(|| format!("{process:?} sends {id}"));
            let result = facts.check_sent(process, &id, request, now);
            facts.check(result.map_err(|fault| format!("{fault}: {id} by {process:?}")));
            let delivery = facts.deliveries.get_mut(&id)?;
            if let Some(count) = delivery.pending_sends.get_mut(&process) {
                *count = count.saturating_sub(1);
            }
            let lease = delivery
                .lease
                .as_mut()
                .filter(|lease| lease.process == process && lease.begun.is_some())?;
            lease.sends += 1;
            Some(lease.id)
        })
    }

    pub(crate) fn replied(
        &self,
        request: &SignedRequest,
        lease_id: Option<i64>,
        reply: Reply,
        now: Timestamp,
    ) {
        self.with(|facts| {
            let id = delivery_id(request);
            facts.record(|| format!("{id} got {reply:?}"));
            if let Some(lease) = facts.lease(&id).filter(|lease| Some(lease.id) == lease_id) {
                lease.replies.push((reply, now));
            }
        });
    }

    // The administrator.

    pub(crate) fn rotated(&self, endpoint: &EndpointId, secret: WebhookSecret, now: Timestamp) {
        self.with(|facts| {
            facts.record(|| format!("rotated the secret of {endpoint}"));
            let order = facts.order;
            let endpoint = facts.endpoint(endpoint);
            if let Some(newest) = endpoint.secrets.last_mut() {
                if newest.usable_at <= now {
                    newest.usable_at = ALWAYS;
                } else {
                    newest.replaced = Some(order);
                }
            }
            let usable_at = now.saturating_add(ROTATION_PERIOD);
            endpoint.secrets.push(SecretFacts { secret, usable_at, replaced: None, activated: 0 });
        });
    }

    pub(crate) fn activated(&self, endpoint: &EndpointId) {
        self.with(|facts| {
            facts.record(|| format!("activated the secret of {endpoint}"));
            let order = facts.order;
            if let Some(newest) = facts.endpoint(endpoint).secrets.last_mut() {
                newest.usable_at = ALWAYS;
                newest.activated = order;
            }
        });
    }

    /// Records that an administrator removes an endpoint with its deliveries. An attempt that has begun goes on.
    pub(crate) fn removed(&self, endpoint: &EndpointId) {
        self.with(|facts| {
            facts.record(|| format!("removed {endpoint}"));
            facts.endpoint(endpoint).is_removed = true;
            facts.exclude(|one| one.id == *endpoint);
        });
    }

    /// Returns `true` if a process has claimed the delivery, and recorded no result.
    pub(crate) fn is_leased(&self, id: &DeliveryId) -> bool {
        self.with(|facts| facts.lease(id).is_some())
    }

    /// Records that an administrator queues a delivery again, or makes it due.
    pub(crate) fn redelivered(&self, id: &DeliveryId, now: Timestamp) {
        self.with(|facts| {
            facts.record(|| format!("redelivers {id}"));
            let delivery = facts.deliveries.entry(id.clone()).or_default();
            if delivery.state != Some(DeliveryState::Retrying) {
                delivery.state = None;
                delivery.attempts = 0;
            }
            delivery.due_at = Some(now);
            delivery.is_begun = false;
        });
    }

    /// Records that an administrator queues these dead deliveries again.
    pub(crate) fn retried_dead<'a>(&self, ids: impl Iterator<Item = &'a DeliveryId>) {
        self.with(|facts| {
            for id in ids {
                facts.record(|| format!("retried {id}"));
                facts.deliveries.insert(id.clone(), DeliveryFacts::default());
            }
        });
    }

    /// Records that an administrator queues a ping or an example.
    pub(crate) fn queued(&self, event: &EventId) {
        self.with(|facts| {
            facts.record(|| format!("queued {event}"));
            facts.event_ids.insert(event.clone());
        });
    }
}

impl Facts {
    fn record(&mut self, text: impl FnOnce() -> String) {
        self.order += 1;
        let text = text();
        text.hash(&mut self.trace);
        if self.is_verbose {
            println!("    {text}");
        }
    }

    fn check(&mut self, result: RuleResult) {
        if let Err(fault) = result {
            if self.is_verbose {
                println!("    VIOLATION: {fault}");
            }
            self.violation.get_or_insert(fault);
        }
    }

    /// Excludes endpoints from the rule that each event arrives.
    pub(crate) fn exclude(&mut self, is_excluded: impl Fn(&EndpointFacts) -> bool) {
        for endpoint in &mut self.endpoints {
            endpoint.receives_all &= !is_excluded(endpoint);
        }
    }

    pub(crate) fn endpoint(&mut self, id: &EndpointId) -> &mut EndpointFacts {
        self.endpoints.iter_mut().find(|endpoint| endpoint.id == *id).unwrap()
    }

    fn lease(&mut self, id: &DeliveryId) -> Option<&mut Lease> {
        self.deliveries.get_mut(id)?.lease.as_mut()
    }

    // The deliveries.

    fn claimed(&mut self, process: ProcessId, claimed: &ClaimedDelivery, now: Timestamp) {
        let id = &claimed.delivery.id;
        self.record(|| format!("{process:?} claims {id} lease {}", claimed.lease_id));
        let clocks_differ = self.clocks_differ;
        let is_committed = self.event_ids.contains(&claimed.event.id);
        let order = self.order;
        let delivery = self.deliveries.entry(id.clone()).or_default();
        let former = delivery.lease.take();
        let is_begun = delivery.is_begun;
        let is_free = former.is_none_or(|lease| lease.claimed.lease_expires_at <= now);
        let is_due = delivery.due_at.is_none_or(|due_at| due_at <= now);
        let is_pending = delivery.state.is_none_or(DeliveryState::is_pending);
        let attempts = delivery.attempts;
        let is_removed = self
            .endpoints
            .iter()
            .any(|endpoint| endpoint.id == claimed.endpoint.id && endpoint.is_removed);
        delivery.lease = Some(Lease {
            id: claimed.lease_id,
            process,
            claimed: claimed.clone(),
            claimed_at: now,
            order,
            begun: None,
            sends: 0,
            replies: Vec::new(),
        });
        let result = require(is_committed, || "an event is delivered after its commit".into())
            .and_then(|()| require(!is_removed, || "a removed endpoint gets nothing".into()))
            .and_then(|()| require(is_pending, || "a finished delivery is not claimed".into()))
            .and_then(|()| {
                require(clocks_differ || is_free, || "a leased delivery is not claimed".into())
            })
            .and_then(|()| {
                require(clocks_differ || is_due, || "a delivery is claimed when it is due".into())
            })
            .and_then(|()| {
                let counted = claimed.delivery.progress.attempts;
                require(counted == attempts, || {
                    format!("attempts are counted: {counted}, not {attempts}")
                })
            })
            .and_then(|()| {
                let is_same = claimed.previous_lease_expired == is_begun;
                require(is_same, || "a lost attempt is noticed".into())
            });
        self.check(result.map_err(|fault| format!("{fault}: {id} by {process:?}")));
    }

    fn check_distinct<'a>(&mut self, ids: impl IntoIterator<Item = &'a DeliveryId>) {
        let mut known = HashSet::new();
        let repeated = ids.into_iter().find(|id| !known.insert(*id));
        self.check(require(repeated.is_none(), || {
            format!("a call has a delivery once: {repeated:?}")
        }));
    }

    fn begun(&mut self, claimed: &ClaimedDelivery) {
        let id = &claimed.delivery.id;
        self.record(|| format!("begins to send {id} lease {}", claimed.lease_id));
        let order = self.order;
        let delivery = self.deliveries.entry(id.clone()).or_default();
        let lease = delivery.lease.as_mut().filter(|lease| lease.id == claimed.lease_id);
        let is_current = lease.is_some();
        if let Some(lease) = lease {
            // A call whose result is lost is repeated.
            if lease.begun.is_none() {
                *delivery.pending_sends.entry(lease.process).or_default() += 1;
            }
            lease.begun = lease.begun.or(Some(order));
            delivery.is_begun = true;
        }
        self.check(require(is_current, || format!("sending begins under the current lease: {id}")));
    }

    fn check_sent(
        &self,
        process: ProcessId,
        id: &DeliveryId,
        request: &SignedRequest,
        now: Timestamp,
    ) -> RuleResult {
        let delivery = self.deliveries.get(id).ok_or("a sent delivery was claimed")?;
        // A clock that was behind can take a lease that ended for valid. The erasure of a member ends the leases of deliveries
        // that are being sent.
        let may_be_late = self.clocks_differ || !self.erased.is_empty();
        let lease = delivery.lease.as_ref().filter(|lease| lease.process == process);
        let Some(lease) = lease else {
            return require(may_be_late, || "a delivery is sent under a lease".into());
        };
        let has_pending_send = delivery.pending_sends.get(&process).is_some_and(|count| *count > 0);
        if may_be_late && has_pending_send && (lease.begun.is_none() || lease.sends > 0) {
            return Ok(());
        }
        let Some(begun) = lease.begun else {
            return Err("sending is recorded before it begins".into());
        };
        require(lease.sends == 0, || "one lease permits one attempt".into())?;
        let is_valid = now < lease.claimed.lease_expires_at;
        require(self.clocks_differ || is_valid, || "a lease is valid when sending begins".into())?;
        let is_pending = delivery.state.is_none_or(DeliveryState::is_pending);
        require(is_pending, || "a finished delivery is not sent".into())?;
        let owner = &lease.claimed.endpoint.owner;
        let loads = self.loads.get(&(process, owner.clone())).into_iter().flatten();
        let mut loads_after_claim = loads.filter(|load| load.order > lease.order);
        let may_receive = loads_after_claim.any(|load| load.permits(owner, &lease.claimed.event));
        require(may_receive, || "the owner may see the event at the time of the attempt".into())?;
        let body = String::from_utf8_lossy(&request.body);
        let erased = self
            .erased
            .iter()
            .find(|(member, order)| *order < begun && body.contains(&in_json(member)));
        // The event of the erasure names the member, and an example can contain the same id.
        let may_contain =
            lease.claimed.event.topic == Topic::MEMBER_ERASED || body.contains(r#""example":true"#);
        require(erased.is_none() || may_contain, || "no body contains an erased member".into())?;
        self.check_secret(lease, request, now)
    }

    fn check_secret(&self, lease: &Lease, request: &SignedRequest, now: Timestamp) -> RuleResult {
        let endpoint =
            self.endpoints.iter().find(|endpoint| endpoint.id == lease.claimed.endpoint.id);
        let Some(endpoint) = endpoint else {
            return Err("a delivery has an endpoint".into());
        };
        let signs = |one: &&SecretFacts| {
            verify(std::slice::from_ref(&one.secret), &request.headers, &request.body, now).is_ok()
        };
        let Some(used) = endpoint.secrets.iter().find(signs) else {
            return Err("a delivery is signed with a secret of its endpoint".into());
        };
        let latest = now.min(lease.claimed_at).saturating_add(ROTATION_PERIOD + TOLERANCE);
        // A time that is further ahead than a rotation takes was written by a clock that was ahead, and counts as reached.
        let is_active = used.usable_at <= now.max(lease.claimed_at) || used.usable_at > latest;
        require(is_active, || "a secret signs only while it is active".into())?;
        let is_known = used.replaced.is_none_or(|order| lease.order < order);
        require(is_known, || "a replaced secret does not sign".into())?;
        let newest = endpoint.secrets.iter().rev().take_while(|one| !std::ptr::eq(*one, used));
        let is_superseded = |one: &SecretFacts| {
            one.replaced.is_none()
                && one.usable_at <= lease.claimed_at
                && one.activated < lease.order
        };
        let is_old = newest.into_iter().any(is_superseded);
        require(self.clocks_differ || !is_old, || "the active secret signs".into())
    }

    fn settled(&mut self, settlement: &Settlement, now: Timestamp) {
        let id = &settlement.delivery_id;
        let progress = settlement.progress;
        self.record(|| format!("settles {id} {:?} {}", progress.state, progress.attempts));
        let clocks_differ = self.clocks_differ;
        let Some(delivery) = self.deliveries.get_mut(id) else {
            return self.check(Err(format!("a settled delivery was claimed: {id}")));
        };
        let Some(lease) = delivery.lease.take_if(|lease| lease.id == settlement.lease_id) else {
            let is_repeated =
                delivery.state == Some(progress.state) && delivery.attempts == progress.attempts;
            return self.check(require(is_repeated, || {
                format!("a result is recorded under the current lease: {id}")
            }));
        };
        let expected = expected_progress(&lease, delivery.attempts);
        let is_expected = expected.contains(&(progress.state, progress.attempts));
        let from = lease.replies.last().map_or(lease.claimed_at, |(_, at)| *at);
        let is_delayed = progress.due_at.is_none_or(|due_at| {
            let least = Duration::from_secs(30) * 2u32.pow(progress.attempts.saturating_sub(1));
            let most = least.mul_f64(1.2) + Duration::from_millis(1);
            due_at >= from.saturating_add(least) && due_at <= now.saturating_add(most)
        });
        delivery.state = Some(progress.state);
        delivery.attempts = progress.attempts;
        delivery.due_at = progress.due_at;
        delivery.is_begun = false;
        let result = require(is_expected, || {
            format!(
                "the state follows the table: {:?}, {}, not {expected:?}",
                progress.state, progress.attempts
            )
        })
        .and_then(|()| {
            require(clocks_differ || is_delayed, || "the delay follows the table".into())
        });
        self.check(result.map_err(|fault| format!("{fault}: {id}")));
    }

    fn released(&mut self, claimed: &ClaimedDelivery, due_at: Timestamp) {
        let id = &claimed.delivery.id;
        self.record(|| format!("releases {id}"));
        if let Some(delivery) = self.deliveries.get_mut(id)
            && delivery.lease.take_if(|lease| lease.id == claimed.lease_id).is_some()
        {
            delivery.due_at = Some(due_at);
            // Nothing was sent under this lease, but perhaps under an earlier one.
            delivery.is_begun = claimed.previous_lease_expired;
        }
    }

    // The budgets.

    fn charged(
        &mut self,
        key: &RateLimitKey,
        cost: u32,
        budget: Budget,
        now: Timestamp,
        decision: &RateLimitDecision,
    ) {
        let bytes = key.to_bytes();
        let known =
            self.windows.get(&bytes).copied().filter(|known| is_running(known, budget, now));
        let used = known.map_or(0, |known| known.used);
        let fits = used + cost <= budget.units;
        let used = if fits { used + cost } else { used };
        let ends_at = known.map_or(now.saturating_add(budget.window), |known| known.ends_at);
        let is_expected = (decision.allowed, decision.remaining, decision.resets_at)
            == (fits, budget.units - used, ends_at);
        if known.is_some() || used > 0 {
            self.windows.insert(bytes, WindowState { ends_at, used });
        }
        self.record(|| format!("charges {cost}: {}", decision.allowed));
        self.check(require(is_expected, || {
            format!(
                "a window has its units once: {decision:?}, expected {fits}, {} remaining",
                budget.units - used
            )
        }));
    }

    fn refunded(&mut self, key: &RateLimitKey, cost: u32, budget: Budget, now: Timestamp) {
        let bytes = key.to_bytes();
        if let Some(known) = self.windows.get_mut(&bytes)
            && is_running(known, budget, now)
        {
            known.used = known.used.saturating_sub(cost);
            if known.used == 0 {
                self.windows.remove(&bytes);
            }
        }
    }
}

impl Load {
    fn permits(&self, owner: &UserId, event: &Event) -> bool {
        let Some(forums) = &self.forums else {
            return false;
        };
        let sees_forum = event.forum_id.as_ref().is_none_or(|forum| forums.contains(forum));
        sees_forum && concerns(event, owner)
    }
}

impl EndpointFacts {
    /// Describes a new endpoint.
    pub(crate) fn from_endpoint(endpoint: &Endpoint) -> Self {
        let secret = WebhookSecret::parse(&secret_of(endpoint)).unwrap();
        Self {
            id: endpoint.id.clone(),
            owner: endpoint.owner.clone(),
            topics: endpoint.topics.clone(),
            receives_all: true,
            secrets: vec![SecretFacts { secret, usable_at: ALWAYS, replaced: None, activated: 0 }],
            is_removed: false,
        }
    }

    /// Returns `true` if the endpoint receives the event while its owner sees its forum.
    pub(crate) fn is_recipient(&self, event: &Event) -> bool {
        self.topics.contains(&event.topic) && concerns(event, &self.owner)
    }
}

/// Returns `false` if the event is about a message between other members.
fn concerns(event: &Event, member: &UserId) -> bool {
    event.topic != Topic::MESSAGE_SENT || is_party(event, member)
}

/// Returns `true` if the member sends or receives the message of the event.
fn is_party(event: &Event, member: &UserId) -> bool {
    let body: Value = serde_json::from_str(&event.body).unwrap();
    let message = &body["data"]["message"];
    let recipients = message["recipientIds"].as_array().into_iter().flatten();
    recipients.chain([&message["senderId"]]).any(|id| id.as_str() == Some(&member.to_string()))
}

/// Returns `true` if the window counts at `now` (`docs/protocol.md`, section 4.1). A window that begins more than a minute
/// later was begun by a clock that was ahead.
fn is_running(window: &WindowState, budget: Budget, now: Timestamp) -> bool {
    let begins_at = window.ends_at.saturating_sub(budget.window);
    now < window.ends_at && begins_at <= now.saturating_add(TOLERANCE)
}

/// Returns state and attempts after an attempt (`docs/protocol.md`, section 13.11): one pair for each reply that can be the
/// one to this attempt.
fn expected_progress(lease: &Lease, attempts: u32) -> Vec<(DeliveryState, u32)> {
    use DeliveryState::{Dead, Delivered, Gone, Retrying, Withheld};
    if lease.begun.is_none() && !lease.claimed.previous_lease_expired {
        return vec![(Withheld, attempts)];
    }
    let attempts = attempts + 1;
    let state = |reply| match reply {
        Some(Reply::Status(200..=299)) => Delivered,
        Some(Reply::Status(410)) => Gone,
        _ if attempts >= 6 => Dead,
        _ => Retrying,
    };
    let may_be_unanswered = lease.replies.is_empty() || lease.replies.len() < lease.sends as usize;
    let replies = lease.replies.iter().map(|(reply, _)| Some(*reply));
    replies.chain(may_be_unanswered.then_some(None)).map(|reply| (state(reply), attempts)).collect()
}

/// Returns the active secret of an endpoint in plain text.
pub(crate) fn secret_of(endpoint: &Endpoint) -> String {
    let secret = PlaintextCipher.decrypt(&endpoint.secret, &endpoint.id).unwrap();
    secret.expose_secret().to_owned()
}

fn delivery_id(request: &SignedRequest) -> DeliveryId {
    let id = request.headers["x-forum-delivery"].to_str().unwrap();
    DeliveryId::parse(id).unwrap()
}

fn in_json(member: &UserId) -> String {
    format!(r#""userId":"{member}""#)
}

/// Returns the text that identifies a write in the board.
pub(crate) fn write_text(number: usize) -> String {
    format!("write {number}")
}

fn write_number(text: &str) -> Option<usize> {
    text.strip_prefix("write ")?.parse().ok()
}

/// Time from which a secret without a rotation signs.
pub(crate) const ALWAYS: Timestamp = Timestamp::from_millis(START.as_millis() - 7 * 86_400_000);
