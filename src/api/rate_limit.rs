//! Step 3: what a request costs, and whose budget it is charged to (`docs/protocol.md`, section 4).

use super::context::{ApiInner, RequestContext};
use super::error::ApiError;
use crate::metrics::recorder;
use crate::rate_limit::{Budget, RateLimitDecision, RateLimitKey};

impl ApiInner {
    /// Charges all of the cost, or nothing and refuses the request.
    pub(super) async fn charge_or_reject(
        &self,
        context: &mut RequestContext<'_>,
        key: &RateLimitKey,
        cost: u32,
    ) -> Result<(), ApiError> {
        let charge = self.charge(context, key, cost).await?;
        if charge.allowed {
            return Ok(());
        }
        Err(ApiError::RateLimited(
            charge
                .resets_at
                .saturating_duration_since(charge.charged_at),
        ))
    }

    /// Charges a unit to the guest's address for a request that `error` refuses. It is refused with `error` even when the
    /// budget is spent.
    pub(super) async fn charge_guest(
        &self,
        context: &mut RequestContext<'_>,
        error: ApiError,
    ) -> ApiError {
        let key = context.guest_key;
        let charge = self.charge(context, &key, 1).await;
        charge.err().unwrap_or(error)
    }

    /// Charges a budget, and keeps what the headers show of it. A spent budget is not an error here.
    pub(super) async fn charge(
        &self,
        context: &mut RequestContext<'_>,
        key: &RateLimitKey,
        cost: u32,
    ) -> Result<RateLimitDecision, ApiError> {
        let (window, now) = (self.window(key), context.received_at);
        let charge = self.stores.rate_limits.charge(key, cost, window, now).await;
        let charge = charge.inspect_err(|_| recorder::record_store_error("budgets"))?;
        recorder::record_charge(metric_label(key), cost, charge.allowed);
        context.charged_units = Some(if charge.allowed { cost } else { 0 });
        context.charge = Some(charge);
        Ok(charge)
    }

    /// The headers of a request that was never charged, because a store failed before: those of a whole budget.
    pub(super) fn untouched_budget(&self, context: &RequestContext<'_>) -> RateLimitDecision {
        let window = self.window(&context.guest_key);
        window.charge(None, 0, context.received_at).1
    }

    fn window(&self, key: &RateLimitKey) -> Budget {
        match key {
            RateLimitKey::Token(_) => self.settings.token_budget,
            _ => self.settings.guest_budget,
        }
    }
}

/// The kind of a budget, without its owner.
const fn metric_label(key: &RateLimitKey) -> &'static str {
    match key {
        RateLimitKey::Token(_) => "token",
        _ => "guest",
    }
}
