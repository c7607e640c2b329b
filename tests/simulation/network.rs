//! The receivers of webhooks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forum_api::async_trait;
use forum_api::runtime::Clock as _;
use forum_api::webhook::{ReceiverResponse, SignedRequest, Transport, TransportError};

use crate::action::ReceiverMode;
use crate::journal::{Journal, Reply};
use crate::scheduler::{ProcessClock, ProcessId, Scheduler};

/// How receivers respond, by the URLs of their endpoints.
pub(crate) type ReceiverModes = Arc<Mutex<BTreeMap<String, ReceiverMode>>>;

/// The transport of one worker.
pub(crate) struct Network {
    pub(crate) process: ProcessId,
    pub(crate) clock: Arc<ProcessClock>,
    pub(crate) scheduler: Scheduler,
    pub(crate) receivers: ReceiverModes,
    pub(crate) journal: Journal,
}

#[async_trait]
impl Transport for Network {
    async fn send(&self, request: SignedRequest) -> Result<ReceiverResponse, TransportError> {
        let lease = self.journal.sent(self.process, &request, self.clock.now());
        let mode = self.receivers.lock().unwrap().get(&request.url).copied();
        let wait = |seconds| self.scheduler.sleep(Duration::from_secs(seconds));
        let status = match mode.unwrap_or(ReceiverMode::Accepts) {
            ReceiverMode::Accepts => 204,
            ReceiverMode::AcceptsAfter { seconds } => {
                wait(seconds).await;
                200
            }
            ReceiverMode::RespondsWith { status } => status,
            ReceiverMode::Lies => {
                let (seconds, status) = self.scheduler.choose(|random| {
                    let seconds = random.below(10);
                    (seconds, [200, 204, 200, 302, 400, 410, 429, 500, 599][random.index(9)])
                });
                wait(seconds).await;
                status
            }
            ReceiverMode::RefusesConnections => {
                self.journal.replied(&request, lease, Reply::None, self.clock.now());
                return Err(TransportError::not_sent("connection refused"));
            }
            ReceiverMode::NeverResponds => std::future::pending().await,
        };
        self.journal.replied(&request, lease, Reply::Status(status), self.clock.now());
        Ok(ReceiverResponse { status, headers: String::new(), excerpt: "x".repeat(20) })
    }
}
