//! Step 3: what a request costs, and whose budget it is charged to (contract, section 3).

use super::log;
use super::problem::Problem;
use super::service::{Core, Trail};
use crate::budget::{BudgetKey, Charge, Window};
use crate::measure;
use crate::model::Timestamp;

impl Core {
    /// All of the cost, or none of it and a refusal.
    pub(super) async fn pay(
        &self,
        key: &BudgetKey,
        cost: u32,
        now: Timestamp,
        trail: &mut Trail,
    ) -> Result<(), Problem> {
        let charge = self.charge(key, cost, now).await;
        trail.charge = Some(charge);
        charge
            .granted
            .then_some(())
            .ok_or_else(|| Problem::RateLimited(charge.reset.since(now)))
    }

    /// A store that is out of reach does not stop requests: this node meters by itself then.
    pub(super) async fn charge(&self, key: &BudgetKey, cost: u32, now: Timestamp) -> Charge {
        let window = self.window(key);
        let charge = match self.stores.budgets.charge(key, cost, window, now).await {
            Ok(charge) => charge,
            Err(fault) => {
                tracing::error!(%fault, "the store of budgets is out of reach; this node meters by itself");
                measure::store_failed("budgets");
                self.local.charge_now(key, cost, window, now)
            }
        };
        log::charged(if charge.granted { cost } else { 0 });
        measure::charged(kind(key), cost, charge.granted);
        charge
    }

    /// What the headers show of a request that was never charged: a store failed on its way, and is not asked again.
    pub(super) fn uncharged(&self, key: &BudgetKey, now: Timestamp) -> Charge {
        self.local.charge_now(key, 0, self.window(key), now)
    }

    fn window(&self, key: &BudgetKey) -> Window {
        match key {
            BudgetKey::Token(_) => self.settings.token_window,
            BudgetKey::Prefix(_) | BudgetKey::NoAddress => self.settings.guest_window,
        }
    }
}

/// Whose budget it is, without saying who.
const fn kind(key: &BudgetKey) -> &'static str {
    match key {
        BudgetKey::Token(_) => "token",
        BudgetKey::Prefix(_) | BudgetKey::NoAddress => "guest",
    }
}
