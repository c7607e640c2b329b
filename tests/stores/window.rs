//! The arithmetic of a budget's window.

use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::rate_limit::{Budget, Charge, Window};
use proptest::prelude::*;

use crate::backend::at;

const WINDOW: Window = Window {
    units: 10,
    length: Duration::from_secs(300),
};

#[test]
fn a_window_starts_with_its_first_charge_and_is_over_at_its_very_end() {
    let (budget, charge) = WINDOW.charge(None, 4, at(0));
    assert_eq!(charge, granted(0, 6, 300_000));
    let (budget, charge) = WINDOW.charge(budget, 6, at(299_999));
    assert_eq!(charge, granted(299_999, 0, 300_000));
    let (spent, charge) = WINDOW.charge(budget, 1, at(299_999));
    assert_eq!(charge, refused(299_999, 0, 300_000));
    assert_eq!(spent, budget);
    let (_, charge) = WINDOW.charge(spent, 1, at(300_000));
    assert_eq!(charge, granted(300_000, 9, 600_000));
}

#[test]
fn a_charge_is_all_or_nothing() {
    let (budget, _) = WINDOW.charge(None, 8, at(0));
    let (after, charge) = WINDOW.charge(budget, 3, at(1));
    assert_eq!(charge, refused(1, 2, 300_000));
    assert_eq!(after, budget);
    assert_eq!(WINDOW.charge(after, 2, at(2)).1, granted(2, 0, 300_000));
}

#[test]
fn looking_starts_no_window_and_spends_nothing() {
    assert_eq!(
        WINDOW.charge(None, 0, at(0)),
        (None, granted(0, 10, 300_000))
    );
    let (budget, _) = WINDOW.charge(None, 10, at(0));
    let looked = WINDOW.charge(budget, 0, at(1));
    assert_eq!(looked, (budget, granted(1, 0, 300_000)));
    let over = WINDOW.charge(budget, 0, at(300_000));
    assert_eq!(over, (None, granted(300_000, 10, 600_000)));
}

#[test]
fn what_is_more_than_a_whole_budget_is_refused_and_starts_no_window() {
    assert_eq!(
        WINDOW.charge(None, 11, at(0)),
        (None, refused(0, 10, 300_000))
    );
    assert!(!WINDOW.charge(None, u32::MAX, at(0)).1.granted);
}

#[test]
fn a_window_that_ends_later_than_a_whole_window_from_now_counts_as_ended() {
    let (spent, _) = WINDOW.charge(None, 10, at(1_000_000));
    assert_eq!(
        WINDOW.charge(spent, 1, at(1_000_000)).1,
        refused(1_000_000, 0, 1_300_000)
    );
    assert_eq!(
        WINDOW.charge(spent, 0, at(999_999)),
        (None, granted(999_999, 10, 1_299_999))
    );
    assert_eq!(WINDOW.charge(spent, 1, at(0)).1, granted(0, 9, 300_000));
}

#[test]
fn a_budget_that_was_made_smaller_is_spent() {
    let (budget, _) = WINDOW.charge(None, 8, at(0));
    let smaller = Window { units: 5, ..WINDOW };
    let (after, charge) = smaller.charge(budget, 1, at(1));
    assert_eq!(
        (charge.granted, charge.limit, charge.remaining),
        (false, 5, 0)
    );
    assert_eq!(after, budget);
}

fn granted(now: i64, remaining: u32, reset: i64) -> Charge {
    Charge {
        granted: true,
        limit: WINDOW.units,
        remaining,
        reset: at(reset),
        at: at(now),
    }
}

fn refused(now: i64, remaining: u32, reset: i64) -> Charge {
    Charge {
        granted: false,
        ..granted(now, remaining, reset)
    }
}

/// The grants of the running window, the first of which started it.
#[derive(Default)]
struct Oracle(Vec<(Timestamp, u32)>);

impl Oracle {
    fn charge(&mut self, window: Window, cost: u32, now: Timestamp) -> Charge {
        let start = self.0.first().map(|(at, _)| *at);
        let start = start.filter(|start| *start <= now && now < start.plus(window.length));
        if start.is_none() {
            self.0.clear();
        }
        let spent: u32 = self.0.iter().map(|(_, cost)| cost).sum();
        let granted = spent + cost <= window.units;
        if granted && cost > 0 {
            self.0.push((now, cost));
        }
        Charge {
            granted,
            limit: window.units,
            remaining: window.units - spent - if granted { cost } else { 0 },
            reset: start.unwrap_or(now).plus(window.length),
            at: now,
        }
    }
}

/// Time by which the clock advances or is set back.
fn pause() -> impl Strategy<Value = i64> {
    prop_oneof![9 => 0_i64..30, 1 => -1000_i64..0]
}

proptest! {
    #[test]
    fn any_history_is_metered_as_a_plain_sum(
        units in 1_u32..50,
        length in 1_u64..100,
        charges in prop::collection::vec((pause(), 0_u32..20), 1..100),
    ) {
        let window = Window { units, length: Duration::from_millis(length) };
        let mut oracle = Oracle::default();
        let mut budget: Option<Budget> = None;
        let mut last: Option<Charge> = None;
        let mut now = 0;
        for (pause, cost) in charges {
            now += pause;
            let (after, charge) = window.charge(budget, cost, at(now));
            prop_assert_eq!(charge, oracle.charge(window, cost, at(now)));
            let is_same_window = pause >= 0 && last.is_some_and(|last| at(now) < last.reset);
            if let Some(last) = last.filter(|_| budget.is_some() && is_same_window) {
                prop_assert!(charge.remaining <= last.remaining);
                prop_assert_eq!(charge.reset, last.reset);
            }
            prop_assert!(charge.reset <= at(now).plus(window.length), "no budget is locked for longer than a window");
            prop_assert!(after.is_none_or(|after| after.used <= units));
            (budget, last) = (after, Some(charge));
        }
    }
}
