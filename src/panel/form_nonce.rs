//! Nonces of the forms that reveal a secret: a form that succeeded is not carried out again.

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
pub(super) struct FormNonces(pub(super) Arc<dyn Idempotency>);

impl FormNonces {
    /// Reserves a nonce, unless its form succeeded or is running.
    pub(super) async fn begin(&self, nonce: &str, now: Timestamp) -> Stored<Begin> {
        let hash = base62::encode::<43, 32>(Sha256::digest(nonce).into());
        let hash: String = hash.map(char::from).iter().collect();
        // No client's key collides with a nonce's: an `Idempotency-Key` contains no space.
        let attempt = Attempt {
            token: Lookup::DUMMY,
            key: format!("panel form {hash}"),
            request: [0; 32],
        };
        self.0.begin(&attempt, now).await
    }

    /// Spends a reserved nonce after a success. Otherwise releases it, so that the form can be sent again.
    pub(super) async fn settle(&self, ticket: &Ticket, succeeded: bool) -> Stored<()> {
        if !succeeded {
            return self.0.settle(ticket, Outcome::DidNotRun).await;
        }
        // The page with the secret is not stored.
        let empty = Kept {
            status: 200,
            location: None,
            body: Default::default(),
            resource: ResourceIds::default(),
        };
        self.0.settle(ticket, Outcome::Answered(empty)).await
    }
}

/// Returns the nonce of a new form.
pub(super) fn generate(random: &dyn Entropy) -> Result<String, NoEntropy> {
    let digits = base62::random::<22>(random)?;
    Ok(digits.map(char::from).iter().collect())
}
