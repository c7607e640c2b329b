//! What an operator does with endpoints: the same for a command line and for a control panel.

use std::sync::Arc;

use super::WebhookAdminError;
use crate::environment::Environment;
use crate::error::BoxError;
use crate::model::{DeliveryId, EndpointId, UserId};
use crate::store::WebhookStores;
use crate::webhook::{
    EncryptedSecret, Endpoint, EndpointUrl, Event, EventMeta, KeyId, KeyMismatch, PendingSecret,
    PlaintextCipher, Resolver, SecretCipher, SystemResolver, Topic, TopicSet, WebhookSecret,
};

/// Largest number of dead deliveries that are queued again in one step.
const RETRY_BATCH: u32 = 500;

/// Registers endpoints and changes them.
#[derive(Clone)]
pub struct WebhookAdmin {
    webhooks: WebhookStores,
    environment: Environment,
    resolver: Arc<dyn Resolver>,
    own: Vec<Topic>,
    allow_private: bool,
}

/// An endpoint to be.
#[derive(Clone, Debug)]
pub struct NewEndpoint {
    /// Where deliveries are sent.
    pub url: String,
    /// Topics.
    pub topics: TopicSet,
    /// The member for whom it acts.
    pub owner: UserId,
    /// What signs its deliveries; `None` for a new one.
    pub secret: Option<WebhookSecret>,
}

/// An endpoint with its new secret, which is shown once.
#[derive(Clone, Debug)]
pub struct EndpointWithSecret {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The secret.
    pub secret: WebhookSecret,
}

impl WebhookAdmin {
    /// Over these stores; only public addresses are taken.
    pub fn new(webhooks: WebhookStores, environment: impl Into<Environment>) -> Self {
        Self {
            webhooks,
            environment: environment.into(),
            resolver: Arc::new(SystemResolver),
            own: Vec::new(),
            allow_private: false,
        }
    }

    /// Asks `resolver` where names lead.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver, ..self }
    }

    /// Topics of the host's own, beside the [standard ones](Topic::STANDARD).
    #[must_use]
    pub fn topics(self, own: Vec<Topic>) -> Self {
        Self { own, ..self }
    }

    /// Whether loopback, private and unique-local addresses are taken too.
    #[must_use]
    pub fn allow_private(self, allow_private: bool) -> Self {
        Self {
            allow_private,
            ..self
        }
    }

    /// Every topic that an endpoint may be told of.
    #[cfg(feature = "panel")]
    pub(crate) fn known_topics(&self) -> impl Iterator<Item = Topic> {
        Topic::STANDARD.into_iter().chain(self.own.clone())
    }

    /// Where it keeps what it registers.
    #[cfg(feature = "panel")]
    pub(crate) fn webhooks(&self) -> &WebhookStores {
        &self.webhooks
    }

    /// Checks that the secrets in the store are encrypted with this registry's key, and records the key in a store that
    /// has recorded none. [`register`](Self::register) and [`rotate`](Self::rotate) do this first; a program does it when
    /// it starts, before it starts a worker.
    ///
    /// # Errors
    /// [`Declined::Key`] when another key is recorded; [`Declined::Failed`] when none is, and a stored secret cannot be
    /// decrypted.
    pub async fn check_key(&self) -> Result<(), WebhookAdminError> {
        let (endpoints, secrets) = (&self.webhooks.endpoints, &*self.environment.secrets);
        loop {
            if let Some(stored) = endpoints.key_id().await? {
                let given = secrets.key_id();
                let is_given = stored == given;
                let mismatch = || KeyMismatch { stored, given }.into();
                return is_given.then_some(()).ok_or_else(mismatch);
            }
            if self
                .replace_key(None, endpoints.list().await?, secrets)
                .await?
            {
                return Ok(());
            }
        }
    }

    /// Encrypts all secrets with `new` and records its key, in one transaction. The former key is this registry's;
    /// [`Plain`], the default, encrypts secrets that are stored in plain text. Secrets that `new` decrypts already are
    /// left as they are, so an interrupted call can be repeated. Returns the number of endpoints.
    ///
    /// Registries and workers with the former key must be replaced afterwards: until then their deliveries wait.
    ///
    /// # Errors
    /// [`Declined::Key`] when the recorded key is neither of the two, unless there are no endpoints and this registry has
    /// no key, so that an operator who lost the key can remove the endpoints and record another one.
    /// [`Declined::Failed`] when a secret cannot be decrypted with either. Nothing is changed then.
    pub async fn reencrypt(&self, new: &dyn SecretCipher) -> Result<usize, WebhookAdminError> {
        let (endpoints, former) = (&self.webhooks.endpoints, self.environment.secrets.key_id());
        loop {
            let (stored, all) = (endpoints.key_id().await?, endpoints.list().await?);
            let is_lost = all.is_empty() && former == PlaintextCipher.key_id();
            if let Some(stored) = &stored
                && ![&former, &new.key_id()].contains(&stored)
                && !is_lost
            {
                let (stored, given) = (stored.clone(), former);
                return Err(KeyMismatch { stored, given }.into());
            }
            let number = all.len();
            if self.replace_key(stored.as_ref(), all, new).await? {
                return Ok(number);
            }
        }
    }

    /// Records the key of `new` and encrypts with it all secrets that it does not decrypt already; `false` when another
    /// key was recorded, or an endpoint changed, meanwhile.
    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        endpoints: Vec<Endpoint>,
        new: &dyn SecretCipher,
    ) -> Result<bool, WebhookAdminError> {
        let endpoints = endpoints.into_iter();
        let endpoints = endpoints.map(|endpoint| self.reencrypted(endpoint, new));
        let endpoints = endpoints.collect::<Result<Vec<_>, _>>()?;
        let stored = &self.webhooks.endpoints;
        let key = new.key_id();
        Ok(stored.replace_key(former, &key, &endpoints).await?)
    }

    /// Registers an endpoint, enabled.
    ///
    /// # Errors
    /// When the store's secrets have another key, nothing may be sent to the URL's address, or the board never sends one of
    /// the topics.
    pub async fn add(&self, new: NewEndpoint) -> Result<EndpointWithSecret, WebhookAdminError> {
        let topics = new.topics.validated(&self.own)?;
        EndpointUrl::check_registration(&new.url, self.allow_private, &*self.resolver).await?;
        self.check_key().await?;
        let random = &*self.environment.random;
        let secret = match new.secret {
            Some(secret) => secret,
            None => WebhookSecret::generate(random)?,
        };
        let id = EndpointId::generate(random)?;
        let endpoint = Endpoint {
            secret: self.seal(&secret, &id)?,
            id,
            url: new.url,
            topics,
            owner: new.owner,
            enabled: true,
            created_at: self.environment.clock.now(),
            pending_secret: None,
            version: 1,
        };
        let added = self.webhooks.endpoints.add(&endpoint).await?;
        let revealed = added.then_some(EndpointWithSecret { endpoint, secret });
        revealed.ok_or_else(|| failed("the new endpoint's id is already taken"))
    }

    /// Begins a rotation: the new secret pends until it is activated, or 24 hours have passed.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn rotate(&self, id: &EndpointId) -> Result<EndpointWithSecret, WebhookAdminError> {
        self.check_key().await?;
        let secret = WebhookSecret::generate(&*self.environment.random)?;
        let sealed = self.seal(&secret, id)?;
        let now = self.environment.clock.now();
        let rotate = self.change(id, |endpoint| Ok(endpoint.rotated(sealed.clone(), now)));
        let endpoint = rotate.await?;
        Ok(EndpointWithSecret { endpoint, secret })
    }

    /// Ends a rotation: the pending secret is in force.
    ///
    /// # Errors
    /// When there is no such endpoint, or nothing pends.
    pub async fn activate(&self, id: &EndpointId) -> Result<Endpoint, WebhookAdminError> {
        let now = self.environment.clock.now();
        self.change(id, |endpoint| Ok(endpoint.activated(now)?))
            .await
    }

    /// Enables an endpoint, or disables it.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn set_enabled(
        &self,
        id: &EndpointId,
        enabled: bool,
    ) -> Result<Endpoint, WebhookAdminError> {
        let enable = self.change(id, |endpoint| {
            Ok(Endpoint {
                enabled,
                ..endpoint
            })
        });
        enable.await
    }

    /// Changes what an endpoint is told of.
    ///
    /// # Errors
    /// When there is no such endpoint, or the board never sends one of the topics.
    pub async fn set_topics(
        &self,
        id: &EndpointId,
        topics: TopicSet,
    ) -> Result<Endpoint, WebhookAdminError> {
        let topics = topics.validated(&self.own)?;
        let subscribe = self.change(id, |endpoint| {
            let topics = topics.clone();
            Ok(Endpoint { topics, ..endpoint })
        });
        subscribe.await
    }

    /// Sends a `ping` to this endpoint alone.
    ///
    /// # Errors
    /// When there is no such endpoint, or it is disabled.
    pub async fn ping(&self, id: &EndpointId) -> Result<DeliveryId, WebhookAdminError> {
        let now = self.environment.clock.now();
        let ping = Event::ping(EventMeta::new(&*self.environment.random, now)?);
        let sent = self.webhooks.deliveries.enqueue(&ping, id, now).await?;
        match sent {
            Some(delivery) => Ok(delivery),
            None => self
                .find(id)
                .await
                .and(Err(WebhookAdminError::EndpointDisabled)),
        }
    }

    /// Removes an endpoint, and what was queued for it.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn remove(&self, id: &EndpointId) -> Result<(), WebhookAdminError> {
        let removed = self.webhooks.endpoints.remove(id).await?;
        removed
            .then_some(())
            .ok_or(WebhookAdminError::EndpointNotFound)
    }

    /// Queues every dead delivery of an endpoint again, in batches; returns their number.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn retry_dead(&self, id: &EndpointId) -> Result<u64, WebhookAdminError> {
        self.find(id).await?;
        let deliveries = &self.webhooks.deliveries;
        let mut retried = 0;
        loop {
            let now = self.environment.clock.now();
            match deliveries.retry_dead(id, now, RETRY_BATCH).await? {
                0 => return Ok(retried),
                batch => retried += batch,
            }
        }
    }

    fn seal(
        &self,
        secret: &WebhookSecret,
        endpoint: &EndpointId,
    ) -> Result<EncryptedSecret, WebhookAdminError> {
        let sealed = self.environment.secrets.encrypt(secret, endpoint);
        sealed.map_err(WebhookAdminError::Backend)
    }

    fn reencrypted(
        &self,
        endpoint: Endpoint,
        new: &dyn SecretCipher,
    ) -> Result<Endpoint, WebhookAdminError> {
        let id = &endpoint.id;
        let reencrypt = |sealed: &EncryptedSecret| {
            if new.decrypt(sealed, id).is_ok() {
                return Ok(sealed.clone());
            }
            let secret = self.environment.secrets.decrypt(sealed, id);
            let unreadable = |error| {
                failed(format!(
                    "failed to read the secret of endpoint {id}: {error}"
                ))
            };
            let secret = secret.map_err(unreadable)?;
            new.encrypt(&secret, id).map_err(WebhookAdminError::Backend)
        };
        let secret = reencrypt(&endpoint.secret)?;
        let pending = endpoint.pending_secret.as_ref().map(
            |PendingSecret {
                 secret,
                 activates_at: from,
             }| {
                let (secret, from) = (reencrypt(secret)?, *from);
                Ok::<_, WebhookAdminError>(PendingSecret {
                    secret,
                    activates_at: from,
                })
            },
        );
        Ok(Endpoint {
            secret,
            pending_secret: pending.transpose()?,
            ..endpoint
        })
    }

    async fn find(&self, id: &EndpointId) -> Result<Endpoint, WebhookAdminError> {
        let found = self.webhooks.endpoints.find(id).await?;
        found.ok_or(WebhookAdminError::EndpointNotFound)
    }

    /// Changes an endpoint, and repeats that if it was changed meanwhile. Returns it with its new version.
    async fn change(
        &self,
        id: &EndpointId,
        change: impl Fn(Endpoint) -> Result<Endpoint, WebhookAdminError> + Send + Sync,
    ) -> Result<Endpoint, WebhookAdminError> {
        loop {
            let changed = change(self.find(id).await?)?;
            if self.webhooks.endpoints.update(&changed).await? {
                let version = changed.version + 1;
                return Ok(Endpoint { version, ..changed });
            }
        }
    }
}

opaque_debug!(WebhookAdmin);

fn failed(source: impl Into<BoxError>) -> WebhookAdminError {
    WebhookAdminError::Backend(source.into())
}
