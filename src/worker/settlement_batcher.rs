//! The loop that notes how attempts ended: whatever ended meanwhile, together.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::context::{Crew, STORE};
use crate::metrics::recorder;
use crate::store::Settlement;
use crate::task::timeout;

/// So many are noted at a time.
const BATCH: usize = 64;

/// Where attempts say how they ended.
#[derive(Clone)]
pub(super) struct Ledger(mpsc::UnboundedSender<Entry>);

/// How an attempt ended, and whom to tell whether that was noted.
struct Entry {
    settlement: Settlement,
    noted: oneshot::Sender<bool>,
}

impl Ledger {
    /// A ledger, kept until nobody holds it any more.
    pub(super) fn open(crew: &Arc<Crew>, alive: &watch::Sender<()>) -> Self {
        let (sender, mut entries) = mpsc::unbounded_channel();
        let (own, others) = (Arc::clone(crew), alive.clone());
        crew.detach(alive, async move {
            let mut batch = Vec::new();
            while entries.recv_many(&mut batch, BATCH).await > 0 {
                note(&own, &others, std::mem::take(&mut batch)).await;
            }
        });
        Self(sender)
    }

    /// Notes how an attempt ended, in a step at most; `false` when its lease was not in force any more, and `None` when
    /// it is not known to be noted.
    pub(super) async fn note(&self, crew: &Crew, settlement: Settlement) -> Option<bool> {
        let (noted, told) = oneshot::channel();
        self.0.send(Entry { settlement, noted }).ok()?;
        timeout(&*crew.environment.runtime, crew.settings.step, told)
            .await?
            .ok()
    }
}

/// Notes them together, or, when the store will not have that, each by itself: none spoils what becomes of another.
async fn note(crew: &Arc<Crew>, alive: &watch::Sender<()>, batch: Vec<Entry>) {
    let (settlements, told): (Vec<_>, Vec<_>) = batch
        .into_iter()
        .map(|entry| (entry.settlement, entry.noted))
        .unzip();
    let deliveries = &crew.stores.deliveries;
    let settle = async {
        deliveries
            .settle(&settlements, crew.environment.clock.now())
            .await
    };
    match crew.step(settle).await {
        Ok(settled) => {
            for (one, noted) in settlements.iter().zip(told) {
                noted
                    .send(settled.contains(&one.delivery))
                    .unwrap_or_default();
            }
        }
        Err(fault) => {
            recorder::record_store_error(STORE);
            tracing::warn!(%fault, together = settlements.len(), "a store failed, and is asked again");
            for (settlement, noted) in settlements.into_iter().zip(told) {
                crew.detach(alive, alone(Arc::clone(crew), Entry { settlement, noted }));
            }
        }
    }
}

async fn alone(crew: Arc<Crew>, entry: Entry) {
    let Entry { settlement, noted } = entry;
    let deliveries = &crew.stores.deliveries;
    let one = std::slice::from_ref(&settlement);
    let settled = crew.patiently(|| deliveries.settle(one, crew.environment.clock.now()));
    if let Some(settled) = settled.await {
        noted.send(!settled.is_empty()).unwrap_or_default();
    }
}
