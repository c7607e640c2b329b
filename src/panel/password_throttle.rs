//! Limit of password attempts: five wrong passwords within five minutes lock issuing for five minutes.

use std::time::Duration;

use crate::host::BackendResult;
use crate::model::{Timestamp, UserId};
use crate::rate_limit::{Budget, RateLimitKey};
use crate::store::RateLimitStore;

/// Wrong passwords that lock issuing.
const MAX_ATTEMPTS_PER_WINDOW: u8 = 5;

/// One slot. A wrong password occupies it for five minutes.
const SLOT: Budget = Budget {
    units: 1,
    window: Duration::from_secs(5 * 60),
};

/// Password attempts of administrators, in the store of budgets that the nodes share.
///
/// Each administrator has [`MAX_ATTEMPTS_PER_WINDOW`] slots. An attempt takes the first free one, and the last only
/// while all others are taken, so issuing is locked exactly while the last slot is taken.
pub(super) struct PasswordThrottle<'a>(pub(super) &'a dyn RateLimitStore);

impl PasswordThrottle<'_> {
    /// Begins an attempt and returns its slot, or how long issuing is still locked.
    ///
    /// The attempt counts as wrong until it is [released](Self::release): concurrent attempts cannot exceed the limit.
    pub(super) async fn begin(
        &self,
        member: &UserId,
        now: Timestamp,
    ) -> BackendResult<Result<RateLimitKey, Duration>> {
        let last = slot(member, MAX_ATTEMPTS_PER_WINDOW);
        let mut charge = self.0.charge(&last, 0, SLOT, now).await?;
        if charge.remaining > 0 {
            for number in 1..=MAX_ATTEMPTS_PER_WINDOW {
                let slot = slot(member, number);
                charge = self.0.charge(&slot, 1, SLOT, now).await?;
                if charge.allowed {
                    return Ok(Ok(slot));
                }
            }
        }
        Ok(Err(charge
            .resets_at
            .saturating_duration_since(charge.charged_at)))
    }

    /// Frees the slot of an attempt that was not wrong.
    pub(super) async fn release(&self, slot: &RateLimitKey, now: Timestamp) -> BackendResult<()> {
        self.0.refund(slot, 1, SLOT, now).await
    }
}

fn slot(member: &UserId, number: u8) -> RateLimitKey {
    let subject = format!("{number} {member}");
    RateLimitKey::attempts("panel password", subject.as_bytes())
}
