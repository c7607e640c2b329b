//! Checks that no client was charged more units than its budget.

use std::collections::BTreeMap;

use crate::load::Sent;

/// Units charged in one window of a client, and the `remaining` values of its responses.
#[derive(Debug)]
struct Window {
    limit: u64,
    granted: u64,
    /// The smallest `remaining` value.
    left: u64,
}

/// Sums the units of each window. While Redis is unreachable, each node may allow one more budget: `alone` more budgets
/// in total. Returns the number of windows and the units of the fullest one.
pub fn check(sent: &[Sent], alone: usize) -> (usize, u64) {
    let mut windows = BTreeMap::new();
    for sent in sent {
        let Some(reply) = sent.response() else {
            continue;
        };
        let named = |name| {
            reply
                .header_number(name)
                .unwrap_or_else(|| panic!("{reply:?}"))
        };
        let (limit, left) = (named("x-ratelimit-limit"), named("x-ratelimit-remaining"));
        let key = (&sent.budget_owner, named("x-ratelimit-reset"));
        let window = windows.entry(key).or_insert(Window {
            limit,
            granted: 0,
            left,
        });
        let is_refused = reply.status == 429 && reply.error_code() == "rate_limited";
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
