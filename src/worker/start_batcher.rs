//! The loop that records that sending begins: for all attempts that begin at the same time in one step.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::context::{Crew, STORE};
use crate::host::{Fault, Stored};
use crate::metrics::recorder;
use crate::store::Claimed;
use crate::task::timeout;

/// Largest number of deliveries that are recorded in one step.
const BATCH: usize = 64;

/// Handle by which attempts record that sending begins.
#[derive(Clone)]
pub(super) struct StartBatcher(mpsc::UnboundedSender<Start>);

/// An attempt that is about to send, and the sender of the result.
struct Start {
    claimed: Claimed,
    begun: oneshot::Sender<Stored<bool>>,
}

impl StartBatcher {
    /// Starts the loop. It ends with the last clone of the batcher.
    pub(super) fn open(crew: &Arc<Crew>, alive: &watch::Sender<()>) -> Self {
        let (sender, mut starts) = mpsc::unbounded_channel();
        let own = Arc::clone(crew);
        crew.detach(alive, async move {
            let mut batch = Vec::new();
            while starts.recv_many(&mut batch, BATCH).await > 0 {
                begin(&own, std::mem::take(&mut batch)).await;
            }
        });
        Self(sender)
    }

    /// Records that sending begins, within one step; returns `false` when the lease is not in force any more.
    pub(super) async fn begin(&self, crew: &Crew, claimed: &Claimed) -> Stored<bool> {
        let (begun, answer) = oneshot::channel();
        let claimed = claimed.clone();
        let unknown = || Fault::new("the start of sending was not recorded in time");
        self.0
            .send(Start { claimed, begun })
            .map_err(|_| unknown())?;
        let answer = timeout(&*crew.environment.runtime, crew.settings.step, answer).await;
        answer
            .and_then(Result::ok)
            .unwrap_or_else(|| Err(unknown()))
    }
}

async fn begin(crew: &Crew, batch: Vec<Start>) {
    let (claimed, answers): (Vec<_>, Vec<_>) = batch
        .into_iter()
        .map(|start| (start.claimed, start.begun))
        .unzip();
    let deliveries = &crew.stores.deliveries;
    let begin = async {
        deliveries
            .begin_sending(&claimed, crew.environment.clock.now())
            .await
    };
    let begun = crew.step(begin).await;
    if begun.is_err() {
        recorder::record_store_error(STORE);
    }
    for (one, answer) in claimed.iter().zip(answers) {
        let begun = match &begun {
            Ok(begun) => Ok(begun.contains(&one.delivery.id)),
            Err(fault) => Err(Fault::new(fault.to_string())),
        };
        answer.send(begun).unwrap_or_default();
    }
}
