//! Forms that reveal something once: a page that is reloaded must not do it again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::base62;
use crate::clock::{Entropy, NoEntropy};
use crate::model::Timestamp;

/// The name of the field that tells one form from the next.
pub(super) const FIELD: &str = "once";

/// How long a browser may keep a page that it sends again.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The forms that were carried out lately.
#[derive(Debug, Default)]
pub(super) struct Spent(Mutex<HashMap<String, Timestamp>>);

impl Spent {
    /// Spends a form; `false` when it was already. One without a number is a new one each time.
    pub(super) fn spend(&self, form: &str, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, at| now < at.plus(KEPT));
        form.is_empty() || all.insert(form.into(), now).is_none()
    }
}

/// The number of a new form.
pub(super) fn number(entropy: &dyn Entropy) -> Result<String, NoEntropy> {
    let digits = base62::random::<22>(entropy)?;
    Ok(digits.map(char::from).iter().collect())
}
