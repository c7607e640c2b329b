//! Nonces of the forms that reveal a secret once: a form that succeeded is not carried out again.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::base62;
use crate::host::Stored;
use crate::model::Timestamp;
use crate::runtime::{Entropy, NoEntropy};
use crate::store::{Attempt, Begin, Idempotency, Kept, Outcome, ResourceIds, Ticket};
use crate::token::Lookup;

/// The name of the field that holds the nonce.
pub(super) const FIELD: &str = "once";

/// Nonces of the forms that were carried out within 24 hours, in the idempotency store that the nodes share.
pub(super) struct Spent(Arc<dyn Idempotency>);

impl Spent {
    pub(super) fn new(idempotency: Arc<dyn Idempotency>) -> Self {
        Self(idempotency)
    }

    /// Reserves a nonce, unless its form succeeded or is running.
    pub(super) async fn begin(&self, nonce: &str, now: Timestamp) -> Stored<Begin> {
        self.0.begin(&attempt(nonce), now).await
    }

    /// Spends a reserved nonce after a success. Otherwise releases it, so that the form can be sent again.
    pub(super) async fn settle(&self, ticket: &Ticket, succeeded: bool) -> Stored<()> {
        // The page with the secret is not stored.
        let empty = Kept {
            status: 200,
            location: None,
            body: Default::default(),
            resource: ResourceIds::default(),
        };
        let outcome = if succeeded {
            Outcome::Answered(empty)
        } else {
            Outcome::DidNotRun
        };
        self.0.settle(ticket, outcome).await
    }
}

/// No client's key collides with a nonce's: an `Idempotency-Key` contains no space.
fn attempt(nonce: &str) -> Attempt {
    let hash = base62::encode::<43, 32>(Sha256::digest(nonce).into());
    let hash: String = hash.map(char::from).iter().collect();
    Attempt {
        token: Lookup::DUMMY,
        key: format!("panel form {hash}"),
        request: [0; 32],
    }
}

/// Returns the nonce of a new form.
pub(super) fn number(entropy: &dyn Entropy) -> Result<String, NoEntropy> {
    let digits = base62::random::<22>(entropy)?;
    Ok(digits.map(char::from).iter().collect())
}
