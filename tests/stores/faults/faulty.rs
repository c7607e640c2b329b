//! Stores of webhooks that do what those in memory do, but for one fault.

use std::collections::HashSet;
use std::time::Duration;

use forum_api::async_trait;
use forum_api::host::Stored;
use forum_api::model::{DeliveryId, EndpointId, Timestamp};
use forum_api::store::{
    Backlog, Claim, Claimed, Claims, Deliveries, Endpoints, FanOut, Filter, Outbox, Quarantine,
    Settlement, Usage, Webhooks,
};
use forum_api::webhook::{Attempted, Delivery, Endpoint, Event, KeyId};

/// Where a fault sits: what it does to a question before the store hears it, or to the answer afterwards.
#[derive(Clone, Copy)]
pub(super) enum Plant {
    Put(fn(&mut Event)),
    AskWaiting(fn(&mut u32)),
    Waiting(fn(&mut Vec<Event>)),
    FanOut(fn(&mut Vec<FanOut>)),
    Add(fn(&mut Endpoint)),
    Added(fn(&mut bool)),
    /// A change is made to whatever version there is.
    Overwrites,
    All(fn(&mut Vec<Endpoint>)),
    AskClaim(fn(&mut Claim, &mut Timestamp)),
    Claims(fn(&mut Claims)),
    AskBacklog(fn(&mut Timestamp)),
    Backlog(fn(&mut Backlog)),
    AskSettle(fn(&mut Settlement)),
    Settled(fn(&[Settlement], &mut HashSet<DeliveryId>)),
    /// What is given back comes when its lease ends.
    Keeps,
    AskRelease(fn(&mut Vec<Claimed>, &mut Duration)),
    /// The start of sending is not recorded.
    ForgetsSending,
    AskBegin(fn(&mut Timestamp)),
    AskRetryDead(fn(&mut u32)),
    AskUsage(fn(&mut Timestamp, &mut Timestamp)),
    Usage(fn(&mut Usage)),
    Sent(fn(&mut Option<DeliveryId>)),
    AskRetry(fn(&mut Timestamp)),
    Retried(fn(&mut bool)),
    /// What is removed stays.
    Hoards,
    Found(fn(&mut Option<(Delivery, Vec<Attempted>)>)),
    AskList(fn(&mut Filter)),
    List(fn(&mut Vec<Delivery>)),
    AskSweep(fn(&mut Timestamp, &mut u32)),
}

/// The stores.
pub(super) struct Faulty {
    pub plant: Plant,
    pub kept: Webhooks,
}

/// Spoils the values, if this is where the fault sits.
macro_rules! spoil {
    ($faulty:ident, $plant:ident($($value:ident),+)) => {
        if let Plant::$plant(spoil) = $faulty.plant {
            spoil($(&mut $value),+);
        }
    };
}

#[async_trait]
impl Outbox for Faulty {
    async fn put(&self, event: &Event) -> Stored<()> {
        let mut event = event.clone();
        spoil!(self, Put(event));
        self.kept.outbox.put(&event).await
    }

    async fn waiting(&self, mut limit: u32) -> Stored<Vec<Event>> {
        spoil!(self, AskWaiting(limit));
        let mut waiting = self.kept.outbox.waiting(limit).await?;
        spoil!(self, Waiting(waiting));
        Ok(waiting)
    }

    async fn quarantined(&self, limit: u32) -> Stored<Quarantine> {
        self.kept.outbox.quarantined(limit).await
    }

    async fn fan_out(&self, events: &[FanOut], now: Timestamp) -> Stored<()> {
        let mut events = events.to_vec();
        spoil!(self, FanOut(events));
        self.kept.outbox.fan_out(&events, now).await
    }
}

#[async_trait]
impl Endpoints for Faulty {
    async fn add(&self, endpoint: &Endpoint) -> Stored<bool> {
        let mut endpoint = endpoint.clone();
        spoil!(self, Add(endpoint));
        let mut added = self.kept.endpoints.add(&endpoint).await?;
        spoil!(self, Added(added));
        Ok(added)
    }

    async fn find(&self, id: &EndpointId) -> Stored<Option<Endpoint>> {
        self.kept.endpoints.find(id).await
    }

    async fn update(&self, endpoint: &Endpoint) -> Stored<bool> {
        let mut endpoint = endpoint.clone();
        if let Plant::Overwrites = self.plant {
            let former = self.kept.endpoints.find(&endpoint.id).await?;
            endpoint.version = former.map_or(1, |former| former.version);
        }
        self.kept.endpoints.update(&endpoint).await
    }

    async fn remove(&self, id: &EndpointId) -> Stored<bool> {
        match self.plant {
            Plant::Hoards => Ok(true),
            _ => self.kept.endpoints.remove(id).await,
        }
    }

    async fn all(&self) -> Stored<Vec<Endpoint>> {
        let mut all = self.kept.endpoints.all().await?;
        spoil!(self, All(all));
        Ok(all)
    }

    async fn key_id(&self) -> Stored<Option<KeyId>> {
        self.kept.endpoints.key_id().await
    }

    async fn replace_key(
        &self,
        former: Option<&KeyId>,
        key: &KeyId,
        endpoints: &[Endpoint],
    ) -> Stored<bool> {
        let stored = &self.kept.endpoints;
        if let Plant::Overwrites = self.plant {
            let (recorded, mut fit) = (stored.key_id().await?, Vec::new());
            for endpoint in endpoints {
                let former = stored.find(&endpoint.id).await?;
                fit.extend(former.map(|Endpoint { version, .. }| Endpoint {
                    version,
                    ..endpoint.clone()
                }));
            }
            return stored.replace_key(recorded.as_ref(), key, &fit).await;
        }
        stored.replace_key(former, key, endpoints).await
    }
}

#[async_trait]
impl Deliveries for Faulty {
    async fn claim(&self, claim: &Claim, mut now: Timestamp) -> Stored<Claims> {
        let mut claim = claim.clone();
        spoil!(self, AskClaim(claim, now));
        let mut claims = self.kept.deliveries.claim(&claim, now).await?;
        spoil!(self, Claims(claims));
        Ok(claims)
    }

    async fn begin_sending(
        &self,
        claimed: &[Claimed],
        mut now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        spoil!(self, AskBegin(now));
        match self.plant {
            Plant::ForgetsSending => {
                let ids = claimed.iter().map(|one| one.delivery.id.clone());
                Ok(ids.collect())
            }
            _ => self.kept.deliveries.begin_sending(claimed, now).await,
        }
    }

    async fn settle(
        &self,
        settlements: &[Settlement],
        now: Timestamp,
    ) -> Stored<HashSet<DeliveryId>> {
        let mut settlements = settlements.to_vec();
        for one in &mut settlements {
            if let Plant::AskSettle(spoil) = self.plant {
                spoil(one);
            }
        }
        let mut settled = self.kept.deliveries.settle(&settlements, now).await?;
        if let Plant::Settled(spoil) = self.plant {
            spoil(&settlements, &mut settled);
        }
        Ok(settled)
    }

    async fn release(&self, claimed: &[Claimed], mut wait: Duration, now: Timestamp) -> Stored<()> {
        let mut claimed = claimed.to_vec();
        spoil!(self, AskRelease(claimed, wait));
        match self.plant {
            Plant::Keeps => Ok(()),
            _ => self.kept.deliveries.release(&claimed, wait, now).await,
        }
    }

    async fn backlog(&self, mut now: Timestamp) -> Stored<Backlog> {
        spoil!(self, AskBacklog(now));
        let mut backlog = self.kept.deliveries.backlog(now).await?;
        spoil!(self, Backlog(backlog));
        Ok(backlog)
    }

    async fn usage(&self, mut since: Timestamp, mut now: Timestamp) -> Stored<Usage> {
        spoil!(self, AskUsage(since, now));
        let mut usage = self.kept.deliveries.usage(since, now).await?;
        spoil!(self, Usage(usage));
        Ok(usage)
    }

    async fn send(
        &self,
        event: &Event,
        endpoint: &EndpointId,
        now: Timestamp,
    ) -> Stored<Option<DeliveryId>> {
        let mut sent = self.kept.deliveries.send(event, endpoint, now).await?;
        spoil!(self, Sent(sent));
        Ok(sent)
    }

    async fn retry(&self, id: &DeliveryId, mut now: Timestamp) -> Stored<bool> {
        spoil!(self, AskRetry(now));
        let mut retried = self.kept.deliveries.retry(id, now).await?;
        spoil!(self, Retried(retried));
        Ok(retried)
    }

    async fn retry_dead(
        &self,
        endpoint: &EndpointId,
        now: Timestamp,
        mut limit: u32,
    ) -> Stored<u64> {
        spoil!(self, AskRetryDead(limit));
        self.kept.deliveries.retry_dead(endpoint, now, limit).await
    }

    async fn remove(&self, id: &DeliveryId) -> Stored<bool> {
        match self.plant {
            Plant::Hoards => Ok(true),
            _ => self.kept.deliveries.remove(id).await,
        }
    }

    async fn find(&self, id: &DeliveryId) -> Stored<Option<(Delivery, Vec<Attempted>)>> {
        let mut found = self.kept.deliveries.find(id).await?;
        spoil!(self, Found(found));
        Ok(found)
    }

    async fn list(&self, filter: &Filter) -> Stored<Vec<Delivery>> {
        let mut filter = filter.clone();
        spoil!(self, AskList(filter));
        let mut list = self.kept.deliveries.list(&filter).await?;
        spoil!(self, List(list));
        Ok(list)
    }

    async fn sweep(&self, mut before: Timestamp, mut limit: u32) -> Stored<u64> {
        spoil!(self, AskSweep(before, limit));
        self.kept.deliveries.sweep(before, limit).await
    }
}
