//! Rate limits.

use std::time::Duration;

use super::*;
use crate::host::BackendError;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey, WindowState};

const BUDGET: Budget = Budget { units: 120, window: Duration::from_secs(300) };

store_rules! {
    mod rate_limits, __rules_rate_limits;

    /// Concurrent charges allow exactly the units of the budget.
    async fn concurrent_charges_allow_exactly_the_budget(fixture: &StoreFixture) -> TestResult {
        let prefixes = (2..30).map(RateLimitKey::Prefix);
        for key in keys()?.into_iter().chain(prefixes) {
            let charges = (0..64).map(|_| {
                let budgets = fixture.stores.rate_limits.clone();
                async move {
                    let mut allowed = 0;
                    for _ in 0..10 {
                        let decision = budgets.charge(&key, 1, BUDGET, instant(0)).await?;
                        allowed += u32::from(decision.allowed);
                    }
                    Ok::<_, BackendError>(allowed)
                }
            });
            let allowed: u32 = succeed_concurrently(charges).await?.into_iter().sum();
            check_eq!(allowed, BUDGET.units, "units allowed to {key:?}")?;
        }
        Ok(())
    }

    /// Every key has its own budget.
    async fn every_key_has_its_own_budget(fixture: &StoreFixture) -> TestResult {
        for (spent, key) in (1..).zip(keys()?) {
            fixture.expect_remaining(key, 120).await?;
            let charged = fixture.charge(key, spent, 0).await?;
            check_eq!(charged.remaining, 120 - spent, "units left of {key:?}")?;
        }
        for (spent, key) in (1..).zip(keys()?) {
            fixture.expect_remaining(key, 120 - spent).await?;
        }
        Ok(())
    }

    /// A charge that exceeds the budget is rejected and charges nothing.
    async fn a_charge_is_all_or_nothing(fixture: &StoreFixture) -> TestResult {
        for (cost, allowed, remaining) in [
            (100, true, 20),
            (21, false, 20),
            (u32::MAX, false, 20),
            (20, true, 0),
            (1, false, 0),
        ] {
            let decision = fixture.charge(RateLimitKey::UnknownAddress, cost, 0).await?;
            let actual = (decision.allowed, decision.limit, decision.remaining);
            check_eq!(actual, (allowed, 120, remaining), "a charge of {cost}")?;
        }
        Ok(())
    }

    /// A window starts with its first charge and ends exactly after its length.
    async fn a_window_ends_exactly_after_its_length(fixture: &StoreFixture) -> TestResult {
        fixture.expect_charges(&[
            (0, 0, true, 120, 300_000),
            (0, 121, false, 120, 300_000),
            (7, 120, true, 0, 300_007),
            (300_006, 1, false, 0, 300_007),
            (300_007, 1, true, 119, 600_007),
        ]).await
    }

    /// A charge whose time was read before the first charge of a window joins the window. A window that starts more
    /// than 60 s after the time of a charge counts as ended, so a clock that was set back locks no budget.
    async fn a_clock_set_back_locks_no_budget(fixture: &StoreFixture) -> TestResult {
        fixture.expect_charges(&[
            (3_600_000, 119, true, 1, 3_900_000),
            (3_599_999, 1, true, 0, 3_900_000),
            (3_540_000, 1, false, 0, 3_900_000),
            (3_539_999, 0, true, 120, 3_839_999),
            (0, 100, true, 20, 300_000),
            (0, 21, false, 20, 300_000),
        ]).await
    }

    /// A refund returns at most the charged units of the current window, and starts no window.
    async fn a_refund_returns_units_of_the_current_window(fixture: &StoreFixture) -> TestResult {
        for key in keys()? {
            for (cost, refund, left) in [(0, 9, 120), (100, 30, 50), (50, 1, 1), (0, 999, 120)] {
                fixture.charge(key, cost, 0).await?;
                fixture.stores.rate_limits.refund(&key, refund, BUDGET, instant(0)).await?;
                fixture.expect_remaining(key, left).await?;
            }
        }
        Ok(())
    }

    /// A refund after the end of a window does not affect the next window.
    async fn a_refund_of_an_ended_window_changes_nothing(fixture: &StoreFixture) -> TestResult {
        fixture.require(Capability::InjectedClock)?;
        for key in keys()? {
            fixture.charge(key, 120, 0).await?;
            fixture.stores.rate_limits.refund(&key, 120, BUDGET, instant(300_000)).await?;
            let next = fixture.charge(key, 100, 300_001).await?;
            check_eq!((next.allowed, next.remaining, next.resets_at), (true, 20, instant(600_001)))?;
        }
        Ok(())
    }

    /// A store charges a random history as [`Budget::charge`] does.
    async fn any_history_is_charged_as_budget_charge_does(fixture: &StoreFixture) -> TestResult {
        fixture.require(Capability::InjectedClock)?;
        let mut budget: Option<WindowState> = None;
        let mut now: i64 = 0;
        let mut chance: u64 = 1;
        for step in 0..500 {
            // The next number of Knuth's linear congruential generator.
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let cost = u32::try_from((chance >> 33) % 40).unwrap_or_default();
            now += i64::try_from((chance >> 40) % 60_000).unwrap_or_default();
            let (after, expected) = BUDGET.charge(budget, cost, instant(now));
            let decision = fixture.charge(RateLimitKey::UnknownAddress, cost, now).await?;
            check_eq!(decision, expected, "charge {step}, of {cost} units at {now}")?;
            budget = after;
        }
        Ok(())
    }
}

fn keys() -> TestResult<[RateLimitKey; 7]> {
    Ok([
        RateLimitKey::Token(lookup(1)?),
        RateLimitKey::Token(lookup(2)?),
        RateLimitKey::Prefix(0),
        RateLimitKey::Prefix(1),
        RateLimitKey::UnknownAddress,
        RateLimitKey::PasswordAttempts(0),
        RateLimitKey::PasswordAttempts(1),
    ])
}

impl StoreFixture {
    async fn charge(&self, key: RateLimitKey, cost: u32, at: i64) -> TestResult<RateLimitDecision> {
        let store = &self.stores.rate_limits;
        Ok(store.charge(&key, cost, BUDGET, instant(at)).await?)
    }

    async fn expect_remaining(&self, key: RateLimitKey, units: u32) -> TestResult {
        let decision = self.charge(key, 0, 0).await?;
        check_eq!(decision.remaining, units, "units left of {key:?}")
    }

    /// Charges each key in steps of time, cost, expected outcome, remaining units and end of the window.
    async fn expect_charges(&self, steps: &[(i64, u32, bool, u32, i64)]) -> TestResult {
        self.require(Capability::InjectedClock)?;
        for key in keys()? {
            for &(now, cost, allowed, remaining, resets_at) in steps {
                let decision = self.charge(key, cost, now).await?;
                let actual = (decision.allowed, decision.remaining, decision.resets_at);
                let expected = (allowed, remaining, instant(resets_at));
                check_eq!(actual, expected, "charge of {cost} units at {now} for {key:?}")?;
            }
        }
        Ok(())
    }
}
