//! Step 3: what a request costs, and whose budget it is charged to (contract, section 3).

use super::service::{Core, Trail};
use crate::api::error::Problem;
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::rate_limit::{BudgetKey, Charge, Window};

impl Core {
    /// All of the cost, or none of it and a refusal.
    pub(super) async fn pay(
        &self,
        key: &BudgetKey,
        cost: u32,
        now: Timestamp,
        trail: &mut Trail,
    ) -> Result<(), Problem> {
        let charge = self.charge(key, cost, now, trail).await?;
        charge
            .granted
            .then_some(())
            .ok_or_else(|| Problem::RateLimited(charge.reset.since(charge.at)))
    }

    /// The same where nothing is refused for want of units: nobody is admitted.
    pub(super) async fn charge(
        &self,
        key: &BudgetKey,
        cost: u32,
        now: Timestamp,
        trail: &mut Trail,
    ) -> Result<Charge, Problem> {
        let window = self.window(key);
        let charge = self.stores.budgets.charge(key, cost, window, now).await;
        let charge = charge.inspect_err(|_| recorder::record_store_error("budgets"))?;
        recorder::record_charge(kind(key), cost, charge.granted);
        trail.spent = Some(if charge.granted { cost } else { 0 });
        trail.charge = Some(charge);
        Ok(charge)
    }

    /// What the headers show of a request that was never charged, as a store failed on its way: a whole budget.
    pub(super) fn uncharged(&self, key: &BudgetKey, now: Timestamp) -> Charge {
        self.window(key).charge(None, 0, now).1
    }

    fn window(&self, key: &BudgetKey) -> Window {
        match key {
            BudgetKey::Token(_) => self.settings.token_window,
            _ => self.settings.guest_window,
        }
    }
}

/// Whose budget it is, without saying who.
const fn kind(key: &BudgetKey) -> &'static str {
    match key {
        BudgetKey::Token(_) => "token",
        _ => "guest",
    }
}
