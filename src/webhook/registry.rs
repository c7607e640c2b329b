//! What an operator does with endpoints: the same for a command line and for a control panel.

use std::sync::Arc;

use super::{
    Declined, Endpoint, Event, Occasion, Plain, Resolver, Secret, SecretBox, SystemResolver,
    Target, Topic, Topics,
};
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::host::BoxError;
use crate::model::{DeliveryId, EndpointId, UserId};
use crate::store::Webhooks;

/// Largest number of dead deliveries that are queued again in one step.
const RETRY_BATCH: u32 = 500;

/// Registers endpoints and changes them (contract, section 8).
#[derive(Clone)]
pub struct Registry {
    webhooks: Webhooks,
    secrets: Arc<dyn SecretBox>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    resolver: Arc<dyn Resolver>,
    own: Vec<Topic>,
    allow_private: bool,
}

/// An endpoint to be.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Where deliveries are sent.
    pub url: String,
    /// What it is told of.
    pub topics: Topics,
    /// The member for whom it acts.
    pub owner: UserId,
    /// What signs its deliveries; `None` for a new one.
    pub secret: Option<Secret>,
}

/// An endpoint with its new secret, which is shown once.
#[derive(Clone, Debug)]
pub struct Revealed {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The secret.
    pub secret: Secret,
}

impl Registry {
    /// Over these stores; secrets are kept as they are, and only public addresses are taken.
    pub fn new(webhooks: Webhooks) -> Self {
        Self {
            webhooks,
            secrets: Arc::new(Plain),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            resolver: Arc::new(SystemResolver),
            own: Vec::new(),
            allow_private: false,
        }
    }

    /// Seals secrets with `secrets`.
    #[must_use]
    pub fn secrets(self, secrets: Arc<dyn SecretBox>) -> Self {
        Self { secrets, ..self }
    }

    /// Goes by `clock`.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Takes its randomness from `entropy`.
    #[must_use]
    pub fn entropy(self, entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, ..self }
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
    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    /// Registers an endpoint, enabled.
    ///
    /// # Errors
    /// When nothing may be sent to its address, or the board never sends one of its topics.
    pub async fn register(&self, new: Registration) -> Result<Revealed, Declined> {
        let topics = new.topics.checked(&self.own)?;
        Target::register(&new.url, self.allow_private, &*self.resolver).await?;
        let secret = new.secret.map_or_else(|| self.mint(), Ok)?;
        let endpoint = Endpoint {
            id: EndpointId::mint(&*self.entropy).map_err(failed)?,
            url: new.url,
            topics,
            owner: new.owner,
            enabled: true,
            created_at: self.clock.now(),
            secret: self.secrets.seal(&secret).map_err(Declined::Failed)?,
            pending: None,
            version: 1,
        };
        let added = self.webhooks.endpoints.add(&endpoint).await?;
        let revealed = added.then_some(Revealed { endpoint, secret });
        revealed.ok_or_else(|| failed("the new endpoint's id is taken"))
    }

    /// Begins a rotation: the new secret pends until it is activated, or 24 hours have passed.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn rotate(&self, id: &EndpointId) -> Result<Revealed, Declined> {
        let secret = self.mint()?;
        let sealed = self.secrets.seal(&secret).map_err(Declined::Failed)?;
        let now = self.clock.now();
        let rotate = self.change(id, |endpoint| Ok(endpoint.rotated(sealed.clone(), now)));
        let endpoint = rotate.await?;
        Ok(Revealed { endpoint, secret })
    }

    /// Ends a rotation: the pending secret is in force.
    ///
    /// # Errors
    /// When there is no such endpoint, or nothing pends.
    pub async fn activate(&self, id: &EndpointId) -> Result<Endpoint, Declined> {
        let now = self.clock.now();
        let activate = self.change(id, |endpoint| Ok(endpoint.activated(now)?));
        activate.await
    }

    /// Enables an endpoint, or disables it.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn enable(&self, id: &EndpointId, enabled: bool) -> Result<Endpoint, Declined> {
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
    pub async fn subscribe(&self, id: &EndpointId, topics: Topics) -> Result<Endpoint, Declined> {
        let topics = topics.checked(&self.own)?;
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
    pub async fn ping(&self, id: &EndpointId) -> Result<DeliveryId, Declined> {
        let now = self.clock.now();
        let ping = Event::ping(Occasion::new(&*self.entropy, now).map_err(failed)?);
        let sent = self.webhooks.deliveries.send(&ping, id, now).await?;
        match sent {
            Some(delivery) => Ok(delivery),
            None => self.find(id).await.and(Err(Declined::Disabled)),
        }
    }

    /// Removes an endpoint, and what was queued for it.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn remove(&self, id: &EndpointId) -> Result<(), Declined> {
        let removed = self.webhooks.endpoints.remove(id).await?;
        removed.then_some(()).ok_or(Declined::NoSuchEndpoint)
    }

    /// Queues every dead delivery of an endpoint again, in batches; returns their number.
    ///
    /// # Errors
    /// When there is no such endpoint.
    pub async fn retry_dead(&self, id: &EndpointId) -> Result<u64, Declined> {
        self.find(id).await?;
        let deliveries = &self.webhooks.deliveries;
        let mut retried = 0;
        loop {
            let now = self.clock.now();
            match deliveries.retry_dead(id, now, RETRY_BATCH).await? {
                0 => return Ok(retried),
                batch => retried += batch,
            }
        }
    }

    async fn find(&self, id: &EndpointId) -> Result<Endpoint, Declined> {
        let found = self.webhooks.endpoints.find(id).await?;
        found.ok_or(Declined::NoSuchEndpoint)
    }

    /// Changes an endpoint, and repeats that if it was changed meanwhile. Returns it with its new version.
    async fn change(
        &self,
        id: &EndpointId,
        change: impl Fn(Endpoint) -> Result<Endpoint, Declined> + Send + Sync,
    ) -> Result<Endpoint, Declined> {
        loop {
            let changed = change(self.find(id).await?)?;
            if self.webhooks.endpoints.update(&changed).await? {
                let version = changed.version + 1;
                return Ok(Endpoint { version, ..changed });
            }
        }
    }

    fn mint(&self) -> Result<Secret, Declined> {
        Secret::mint(&*self.entropy).map_err(failed)
    }
}

prints_as_its_name!(Registry);

fn failed(source: impl Into<BoxError>) -> Declined {
    Declined::Failed(source.into())
}
