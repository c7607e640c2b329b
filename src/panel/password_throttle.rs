//! Limit of password attempts: five wrong passwords within five minutes lock the forms that require a password for five
//! minutes.

use std::time::Duration;

use crate::host::BackendResult;
use crate::model::{Timestamp, UserId};
use crate::rate_limit::{Budget, RateLimitKey};
use crate::store::RateLimitStore;

/// Number of wrong passwords that lock the forms.
const MAX_ATTEMPTS_PER_WINDOW: u8 = 5;

/// Budget of one slot. A wrong password occupies a slot for five minutes.
const SLOT: Budget = Budget { units: 1, window: Duration::from_secs(5 * 60) };

/// Password attempts of administrators, counted in the rate limit store, which the nodes share.
///
/// Each administrator has [`MAX_ATTEMPTS_PER_WINDOW`] slots. An attempt occupies the first free slot, so the forms are
/// locked exactly while the last slot is occupied.
pub(super) struct PasswordThrottle<'a>(pub(super) &'a dyn RateLimitStore);

impl PasswordThrottle<'_> {
    /// Begins an attempt. Returns its slot, or the time until the forms are unlocked.
    ///
    /// The attempt counts as wrong until it is [released](Self::release), so concurrent attempts cannot exceed the limit.
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
        Ok(Err(charge.resets_at.saturating_duration_since(charge.charged_at)))
    }

    /// Frees the slot of an attempt with the right password.
    pub(super) async fn release(&self, slot: &RateLimitKey, now: Timestamp) -> BackendResult<()> {
        self.0.refund(slot, 1, SLOT, now).await
    }
}

fn slot(member: &UserId, number: u8) -> RateLimitKey {
    let subject = format!("{number} {member}");
    RateLimitKey::password_attempts("panel password", subject.as_bytes())
}
