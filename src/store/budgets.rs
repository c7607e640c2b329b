//! Where budgets are kept.

use async_trait::async_trait;

use crate::error::Stored;
use crate::model::Timestamp;
use crate::rate_limit::{BudgetKey, Charge, Window};

/// Keeps budgets.
#[async_trait]
pub trait Budgets: Send + Sync + 'static {
    /// Charges `cost` units to the budget of `key`, all of them or none, atomically: [`Window::charge`] under any
    /// concurrency. A store with a clock of its own goes by that; the others by `now`.
    ///
    /// # Errors
    /// When it cannot tell: the request is refused with 500 then. A store that may be out of reach had better meter by
    /// itself meanwhile, in a [`MemoryBudgets`](super::memory::MemoryBudgets) say (contract, section 3).
    async fn charge(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<Charge>;

    /// Gives back `cost` units that were charged to the running window of `key`, as [`Window::refund`] does. Changes
    /// nothing when no window runs.
    ///
    /// The panel and a sign-in page charge a password attempt before the check, and refund it when the password was
    /// right. A store that nodes share may keep the charge if another node has read the budget in between.
    ///
    /// # Errors
    /// When the store fails. The units stay charged until the window ends.
    async fn refund(
        &self,
        key: &BudgetKey,
        cost: u32,
        window: Window,
        now: Timestamp,
    ) -> Stored<()>;
}
