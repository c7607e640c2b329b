//! Interceptor of store calls.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::Duration;

use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::error::{BackendError, BackendResult};
use crate::lock::lock;
use crate::model::{DeliveryId, EndpointId, EventId, Timestamp, UserId};
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};
use crate::runtime::BoxFuture;
use crate::store::{
    AuditFilter, AuditRecord, AuditStore, BeginOutcome, ClaimBatch, ClaimRequest, ClaimedDelivery,
    Completion, DeliveryCount, DeliveryFilter, DeliveryStore, EndpointStats, EndpointStore, FanOut,
    FeedEntry, FeedPosition, FeedRead, FeedStore, FoundInFeed, IdempotencyStore, IdempotentRequest,
    OutboxStore, Quarantine, QueueStats, RateLimitStore, Reservation, Settlement, StoredEvent,
    Stores, TokenFilter, TokenStore, TokenUsage, UsageCounts, UsageStore, WebhookStores,
};
use crate::token::{Lookup, TokenRecord};
use crate::webhook::{AttemptRecord, Delivery, DeliveryState, Endpoint, Event, KeyId, Topic};

/// Wraps stores, and observes, delays, changes or fails their calls.
///
/// The name of a method is that of the store, a dot, and the method of the trait: `tokens.find`, `outbox.insert`.
///
/// ```
/// use forum_api::store::Stores;
/// use forum_api::test_util::{Intervention, StoreInterceptor};
/// use forum_api::token::Lookup;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let interceptor = StoreInterceptor::default();
/// let stores = interceptor.stores(&Stores::in_memory());
/// let lookup = Lookup::parse("0123456789abcdEF").unwrap();
/// stores.tokens.find(&lookup).await.unwrap();
/// interceptor.on_call(|method, _| match method {
///     "tokens.find" => Intervention::Fail,
///     _ => Intervention::Proceed,
/// });
/// stores.tokens.find(&lookup).await.unwrap_err();
/// assert_eq!(interceptor.take_counts()["tokens.find"], 2);
/// # });
/// ```
#[doc(hidden)]
#[derive(Clone, Default)]
pub struct StoreInterceptor(Arc<Mutex<Hooks>>);

/// The effect of a [`StoreInterceptor`] on a call.
#[non_exhaustive]
#[doc(hidden)]
pub enum Intervention {
    /// Calls the store.
    Proceed,
    /// Fails the call without calling the store.
    Fail,
    /// Panics without calling the store.
    Panic,
    /// Does not call the store; the call never completes.
    Hang,
    /// Calls the store after this future completes.
    Delay(BoxFuture<'static, ()>),
    /// Calls the store, and returns its result after this future completes.
    DelayResult(BoxFuture<'static, ()>),
    /// Calls the store, and fails the call afterwards.
    LoseResult,
}

/// What happens to the result of a call of the store.
enum ResultHandling {
    Return,
    Delay(BoxFuture<'static, ()>),
    Lose,
}

fn unreachable_store() -> BackendError {
    BackendError::new("the store is unreachable")
}

type OnCall = Arc<dyn Fn(&str, u32) -> Intervention + Send + Sync>;
type OnArguments = Arc<dyn Fn(&mut dyn Any) -> BackendResult<()> + Send + Sync>;
type OnResult = Arc<dyn Fn(&dyn Any, &mut dyn Any) + Send + Sync>;

#[derive(Default)]
struct Hooks {
    counts: BTreeMap<&'static str, u32>,
    /// `true` if calls block the calling thread.
    blocks: bool,
    on_call: Option<OnCall>,
    on_arguments: HashMap<&'static str, OnArguments>,
    on_result: HashMap<&'static str, OnResult>,
}

impl StoreInterceptor {
    /// Creates an interceptor whose calls block the calling thread, and complete when they are first polled.
    pub fn blocking() -> Self {
        let interceptor = Self::default();
        interceptor.hooks().blocks = true;
        interceptor
    }

    /// Wraps the stores of the API.
    pub fn stores(&self, inner: &Stores) -> Stores {
        Stores {
            tokens: self.wrap(&inner.tokens),
            rate_limits: self.wrap(&inner.rate_limits),
            idempotency: self.wrap(&inner.idempotency),
            audit: self.wrap(&inner.audit),
            usage: self.wrap(&inner.usage),
        }
    }

    /// Wraps the stores of webhooks.
    pub fn webhooks(&self, inner: &WebhookStores) -> WebhookStores {
        WebhookStores {
            outbox: self.wrap(&inner.outbox),
            feed: self.wrap(&inner.feed),
            endpoints: self.wrap(&inner.endpoints),
            deliveries: self.wrap(&inner.deliveries),
        }
    }

    fn wrap<T: ?Sized>(&self, inner: &Arc<T>) -> Arc<Intercepted<T>> {
        Arc::new(Intercepted { inner: Arc::clone(inner), interceptor: self.clone() })
    }

    /// Sets the function that selects the [`Intervention`] for each call. It receives the name of the method and the
    /// number of earlier calls of all methods since the previous [`take_counts`](Self::take_counts), 0 for the first
    /// call.
    pub fn on_call(&self, decide: impl Fn(&str, u32) -> Intervention + Send + Sync + 'static) {
        self.hooks().on_call = Some(Arc::new(decide));
    }

    /// Sets a function that may change the arguments of a method, which are a tuple of owned values. If the function
    /// returns an error, the call fails with it, without calling the store.
    ///
    /// # Panics
    /// A call of the method panics if its arguments have another type.
    pub fn on_arguments<A: 'static>(
        &self,
        method: &'static str,
        change: impl Fn(&mut A) -> BackendResult<()> + Send + Sync + 'static,
    ) {
        let change = move |arguments: &mut dyn Any| change(typed(method, arguments.downcast_mut()));
        self.hooks().on_arguments.insert(method, Arc::new(change));
    }

    /// Sets a function that may change the result of a method after a successful call.
    ///
    /// # Panics
    /// A call of the method panics if its result has another type.
    pub fn on_result<R: 'static>(
        &self,
        method: &'static str,
        change: impl Fn(&mut R) + Send + Sync + 'static,
    ) {
        let change = move |_: &dyn Any, result: &mut dyn Any| {
            change(typed(method, result.downcast_mut()));
        };
        self.hooks().on_result.insert(method, Arc::new(change));
    }

    /// Sets a function that may change the result of a method as [`on_result`](Self::on_result) does, and also receives
    /// the arguments of the call.
    ///
    /// # Panics
    /// A call of the method panics if its arguments or its result have another type.
    pub fn on_result_with_arguments<A: 'static, R: 'static>(
        &self,
        method: &'static str,
        change: impl Fn(&A, &mut R) + Send + Sync + 'static,
    ) {
        let change = move |arguments: &dyn Any, result: &mut dyn Any| {
            let arguments = typed(method, arguments.downcast_ref());
            change(arguments, typed(method, result.downcast_mut()));
        };
        self.hooks().on_result.insert(method, Arc::new(change));
    }

    /// Returns the number of calls of each method since the previous `take_counts`. Methods without calls are omitted.
    pub fn take_counts(&self) -> BTreeMap<&'static str, u32> {
        std::mem::take(&mut self.hooks().counts)
    }

    fn hooks(&self) -> MutexGuard<'_, Hooks> {
        lock(&self.0)
    }

    /// Counts the call and returns what happens to its result.
    #[expect(clippy::panic, reason = "the test requests the panic")]
    async fn before(
        &self,
        method: &'static str,
        arguments: &mut (dyn Any + Send),
    ) -> BackendResult<ResultHandling> {
        let (calls, on_call, on_arguments) = {
            let mut hooks = self.hooks();
            let calls = hooks.counts.values().sum();
            *hooks.counts.entry(method).or_default() += 1;
            let on_arguments = hooks.on_arguments.get(method).cloned();
            (calls, hooks.on_call.clone(), on_arguments)
        };
        let intervention = on_call.map_or(Intervention::Proceed, |decide| decide(method, calls));
        if let Some(change) = on_arguments {
            change(arguments)?;
        }
        match intervention {
            Intervention::Proceed => Ok(ResultHandling::Return),
            Intervention::Fail => Err(unreachable_store()),
            Intervention::Panic => panic!("the store panics"),
            Intervention::Hang => std::future::pending().await,
            Intervention::Delay(delay) => {
                delay.await;
                Ok(ResultHandling::Return)
            }
            Intervention::DelayResult(delay) => Ok(ResultHandling::Delay(delay)),
            Intervention::LoseResult => Ok(ResultHandling::Lose),
        }
    }

    async fn call<T: Send>(&self, call: BoxFuture<'_, BackendResult<T>>) -> BackendResult<T> {
        if self.hooks().blocks { block_on(call) } else { call.await }
    }

    fn after(&self, method: &str, arguments: &dyn Any, result: &mut dyn Any) {
        let change = self.hooks().on_result.get(method).cloned();
        if let Some(change) = change {
            change(arguments, result);
        }
    }
}

fn block_on<T>(call: BoxFuture<'_, T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    // A task of tokio can otherwise complete only a limited number of calls before it yields.
    #[cfg(feature = "sqlite")]
    let call = tokio::task::unconstrained(call);
    let mut pinned_call = pin!(call);
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = pinned_call.as_mut().poll(&mut context) {
            return result;
        }
        thread::park();
    }
}

#[expect(clippy::panic, reason = "a wrong type is an error in the test")]
fn typed<T>(method: &str, value: Option<T>) -> T {
    value.unwrap_or_else(|| panic!("{method} has different types"))
}

debug_fields!(StoreInterceptor, |it| counts: it.hooks().counts);

opaque_debug!(Intervention);

struct Intercepted<T: ?Sized> {
    inner: Arc<T>,
    interceptor: StoreInterceptor,
}

/// Implements a store trait. Each method is followed by the owned arguments, and by the arguments of the inner call,
/// which refer to the owned ones.
macro_rules! intercepted {
    ($field:ident: $trait:ident {$(
        $method:ident($($argument:ident: $type:ty),*) -> $result:ty:
            ($($owned:expr),*) => ($($passed:expr),*);
    )+}) => {
        #[async_trait]
        impl $trait for Intercepted<dyn $trait> {$(
            async fn $method(&self, $($argument: $type),*) -> BackendResult<$result> {
                const METHOD: &str = concat!(stringify!($field), ".", stringify!($method));
                let mut arguments = ($($owned,)*);
                let handling = self.interceptor.before(METHOD, &mut arguments).await?;
                let ($($argument,)*) = &arguments;
                let mut result = self.interceptor.call(self.inner.$method($($passed),*)).await?;
                self.interceptor.after(METHOD, &arguments, &mut result);
                match handling {
                    ResultHandling::Return => {}
                    ResultHandling::Delay(delay) => delay.await,
                    ResultHandling::Lose => return Err(unreachable_store()),
                }
                Ok(result)
            }
        )+}
    };
}

intercepted! {
    tokens: TokenStore {
        create(token: &TokenRecord, audit: &AuditEntry) -> bool: (token.clone(), audit.clone()) => (token, audit);
        find(lookup: &Lookup) -> Option<TokenRecord>: (*lookup) => (lookup);
        revoke(lookup: &Lookup, at: Timestamp, audit: &AuditEntry) -> bool:
            (*lookup, at, audit.clone()) => (lookup, *at, audit);
        record_use(lookup: &Lookup, at: Timestamp) -> (): (*lookup, at) => (lookup, *at);
        set_label(lookup: &Lookup, label: &str, audit: &AuditEntry) -> bool:
            (*lookup, label.to_owned(), audit.clone()) => (lookup, label, audit);
        list(filter: &TokenFilter, now: Timestamp) -> Vec<TokenRecord>: (filter.clone(), now) => (filter, *now);
        purge(before: Timestamp, limit: u32, audit: &AuditEntry) -> u64:
            (before, limit, audit.clone()) => (*before, *limit, audit);
    }
}

intercepted! {
    rate_limits: RateLimitStore {
        charge(key: &RateLimitKey, cost: u32, budget: Budget, now: Timestamp) -> RateLimitDecision:
            (*key, cost, budget, now) => (key, *cost, *budget, *now);
        refund(key: &RateLimitKey, cost: u32, budget: Budget, now: Timestamp) -> ():
            (*key, cost, budget, now) => (key, *cost, *budget, *now);
    }
}

intercepted! {
    idempotency: IdempotencyStore {
        begin(request: &IdempotentRequest, now: Timestamp) -> BeginOutcome: (request.clone(), now) => (request, *now);
        complete(reservation: &Reservation, completion: Completion) -> ():
            (reservation.clone(), completion) => (reservation, completion.clone());
    }
}

intercepted! {
    audit: AuditStore {
        insert(entry: &AuditEntry) -> (): (entry.clone()) => (entry);
        list(filter: &AuditFilter) -> Vec<AuditRecord>: (filter.clone()) => (filter);
    }
}

intercepted! {
    usage: UsageStore {
        add_token_usage(usage: &[TokenUsage]) -> (): (usage.to_vec()) => (usage);
        token_usage_by_hour(since: Timestamp, token: Option<&Lookup>) -> Vec<(Timestamp, UsageCounts)>:
            (since, token.copied()) => (*since, token.as_ref());
        most_used_tokens(since: Timestamp, limit: u32) -> Vec<(Option<Lookup>, UsageCounts)>: (since, limit) => (*since, *limit);
        usage_by_operation(since: Timestamp) -> Vec<(Option<String>, UsageCounts)>: (since) => (*since);
        sweep(retention: Duration, now: Timestamp, limit: u32) -> u64: (retention, now, limit) => (*retention, *now, *limit);
    }
}

intercepted! {
    outbox: OutboxStore {
        insert(event: &Event) -> (): (event.clone()) => (event);
        pending(limit: u32) -> Vec<Event>: (limit) => (*limit);
        quarantined(limit: u32) -> Quarantine: (limit) => (*limit);
        find(id: &EventId) -> Option<StoredEvent>: (id.clone()) => (id);
        fan_out(events: &[FanOut], now: Timestamp) -> (): (events.to_vec(), now) => (events, *now);
    }
}

intercepted! {
    feed: FeedStore {
        find(id: &EventId, now: Timestamp) -> Option<FoundInFeed>: (id.clone(), now) => (id, *now);
        find_start(time: Timestamp) -> Option<FeedPosition>: (time) => (*time);
        first_kept(retention: Duration, now: Timestamp) -> Option<FeedPosition>: (retention, now) => (*retention, *now);
        read(after: FeedPosition, reader: &UserId, limit: u32) -> FeedRead:
            (after, reader.clone(), limit) => (*after, reader, *limit);
        latest(reader: &UserId, limit: u32) -> Vec<FeedEntry>: (reader.clone(), limit) => (reader, *limit);
        bodies(ids: &[EventId]) -> HashMap<EventId, String>: (ids.to_vec()) => (ids);
        sweep(retention: Duration, now: Timestamp, limit: u32) -> u64: (retention, now, limit) => (*retention, *now, *limit);
    }
}

intercepted! {
    endpoints: EndpointStore {
        add(endpoint: &Endpoint, audit: &AuditEntry) -> bool:
            (endpoint.clone(), audit.clone()) => (endpoint, audit);
        find(id: &EndpointId) -> Option<Endpoint>: (id.clone()) => (id);
        update(endpoint: &Endpoint, audit: &AuditEntry) -> bool:
            (endpoint.clone(), audit.clone()) => (endpoint, audit);
        disable_if_failing(id: &EndpointId, period: Duration, now: Timestamp, audit: &AuditEntry) -> bool:
            (id.clone(), period, now, audit.clone()) => (id, *period, *now, audit);
        remove(id: &EndpointId, audit: &AuditEntry) -> bool: (id.clone(), audit.clone()) => (id, audit);
        list() -> Vec<Endpoint>: () => ();
        is_subscribed(topic: &Topic) -> bool: (topic.clone()) => (topic);
        key_id() -> Option<KeyId>: () => ();
        replace_key(
            former: Option<&KeyId>,
            key: &KeyId,
            endpoints: &[Endpoint],
            audit: Option<&AuditEntry>
        ) -> bool:
            (former.cloned(), key.clone(), endpoints.to_vec(), audit.cloned())
                => (former.as_ref(), key, endpoints, audit.as_ref());
    }
}

intercepted! {
    deliveries: DeliveryStore {
        claim(claim: &ClaimRequest, now: Timestamp) -> ClaimBatch: (claim.clone(), now) => (claim, *now);
        begin_sending(claimed: &[ClaimedDelivery], now: Timestamp) -> HashSet<DeliveryId>:
            (claimed.to_vec(), now) => (claimed, *now);
        settle(settlements: &[Settlement], now: Timestamp) -> HashSet<DeliveryId>:
            (settlements.to_vec(), now) => (settlements, *now);
        release(claimed: &[ClaimedDelivery], wait: Duration, now: Timestamp) -> ():
            (claimed.to_vec(), wait, now) => (claimed, *wait, *now);
        correct_times(now: Timestamp) -> u64: (now) => (*now);
        queue_stats(now: Timestamp) -> QueueStats: (now) => (*now);
        delivery_stats(period: Duration, now: Timestamp) -> Vec<DeliveryCount>: (period, now) => (*period, *now);
        endpoint_stats(period: Duration, now: Timestamp) -> Vec<EndpointStats>: (period, now) => (*period, *now);
        enqueue(event: &Event, endpoint: &EndpointId, now: Timestamp) -> Option<DeliveryId>:
            (event.clone(), endpoint.clone(), now) => (event, endpoint, *now);
        retry(id: &DeliveryId, now: Timestamp, audit: &AuditEntry) -> bool:
            (id.clone(), now, audit.clone()) => (id, *now, audit);
        retry_dead(endpoint: &EndpointId, now: Timestamp, limit: u32, audit: &AuditEntry) -> u64:
            (endpoint.clone(), now, limit, audit.clone()) => (endpoint, *now, *limit, audit);
        remove(id: &DeliveryId, audit: &AuditEntry) -> bool: (id.clone(), audit.clone()) => (id, audit);
        purge(state: DeliveryState, age: Duration, now: Timestamp, limit: u32, audit: &AuditEntry) -> u64:
            (state, age, now, limit, audit.clone()) => (*state, *age, *now, *limit, audit);
        find(id: &DeliveryId) -> Option<(Delivery, Vec<AttemptRecord>)>: (id.clone()) => (id);
        is_sending(id: &DeliveryId, now: Timestamp) -> bool: (id.clone(), now) => (id, *now);
        list(filter: &DeliveryFilter) -> Vec<(Delivery, Option<AttemptRecord>)>: (filter.clone()) => (filter);
        count_dead(endpoint: Option<&EndpointId>) -> u64: (endpoint.cloned()) => (endpoint.as_ref());
        sweep(retention: Duration, now: Timestamp, limit: u32) -> u64: (retention, now, limit) => (*retention, *now, *limit);
    }
}
