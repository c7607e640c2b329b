//! Nobody was granted more units than their budget has.

use std::collections::BTreeMap;

use crate::load::Sent;

/// What was granted to one payer in one window, and what was said of it.
#[derive(Debug)]
struct Window {
    limit: u64,
    granted: u64,
    /// The least that was said to be left.
    left: u64,
}

/// Adds up what was granted in each window. Each of the nodes that metered by itself may have granted one budget more,
/// as often as it did: `alone` times. Gives how many windows there were, and the fullest one's units.
pub fn check(sent: &[Sent], alone: usize) -> (usize, u64) {
    let mut windows = BTreeMap::new();
    for sent in sent {
        let Some(reply) = sent.answered() else {
            continue;
        };
        let named = |name| reply.number(name).unwrap_or_else(|| panic!("{reply:?}"));
        let (limit, left) = (named("x-ratelimit-limit"), named("x-ratelimit-remaining"));
        let key = (&sent.payer, named("x-ratelimit-reset"));
        let window = windows.entry(key).or_insert(Window {
            limit,
            granted: 0,
            left,
        });
        let is_refused = reply.status == 429 && reply.code() == "rate_limited";
        window.granted += if is_refused { 0 } else { sent.kind.cost.into() };
        window.left = window.left.min(left);
    }
    for (key, window) in &windows {
        let most = window.limit * (1 + alone as u64);
        assert!(window.granted <= most, "{key:?} {window:?}");
        let counted = window.limit - window.left;
        assert!(
            alone > 0 || window.granted <= counted,
            "uncounted: {key:?} {window:?}"
        );
    }
    let granted = windows.values().map(|window| window.granted);
    (windows.len(), granted.max().unwrap_or_default())
}
