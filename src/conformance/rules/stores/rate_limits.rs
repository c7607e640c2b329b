//! Budgets.

use std::time::Duration;

use super::Shelf;
use super::store_fixture::{at, lookup};
use super::{Part, Verdict, equal};
use crate::rate_limit::{Budget, BudgetKey, Charge, Window};

const WINDOW: Window = Window {
    units: 120,
    length: Duration::from_secs(300),
};

store_rules!(
    mod rate_limits;

    /// However many charge at once, exactly the budget is granted.
    async fn exactly_the_budget_is_granted_however_many_race(shelf: &Shelf) -> Verdict {
        for key in keys()? {
            let works = (0..64).map(|_| {
                let budgets = shelf.stores.budgets.clone();
                async move {
                    let mut granted = 0;
                    for _ in 0..10 {
                        let charge = budgets.charge(&key, 1, WINDOW, at(0)).await?;
                        granted += u32::from(charge.granted);
                    }
                    Ok::<_, crate::host::Fault>(granted)
                }
            });
            let mut granted = 0;
            for one in shelf.race(works).await {
                granted += one?;
            }
            equal(
                format_args!("the units granted to {key:?}"),
                granted,
                WINDOW.units,
            )?;
        }
        Ok(())
    }

    /// Every key has a budget of its own.
    async fn every_key_has_a_budget_of_its_own(shelf: &Shelf) -> Verdict {
        for (spent, key) in (1..).zip(keys()?) {
            let remaining = charge(shelf, key, 0, 0).await?.remaining;
            equal(format_args!("what {key:?} has at first"), remaining, 120)?;
            let remaining = charge(shelf, key, spent, 0).await?.remaining;
            equal(
                format_args!("what {key:?} has left"),
                remaining,
                120 - spent,
            )?;
        }
        for (spent, key) in (1..).zip(keys()?) {
            let remaining = charge(shelf, key, 0, 1).await?.remaining;
            equal(
                format_args!("what {key:?} still has"),
                remaining,
                120 - spent,
            )?;
        }
        Ok(())
    }

    /// A charge that does not fit is refused whole, and spends nothing.
    async fn a_charge_is_all_or_nothing(shelf: &Shelf) -> Verdict {
        let key = BudgetKey::NoAddress;
        for (cost, granted, remaining) in [
            (100, true, 20),
            (21, false, 20),
            (u32::MAX, false, 20),
            (20, true, 0),
            (1, false, 0),
        ] {
            let charge = charge(shelf, key, cost, 0).await?;
            let told = (charge.granted, charge.limit, charge.remaining);
            equal(
                format_args!("a charge of {cost}"),
                told,
                (granted, 120, remaining),
            )?;
        }
        Ok(())
    }

    /// A window starts with its first charge, and is over at its very end.
    async fn a_window_is_over_at_its_very_end(shelf: &Shelf) -> Verdict {
        shelf.needs(Part::SuiteClock)?;
        for key in keys()? {
            for (now, cost, granted, remaining, reset) in [
                (0, 0, true, 120, 300_000),
                (7, 120, true, 0, 300_007),
                (300_006, 1, false, 0, 300_007),
                (300_007, 1, true, 119, 600_007),
            ] {
                let charge = charge(shelf, key, cost, now).await?;
                let told = (charge.granted, charge.remaining, charge.reset);
                equal(
                    format_args!("{cost} at {now}"),
                    told,
                    (granted, remaining, at(reset)),
                )?;
            }
        }
        Ok(())
    }

    /// A clock that was set back locks no budget: a window that ends later than a whole window from now has ended.
    async fn a_clock_that_was_set_back_locks_no_budget(shelf: &Shelf) -> Verdict {
        shelf.needs(Part::SuiteClock)?;
        for key in keys()? {
            for (now, cost, granted, remaining, reset) in [
                (3_600_000, 120, true, 0, 3_900_000),
                (3_599_999, 0, true, 120, 3_899_999),
                (0, 100, true, 20, 300_000),
                (0, 21, false, 20, 300_000),
            ] {
                let charge = charge(shelf, key, cost, now).await?;
                let found = (charge.granted, charge.remaining, charge.reset);
                equal(
                    format_args!("{cost} at {now}"),
                    found,
                    (granted, remaining, at(reset)),
                )?;
            }
        }
        Ok(())
    }

    /// A refund gives back units of the running window, at most those that were charged, and starts no window.
    async fn a_refund_gives_back_units_of_the_running_window(shelf: &Shelf) -> Verdict {
        for key in keys()? {
            for (cost, refund, remaining) in [(0, 9, 120), (100, 30, 50), (50, 1, 1), (0, 999, 120)]
            {
                charge(shelf, key, cost, 0).await?;
                let refunded = shelf.stores.budgets.refund(&key, refund, WINDOW, at(0));
                refunded.await?;
                let charge = charge(shelf, key, 0, 0).await?;
                equal(
                    format_args!("what is left of {key:?} after {refund} were refunded"),
                    charge.remaining,
                    remaining,
                )?;
            }
        }
        Ok(())
    }

    /// A refund after the window's end gives back nothing of the next window.
    async fn a_refund_of_an_ended_window_changes_nothing(shelf: &Shelf) -> Verdict {
        shelf.needs(Part::SuiteClock)?;
        for key in keys()? {
            charge(shelf, key, 120, 0).await?;
            let refunded = shelf.stores.budgets.refund(&key, 120, WINDOW, at(300_000));
            refunded.await?;
            let after = charge(shelf, key, 100, 300_001).await?;
            let found = (after.granted, after.remaining, after.reset);
            equal("the next window", found, (true, 20, at(600_001)))?;
        }
        Ok(())
    }

    /// Any history is metered as [`Window::charge`] meters it.
    async fn any_history_is_metered_alike(shelf: &Shelf) -> Verdict {
        shelf.needs(Part::SuiteClock)?;
        let (mut budget, mut now, mut chance): (Option<Budget>, i64, u64) = (None, 0, 1);
        for step in 0..500 {
            // The next number of Knuth's linear congruential generator.
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let cost = u32::try_from((chance >> 33) % 40).unwrap_or_default();
            now += i64::try_from((chance >> 40) % 60_000).unwrap_or_default();
            let (after, expected) = WINDOW.charge(budget, cost, at(now));
            let charge = charge(shelf, BudgetKey::NoAddress, cost, now).await?;
            equal(
                format_args!("charge {step}, of {cost} at {now}"),
                charge,
                expected,
            )?;
            budget = after;
        }
        Ok(())
    }
);

fn keys() -> Verdict<[BudgetKey; 7]> {
    Ok([
        BudgetKey::Token(lookup(1)?),
        BudgetKey::Token(lookup(2)?),
        BudgetKey::Prefix(0),
        BudgetKey::Prefix(1),
        BudgetKey::NoAddress,
        BudgetKey::Attempts(0),
        BudgetKey::Attempts(1),
    ])
}

async fn charge(shelf: &Shelf, key: BudgetKey, cost: u32, now: i64) -> Verdict<Charge> {
    Ok(shelf
        .stores
        .budgets
        .charge(&key, cost, WINDOW, at(now))
        .await?)
}
