//! Statistics of the responses.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::load::Sent;

/// Number of responses with each status; 0 is a dropped connection.
pub fn statuses<'a>(sent: impl IntoIterator<Item = &'a Sent>) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for sent in sent {
        let status = sent.response().map_or(0, |reply| reply.status);
        *counts.entry(status).or_default() += 1;
    }
    counts
}

/// Returns the given percentile of the response times.
pub fn percentile(sent: &[Sent], percent: usize) -> Duration {
    let answered = sent.iter().filter(|sent| sent.response().is_some());
    let mut times: Vec<_> = answered.map(|sent| sent.duration).collect();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}
