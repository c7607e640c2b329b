//! Operations on webhook endpoints.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{AdminResult, WebhookAdminError};
use crate::audit::{AuditAction, AuditActor, AuditEntry, owner_text};
use crate::environment::Environment;
use crate::error::BoxError;
use crate::model::{DAY, DeliveryId, EndpointId, Timestamp, UserId};
use crate::store::WebhookStores;
use crate::task::timeout;
#[cfg(feature = "panel")]
use crate::webhook::Topic;
use crate::webhook::{
    AddressError, AllowedAddresses, AttemptRecord, DeliveryState, EncryptedSecret, Endpoint,
    EndpointUrl, Event, EventMeta, KeyMismatchError, PendingSecret, PlaintextCipher, Resolver,
    SecretCipher, SystemResolver, TopicSet, UnknownTopicError, WebhookSecret, without_query,
};

/// Largest number of deliveries that are queued again or removed in one call of the store.
const BATCH: u32 = 500;

/// Pause between two batches, so that other writers are not delayed.
const PAUSE_BETWEEN_BATCHES: Duration = Duration::from_millis(50);

/// Time between two look-ups of the result of an attempt.
const RESULT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Registers and changes webhook endpoints ([protocol](crate::guide::protocol), section 13).
///
/// Each change is recorded in the audit log with the `actor` of the call. An operation that changes nothing adds no entry.
/// A [`ping`](Self::ping) and an [`example`](Self::example) are not recorded.
#[derive(Clone)]
pub struct WebhookAdmin {
    pub(crate) webhooks: WebhookStores,
    environment: Environment,
    resolver: Arc<dyn Resolver>,
    allowed_addresses: AllowedAddresses,
    address_remedy: &'static str,
}

/// Values of a new endpoint.
#[derive(Clone, Debug)]
pub struct NewEndpoint {
    /// URL to which deliveries are sent: `https` or `http`, at most 2048 bytes.
    pub url: String,
    /// Topics to which the endpoint subscribes.
    pub topics: TopicSet,
    /// The member for whom the endpoint acts.
    pub owner: UserId,
    /// Username of the owner, for the audit log; `None` to record `#` and the id.
    pub owner_name: Option<String>,
    /// The secret that signs deliveries; `None` to generate one.
    pub secret: Option<WebhookSecret>,
}

/// New values of an endpoint; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct EndpointUpdate {
    /// URL to which deliveries are sent: `https` or `http`, at most 2048 bytes.
    pub url: Option<String>,
    /// Topics to which the endpoint subscribes.
    pub topics: Option<TopicSet>,
    /// The member for whom the endpoint acts.
    pub owner: Option<UserId>,
    /// Username of the new owner, for the audit log; `None` to record `#` and the id.
    pub owner_name: Option<String>,
}

/// An endpoint with its new secret. The secret cannot be read again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EndpointWithSecret {
    /// The endpoint after the operation.
    pub endpoint: Endpoint,
    /// The new secret: active after [`WebhookAdmin::add`], pending after [`WebhookAdmin::rotate`].
    pub secret: WebhookSecret,
}

/// A delivery after an attempt. `Display` shows the result without a period, for example `delivered: the endpoint
/// responded with 204`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttemptReport {
    /// State of the delivery.
    pub state: DeliveryState,
    /// Record of the attempt; `None` if the delivery was withheld.
    pub last: Option<AttemptRecord>,
}

/// Result of [`WebhookAdmin::wait_for_attempt`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AwaitedAttempt {
    /// The attempt has ended.
    Ended(AttemptReport),
    /// The time limit has passed during an attempt.
    Sending,
    /// The delivery waits, for example because no worker runs or the endpoint is busy.
    Waiting,
    /// The delivery was removed.
    Removed,
}

impl fmt::Display for AttemptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.last.as_ref().map_or_else(String::new, AttemptRecord::result);
        match self.state {
            DeliveryState::Delivered => write!(f, "delivered: {reason}"),
            DeliveryState::Withheld => {
                f.write_str("not sent: the owner of the endpoint may not receive the event")
            }
            _ => write!(f, "not delivered: {reason}"),
        }
    }
}

impl WebhookAdmin {
    /// Creates a `WebhookAdmin` for the endpoints in `webhooks`. By default it accepts only public addresses.
    pub fn new(webhooks: WebhookStores, environment: &Environment) -> Self {
        Self {
            webhooks,
            environment: environment.clone(),
            resolver: Arc::new(SystemResolver),
            allowed_addresses: AllowedAddresses::Public,
            address_remedy: "",
        }
    }

    /// Sets the resolver of the host names in new URLs. Default: [`SystemResolver`].
    #[must_use]
    pub fn resolver(self, resolver: impl Resolver) -> Self {
        Self { resolver: Arc::new(resolver), ..self }
    }

    /// Sets the addresses of endpoints. Pass the same value to the worker in
    /// [`WorkerSettings::allowed_addresses`](crate::worker::WorkerSettings::allowed_addresses). Default: public ones.
    #[must_use]
    pub fn allowed_addresses(mut self, allowed_addresses: AllowedAddresses) -> Self {
        self.allowed_addresses = allowed_addresses;
        self
    }

    /// Sets the text that [`describe`](Self::describe) adds to the refusal of a private address: how an operator allows
    /// it, for example `pass --allow-private-webhooks to allow it`. Default: none.
    #[must_use]
    pub fn address_remedy(mut self, address_remedy: &'static str) -> Self {
        self.address_remedy = address_remedy;
        self
    }

    /// Returns the text of an error about the URL of an endpoint, with the [remedy](Self::address_remedy).
    pub fn describe(&self, error: &AddressError) -> String {
        let remedy = self.address_remedy;
        match error {
            AddressError::Private { .. } if !remedy.is_empty() => format!("{error}; {remedy}"),
            other => other.to_string(),
        }
    }

    /// Checks a URL, but not the addresses of its host name.
    #[cfg(feature = "panel")]
    pub(crate) fn check_url(&self, url: &str) -> Result<(), AddressError> {
        EndpointUrl::parse(url, self.allowed_addresses).map(drop)
    }

    /// Returns all topics to which an endpoint can subscribe.
    #[cfg(feature = "panel")]
    pub(crate) fn known_topics(&self) -> impl Iterator<Item = Topic> {
        self.environment.topics().into_iter()
    }

    /// Returns each topic to which an endpoint can subscribe, with a sentence without its period.
    #[cfg(feature = "panel")]
    pub(crate) fn described_topics(&self) -> Vec<(Topic, &'static str)> {
        let kinds = self.environment.event_kinds();
        let named = kinds.filter(|kind| kind.topic != Topic::PING);
        let sentence = |text: &'static str| {
            text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
        };
        named.map(|kind| (kind.topic.clone(), sentence(kind.description))).collect()
    }

    /// Checks that the secrets in the store are encrypted with the key of the environment. Records the key if the store
    /// has no recorded key. [`add`](Self::add) and [`rotate`](Self::rotate) call this method; also call it before you
    /// start a worker.
    ///
    /// # Errors
    /// [`WebhookAdminError::Key`] if another key is recorded; [`WebhookAdminError::Backend`] if no key is recorded and a
    /// stored secret cannot be decrypted, or if the store fails.
    pub async fn check_key(&self) -> AdminResult<()> {
        let endpoints = &self.webhooks.endpoints;
        let secrets = &*self.environment.secret_cipher;
        loop {
            if let Some(stored) = endpoints.key_id().await? {
                let given = secrets.key_id();
                if stored == given {
                    return Ok(());
                }
                return Err(KeyMismatchError::new(stored, given).into());
            }
            let reencrypted = self.reencrypted(&endpoints.list().await?, secrets)?;
            let key = secrets.key_id();
            if endpoints.replace_key(None, &key, &reencrypted, None).await? {
                return Ok(());
            }
        }
    }

    /// Encrypts all secrets with the key of `new`, and records this key, in one transaction. An endpoint that another process
    /// adds at the same time follows in a further transaction. Returns the number of endpoints.
    ///
    /// The environment must have the cipher of the former key; its default, [`PlaintextCipher`], is for secrets that
    /// are stored in plain text. Secrets that `new` can already decrypt stay unchanged, so a call can be repeated.
    /// Afterwards restart all processes with the new key: a process with the former key cannot decrypt the secrets and
    /// postpones its deliveries.
    ///
    /// An endpoint that the store cannot decode keeps its secret: repair or remove it before you discard the former key.
    ///
    /// An operator who lost the key can remove all endpoints, and then call this method on a [`WebhookAdmin`] whose
    /// environment has [`PlaintextCipher`].
    ///
    /// # Errors
    /// - [`WebhookAdminError::Key`] if the recorded key is neither the former nor the new one. Exception: there are no
    ///   endpoints, and the cipher of the environment is [`PlaintextCipher`].
    /// - [`WebhookAdminError::Backend`] if a secret cannot be decrypted with either key, or the store fails.
    ///
    /// If it returns [`WebhookAdminError::Key`], or if the secret of an endpoint that existed before the call cannot be
    /// decrypted, nothing has changed. After a failure of the store, call it again.
    pub async fn reencrypt(
        &self,
        new: &dyn SecretCipher,
        actor: &AuditActor,
    ) -> AdminResult<usize> {
        let endpoints = &self.webhooks.endpoints;
        let former = self.environment.secret_cipher.key_id();
        let mut is_replaced = false;
        loop {
            let stored = endpoints.key_id().await?;
            let all = endpoints.list().await?;
            let number = all.len();
            let is_lost = all.is_empty() && former == PlaintextCipher.key_id();
            let key = new.key_id();
            if let Some(other) = stored.as_ref().filter(|stored| ![&former, &key].contains(stored))
            {
                // Another process has replaced the new key since.
                if is_replaced {
                    return Ok(number);
                }
                if !is_lost {
                    return Err(KeyMismatchError::new(other.clone(), former).into());
                }
            }
            let reencrypted = self.reencrypted(&all, new)?;
            if stored.as_ref() == Some(&key) && reencrypted == all {
                return Ok(number);
            }
            let audit = self
                .audit_entry(actor, AuditAction::KEY_REPLACED, &key)?
                .with_details(format_args!("endpoints {number}"));
            // The endpoints are read again: another process can have added one before the new key was recorded.
            is_replaced |=
                endpoints.replace_key(stored.as_ref(), &key, &reencrypted, Some(&audit)).await?;
        }
    }

    /// Registers an endpoint. It is enabled, and receives the events that occur after the registration. If another process
    /// replaces the key at the same time, the endpoint is removed again, and the method returns [`WebhookAdminError::Key`].
    ///
    /// # Errors
    /// [`WebhookAdminError::UnknownTopic`], [`WebhookAdminError::Address`], [`WebhookAdminError::Key`], or
    /// [`WebhookAdminError::Backend`] if the store, the cipher or the random source fails.
    ///
    /// # Panics
    /// Outside of a tokio runtime with time enabled.
    pub async fn add(
        &self,
        new: NewEndpoint,
        actor: &AuditActor,
    ) -> AdminResult<EndpointWithSecret> {
        let topics = new.topics.validated(&self.environment.topics())?;
        let url = self.checked_url(new.url).await?;
        self.check_key().await?;
        let random = &*self.environment.random;
        let secret = match new.secret {
            Some(secret) => secret,
            None => WebhookSecret::generate(random)?,
        };
        let id = EndpointId::generate(random)?;
        let endpoint = Endpoint {
            secret: self.encrypt(&secret, &id)?,
            id,
            url,
            topics,
            owner: new.owner,
            enabled: true,
            created_at: self.environment.clock.now(),
            pending_secret: None,
            failing_since: None,
            is_slow: false,
            auto_disabled: false,
            version: 1,
        };
        // The owner is first, because an erasure searches for it, and the end of long details is not stored.
        let (url, topics) = (without_query(&endpoint.url), &endpoint.topics);
        let owner = owner_text(new.owner_name.as_deref(), &endpoint.owner);
        let audit = self
            .audit_entry(actor, AuditAction::ENDPOINT_ADDED, &endpoint.id)?
            .with_details(format_args!("owner {owner}; topics {topics}; url {url}"));
        if !self.webhooks.endpoints.add(&endpoint, &audit).await? {
            return Err(backend_error("the new endpoint's id is already taken"));
        }
        // Another process can have replaced the key since the first check. The endpoint stays if the store fails here.
        if let Err(WebhookAdminError::Key(error)) = self.check_key().await {
            self.remove(&endpoint.id, actor).await?;
            return Err(error.into());
        }
        Ok(EndpointWithSecret { endpoint, secret })
    }

    /// Checks the URL of an endpoint, and returns it as requests use it. An empty path stays empty.
    async fn checked_url(&self, url: String) -> AdminResult<String> {
        let checked =
            EndpointUrl::check_registration(&url, self.allowed_addresses, &*self.resolver).await?;
        let used = checked.as_str();
        let is_same = used.strip_suffix('/') == Some(&url);
        Ok(if is_same { url } else { used.to_owned() })
    }

    /// Generates a new secret, which is pending until it is activated or 24 hours have passed. It replaces another pending
    /// secret.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`], [`WebhookAdminError::Key`] or [`WebhookAdminError::Backend`].
    pub async fn rotate(
        &self,
        id: &EndpointId,
        actor: &AuditActor,
    ) -> AdminResult<EndpointWithSecret> {
        let secret = WebhookSecret::generate(&*self.environment.random)?;
        let encrypted = self.encrypt(&secret, id)?;
        let now = self.environment.clock.now();
        let audit = self.audit_entry(actor, AuditAction::ENDPOINT_SECRET_ROTATED, id)?;
        loop {
            let current = self.find(id).await?;
            // A replacement of the key after this check changes the version, and the endpoint is not stored.
            self.check_key().await?;
            let rotated = current.rotated(encrypted.clone(), now);
            if let Some(endpoint) = self.store(rotated, &audit).await? {
                return Ok(EndpointWithSecret { endpoint, secret });
            }
        }
    }

    /// Activates the pending secret, whichever rotation created it.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`], [`WebhookAdminError::NoPendingSecret`] or
    /// [`WebhookAdminError::Backend`].
    pub async fn activate(&self, id: &EndpointId, actor: &AuditActor) -> AdminResult<Endpoint> {
        let now = self.environment.clock.now();
        let audit = self.audit_entry(actor, AuditAction::ENDPOINT_SECRET_ACTIVATED, id)?;
        self.modify(id, &audit, |endpoint| activated(endpoint, now)).await
    }

    /// Activates the pending secret if its [`activates_at`](crate::webhook::PendingSecret::activates_at) is this time.
    ///
    /// Otherwise a later rotation has replaced the secret, and the receiver may not have the new one yet: the method
    /// returns an error and activates nothing.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`], [`WebhookAdminError::NoPendingSecret`],
    /// [`WebhookAdminError::PendingSecretReplaced`] or [`WebhookAdminError::Backend`].
    pub async fn activate_rotation(
        &self,
        id: &EndpointId,
        activates_at: Timestamp,
        actor: &AuditActor,
    ) -> AdminResult<Endpoint> {
        let now = self.environment.clock.now();
        let audit = self.audit_entry(actor, AuditAction::ENDPOINT_SECRET_ACTIVATED, id)?;
        let activate = |endpoint: Endpoint| {
            let pending = endpoint.pending_secret.as_ref();
            let is_rotation = pending.is_some_and(|pending| pending.activates_at == activates_at);
            let endpoint = activated(endpoint, now)?;
            if is_rotation { Ok(endpoint) } else { Err(WebhookAdminError::PendingSecretReplaced) }
        };
        self.modify(id, &audit, activate).await
    }

    /// Enables or disables an endpoint.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`] or [`WebhookAdminError::Backend`].
    pub async fn set_enabled(
        &self,
        id: &EndpointId,
        enabled: bool,
        actor: &AuditActor,
    ) -> AdminResult<Endpoint> {
        let set = |endpoint: Endpoint| {
            let is_reset = enabled && !endpoint.enabled;
            Ok(Endpoint {
                enabled,
                failing_since: endpoint.failing_since.filter(|_| !is_reset),
                auto_disabled: endpoint.auto_disabled && !is_reset,
                ..endpoint
            })
        };
        let action =
            if enabled { AuditAction::ENDPOINT_ENABLED } else { AuditAction::ENDPOINT_DISABLED };
        let audit = self.audit_entry(actor, action, id)?;
        self.modify(id, &audit, set).await
    }

    /// Changes the URL, the topics and the owner of an endpoint. Queued deliveries are sent to the new URL.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`], [`WebhookAdminError::UnknownTopic`], [`WebhookAdminError::Address`] or
    /// [`WebhookAdminError::Backend`].
    ///
    /// # Panics
    /// Outside of a tokio runtime with time enabled, if the URL changes.
    pub async fn update(
        &self,
        id: &EndpointId,
        update: EndpointUpdate,
        actor: &AuditActor,
    ) -> AdminResult<Endpoint> {
        let EndpointUpdate { url, topics, owner, owner_name } = update;
        let topics =
            topics.map(|topics| topics.validated(&self.environment.topics())).transpose()?;
        self.find(id).await?;
        let url = match url {
            Some(url) => Some(self.checked_url(url).await?),
            None => None,
        };
        let details: Vec<_> = [
            owner
                .as_ref()
                .map(|owner| format!("owner {}", owner_text(owner_name.as_deref(), owner))),
            topics.as_ref().map(|topics| format!("topics {topics}")),
            url.as_ref().map(|url| format!("url {}", without_query(url))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let audit = self
            .audit_entry(actor, AuditAction::ENDPOINT_UPDATED, id)?
            .with_details(details.join("; "));
        let change = |endpoint: Endpoint| {
            Ok(Endpoint {
                url: url.clone().unwrap_or(endpoint.url),
                topics: topics.clone().unwrap_or(endpoint.topics),
                owner: owner.clone().unwrap_or(endpoint.owner),
                ..endpoint
            })
        };
        self.modify(id, &audit, change).await
    }

    /// Queues a `ping` for this endpoint only.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`], [`WebhookAdminError::EndpointDisabled`] or
    /// [`WebhookAdminError::Backend`].
    pub async fn ping(&self, id: &EndpointId) -> AdminResult<DeliveryId> {
        let now = self.environment.clock.now();
        let ping = Event::ping(EventMeta::new(&*self.environment.random, now)?);
        self.enqueue(&ping, id).await
    }

    /// Queues an example of a topic for this endpoint only, regardless of its topics. The body has the data of the example
    /// in the OpenAPI document, and `"example": true`.
    ///
    /// # Errors
    /// [`WebhookAdminError::UnknownTopic`], [`WebhookAdminError::EndpointNotFound`],
    /// [`WebhookAdminError::EndpointDisabled`] or [`WebhookAdminError::Backend`].
    pub async fn example(&self, id: &EndpointId, topic: &str) -> AdminResult<DeliveryId> {
        let kind = self
            .environment
            .event_kinds()
            .find(|kind| kind.topic.as_str() == topic)
            .ok_or_else(|| UnknownTopicError::new(topic))?;
        let meta = EventMeta::new(&*self.environment.random, self.environment.clock.now())?;
        self.enqueue(&kind.new_example(meta), id).await
    }

    async fn enqueue(&self, event: &Event, id: &EndpointId) -> AdminResult<DeliveryId> {
        let deliveries = &self.webhooks.deliveries;
        if let Some(delivery) = deliveries.enqueue(event, id, event.occurred_at).await? {
            return Ok(delivery);
        }
        self.find(id).await?;
        Err(WebhookAdminError::EndpointDisabled)
    }

    /// Waits for the end of the next attempt of a delivery. `previous` is the last attempt before the delivery was sent
    /// again; `None` for a [`ping`](Self::ping) or an [`example`](Self::example).
    ///
    /// Waits for at most `limit`. If a worker is sending the delivery at that time, waits for at most `sending_limit`
    /// longer. Returns [`Waiting`](AwaitedAttempt::Waiting) or [`Sending`](AwaitedAttempt::Sending) if the attempt has not
    /// ended by then.
    ///
    /// # Errors
    /// [`WebhookAdminError::Backend`].
    pub async fn wait_for_attempt(
        &self,
        id: &DeliveryId,
        previous: Option<&AttemptRecord>,
        limit: Duration,
        sending_limit: Duration,
    ) -> AdminResult<AwaitedAttempt> {
        let runtime = &*self.environment.runtime;
        if let Some(ended) = timeout(runtime, limit, self.ended(id, previous)).await {
            return ended;
        }
        let now = self.environment.clock.now();
        if !self.webhooks.deliveries.is_sending(id, now).await? {
            // The attempt can have ended after the time limit.
            let ended = self.attempted(id, previous).await?;
            return Ok(ended.unwrap_or(AwaitedAttempt::Waiting));
        }
        let ended = timeout(runtime, sending_limit, self.ended(id, previous)).await;
        ended.unwrap_or(Ok(AwaitedAttempt::Sending))
    }

    /// Waits until the delivery was attempted or removed.
    async fn ended(
        &self,
        id: &DeliveryId,
        previous: Option<&AttemptRecord>,
    ) -> AdminResult<AwaitedAttempt> {
        loop {
            if let Some(ended) = self.attempted(id, previous).await? {
                return Ok(ended);
            }
            self.environment.runtime.sleep(RESULT_POLL_INTERVAL).await;
        }
    }

    /// Returns the result of the attempt after `previous`; `None` if there is none yet.
    async fn attempted(
        &self,
        id: &DeliveryId,
        previous: Option<&AttemptRecord>,
    ) -> AdminResult<Option<AwaitedAttempt>> {
        let Some((delivery, attempts)) = self.webhooks.deliveries.find(id).await? else {
            return Ok(Some(AwaitedAttempt::Removed));
        };
        let last = attempts.into_iter().next_back();
        let state = delivery.progress.state;
        let has_ended = !state.is_pending() || last.as_ref() != previous;
        Ok(has_ended.then_some(AwaitedAttempt::Ended(AttemptReport { state, last })))
    }

    /// Removes an endpoint with its deliveries, even if the store cannot decode it.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`] or [`WebhookAdminError::Backend`].
    pub async fn remove(&self, id: &EndpointId, actor: &AuditActor) -> AdminResult<()> {
        let entry = self.audit_entry(actor, AuditAction::ENDPOINT_REMOVED, id)?;
        let audit = match self.find(id).await {
            Ok(endpoint) => {
                entry.with_details(format_args!("url {}", without_query(&endpoint.url)))
            }
            // The endpoint is malformed. If the store failed, the removal fails, too.
            Err(WebhookAdminError::Backend(_)) => entry,
            Err(error) => return Err(error),
        };
        let is_removed = self.webhooks.endpoints.remove(id, &audit).await?;
        if is_removed { Ok(()) } else { Err(WebhookAdminError::EndpointNotFound) }
    }

    /// Queues all dead deliveries of an endpoint again, in batches. Returns their number.
    ///
    /// # Errors
    /// [`WebhookAdminError::EndpointNotFound`] or [`WebhookAdminError::Backend`].
    pub async fn retry_dead(&self, id: &EndpointId, actor: &AuditActor) -> AdminResult<u64> {
        self.find(id).await?;
        let audit = self.audit_entry(actor, AuditAction::DELIVERY_REDELIVERED, id)?;
        let deliveries = &self.webhooks.deliveries;
        let mut retried = 0;
        loop {
            let now = self.environment.clock.now();
            let batch = deliveries.retry_dead(id, now, BATCH, &audit).await?;
            if batch == 0 {
                return Ok(retried);
            }
            retried += batch;
            self.pause_after(batch).await;
        }
    }

    /// Queues the dead deliveries of all endpoints again, with an audit entry for each endpoint that has any. Returns their
    /// number.
    ///
    /// # Errors
    /// [`WebhookAdminError::Backend`].
    pub async fn retry_all_dead(&self, actor: &AuditActor) -> AdminResult<u64> {
        let mut retried = 0;
        for endpoint in self.webhooks.endpoints.list().await? {
            retried += match self.retry_dead(&endpoint.id, actor).await {
                Err(WebhookAdminError::EndpointNotFound) => 0, // removed meanwhile
                result => result?,
            };
        }
        Ok(retried)
    }

    /// Queues a [finished](DeliveryState) delivery again, or makes a retrying one due at once. Returns `false`, and changes
    /// nothing, if it is queued or leased, or if it does not exist.
    ///
    /// # Errors
    /// [`WebhookAdminError::Backend`].
    pub async fn retry_delivery(&self, id: &DeliveryId, actor: &AuditActor) -> AdminResult<bool> {
        let audit = self.audit_entry(actor, AuditAction::DELIVERY_REDELIVERED, id)?;
        let now = self.environment.clock.now();
        Ok(self.webhooks.deliveries.retry(id, now, &audit).await?)
    }

    /// Removes a delivery in any state. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// [`WebhookAdminError::Backend`].
    pub async fn remove_delivery(&self, id: &DeliveryId, actor: &AuditActor) -> AdminResult<bool> {
        let audit = self.audit_entry(actor, AuditAction::DELIVERY_REMOVED, id)?;
        Ok(self.webhooks.deliveries.remove(id, &audit).await?)
    }

    /// Removes the deliveries in `state` that were created longer ago than `age`, in batches. Returns their number. `state`
    /// must be a [finished](DeliveryState) state.
    ///
    /// # Errors
    /// [`WebhookAdminError::Backend`].
    pub async fn purge_deliveries(
        &self,
        state: DeliveryState,
        age: Duration,
        actor: &AuditActor,
    ) -> AdminResult<u64> {
        let audit = self.audit_entry(actor, AuditAction::DELIVERY_PURGED, "")?;
        let days = age.as_secs() / DAY.as_secs();
        let state_name = state.as_str();
        let audit = audit.with_details(format_args!("{state_name}; older than {days} days"));
        let start = self.environment.clock.now();
        let deliveries = &self.webhooks.deliveries;
        let mut purged = 0;
        loop {
            let now = self.environment.clock.now();
            // Deliveries that reach the age meanwhile stay.
            let elapsed = now.saturating_duration_since(start);
            let reached = age.saturating_add(elapsed);
            let batch = deliveries.purge(state, reached, now, BATCH, &audit).await?;
            if batch == 0 {
                return Ok(purged);
            }
            purged += batch;
            self.pause_after(batch).await;
        }
    }

    /// Waits for [`PAUSE_BETWEEN_BATCHES`] if the batch was full: another one can follow.
    async fn pause_after(&self, batch: u64) {
        if batch >= u64::from(BATCH) {
            self.environment.runtime.sleep(PAUSE_BETWEEN_BATCHES).await;
        }
    }

    fn audit_entry(
        &self,
        actor: &AuditActor,
        action: AuditAction,
        target: impl ToString,
    ) -> AdminResult<AuditEntry> {
        let now = self.environment.clock.now();
        Ok(actor.entry(&*self.environment.random, now, action, target)?)
    }

    fn encrypt(&self, secret: &WebhookSecret, id: &EndpointId) -> AdminResult<EncryptedSecret> {
        let encrypted = self.environment.secret_cipher.encrypt(secret, id);
        encrypted.map_err(WebhookAdminError::Backend)
    }

    /// Encrypts with `new` all secrets that `new` cannot decrypt.
    fn reencrypted(
        &self,
        endpoints: &[Endpoint],
        new: &dyn SecretCipher,
    ) -> AdminResult<Vec<Endpoint>> {
        let endpoints = endpoints.iter().cloned();
        let reencrypted = endpoints.map(|endpoint| self.reencrypted_endpoint(endpoint, new));
        reencrypted.collect()
    }

    fn reencrypted_endpoint(
        &self,
        endpoint: Endpoint,
        new: &dyn SecretCipher,
    ) -> AdminResult<Endpoint> {
        let id = &endpoint.id;
        let reencrypt = |encrypted: &EncryptedSecret| {
            if new.decrypt(encrypted, id).is_ok() {
                return Ok(encrypted.clone());
            }
            let secret =
                self.environment.secret_cipher.decrypt(encrypted, id).map_err(|error| {
                    backend_error(format!("failed to read the secret of endpoint {id}: {error}"))
                })?;
            new.encrypt(&secret, id).map_err(WebhookAdminError::Backend)
        };
        let secret = reencrypt(&endpoint.secret)?;
        let pending_secret = match &endpoint.pending_secret {
            Some(pending) => Some(PendingSecret {
                secret: reencrypt(&pending.secret)?,
                activates_at: pending.activates_at,
            }),
            None => None,
        };
        Ok(Endpoint { secret, pending_secret, ..endpoint })
    }

    async fn find(&self, id: &EndpointId) -> AdminResult<Endpoint> {
        let endpoint = self.webhooks.endpoints.find(id).await?;
        endpoint.ok_or(WebhookAdminError::EndpointNotFound)
    }

    /// Applies `change` to an endpoint, and repeats this if the endpoint was updated in the meantime. Returns the
    /// endpoint with its new version. Writes nothing if `change` returns the endpoint unchanged.
    async fn modify(
        &self,
        id: &EndpointId,
        audit: &AuditEntry,
        change: impl Fn(Endpoint) -> AdminResult<Endpoint> + Send + Sync,
    ) -> AdminResult<Endpoint> {
        loop {
            let current = self.find(id).await?;
            let changed = change(current.clone())?;
            if changed == current {
                return Ok(current);
            }
            if let Some(stored) = self.store(changed, audit).await? {
                return Ok(stored);
            }
        }
    }

    /// Stores a changed endpoint, and returns it with its new version. Returns `None` if it was changed since it was read.
    async fn store(&self, changed: Endpoint, audit: &AuditEntry) -> AdminResult<Option<Endpoint>> {
        let is_stored = self.webhooks.endpoints.update(&changed, audit).await?;
        let version = changed.version + 1;
        Ok(is_stored.then_some(Endpoint { version, ..changed }))
    }
}

fn activated(endpoint: Endpoint, now: Timestamp) -> AdminResult<Endpoint> {
    endpoint.activated(now).ok_or(WebhookAdminError::NoPendingSecret)
}

opaque_debug!(WebhookAdmin);

fn backend_error(source: impl Into<BoxError>) -> WebhookAdminError {
    WebhookAdminError::Backend(source.into())
}
