//! Confirmation of a form with the administrator's password.

use std::time::Duration;

use super::form::{Form, TextField};
use super::page_context::PageContext;
use super::password_throttle::PasswordThrottle;
use super::response::PanelResult;
use crate::error_chain::ErrorChain;

pub(super) const PASSWORD: TextField =
    TextField::text("password", "Your password", "Re-enter your password to confirm.")
        .password("current-password");

/// Adds an error to the password field if the password is empty or incorrect. If too many attempts failed, returns the
/// time until the next attempt is permitted. An empty password does not count as an attempt.
pub(super) async fn check_password(
    context: &PageContext,
    form: &mut Form,
) -> PanelResult<Result<(), Duration>> {
    let panel = &context.panel;
    let member = &context.session.user_id;
    let password = form.get("password");
    if password.is_empty() {
        form.add_error("password", "Enter your password.");
        return Ok(Ok(()));
    }
    let throttle = PasswordThrottle(&*panel.stores.rate_limits);
    let clock = &panel.environment.clock;
    let slot = match throttle.begin(member, clock.now()).await? {
        Ok(slot) => slot,
        Err(wait) => return Ok(Err(wait)),
    };
    let session = &context.session;
    let is_correct = panel.admin_auth.verify_password(session, password).await;
    if let Ok(false) = is_correct {
        tracing::warn!(admin = %member, "change not confirmed: incorrect password");
        form.add_error("password", "Incorrect password.");
    } else if let Err(error) = throttle.release(&slot, clock.now()).await {
        tracing::error!(error = %ErrorChain(&error), "failed to refund password attempt");
    }
    is_correct?;
    Ok(Ok(()))
}
