//! Usage statistics of deliveries.

use crate::model::EndpointId;
use crate::webhook::State;

/// Number of deliveries, and times of their attempts, in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Deliveries that were queued in the period, in groups, in no particular order.
    pub deliveries: Vec<DeliveryCount>,
    /// Attempts that began in the period, by duration: one number for each bound of
    /// [`ATTEMPT_TIME_BOUNDS`](Self::ATTEMPT_TIME_BOUNDS), which is exclusive, and the last one for longer attempts.
    pub attempt_times: [u64; 6],
}

impl Usage {
    /// Upper bounds of the groups of attempts, in milliseconds.
    pub const ATTEMPT_TIME_BOUNDS: [u64; 5] = [10, 100, 500, 1_000, 5_000];
}

/// Number of deliveries that were queued in the same hour, go to the same endpoint and are in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCount {
    /// Whole hours from the time when they were queued to the end of the period.
    pub hours_ago: u64,
    /// Their endpoint.
    pub endpoint: EndpointId,
    /// Their state.
    pub state: State,
    /// Their number.
    pub count: u64,
}
