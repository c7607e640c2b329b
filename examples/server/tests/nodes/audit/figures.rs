//! What clients saw, in figures.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::load::Sent;

/// How many answers had which status; 0 stands for a connection that dropped.
pub fn statuses<'a>(sent: impl IntoIterator<Item = &'a Sent>) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for sent in sent {
        let status = sent.answered().map_or(0, |reply| reply.status);
        *counts.entry(status).or_default() += 1;
    }
    counts
}

/// How long `percent` of the answers took at most.
pub fn percentile(sent: &[Sent], percent: usize) -> Duration {
    let answered = sent.iter().filter(|sent| sent.answered().is_some());
    let mut times: Vec<_> = answered.map(|sent| sent.took).collect();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
