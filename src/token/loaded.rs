//! Tokens that were loaded together with data of their owners.

use std::any::Any;
use std::sync::Arc;

use super::TokenRecord;

/// Token with data of its owner, which a [`TokenLoader`](crate::store::TokenLoader) loads with one query.
#[derive(Clone, Debug)]
pub struct LoadedToken {
    pub(crate) record: TokenRecord,
    pub(crate) owner: Option<LoadedOwner>,
}

impl LoadedToken {
    /// Creates a token without data of its owner.
    pub fn new(record: TokenRecord) -> Self {
        Self {
            record,
            owner: None,
        }
    }

    /// Attaches data of the owner, such as the rows of the member and the forums. A second value replaces the first.
    ///
    /// [`Authorizer::member_access`](crate::host::Authorizer::member_access) reads it with
    /// [`RequestInfo::loaded_owner`](crate::host::RequestInfo::loaded_owner). Without the data, the authorizer must
    /// load the owner itself.
    #[must_use]
    pub fn with_owner<T: Send + Sync + 'static>(self, owner: T) -> Self {
        Self {
            owner: Some(LoadedOwner::new(owner)),
            ..self
        }
    }

    /// Returns the token.
    pub fn record(&self) -> &TokenRecord {
        &self.record
    }
}

/// Data of a token's owner, of a type that the host chooses. Clones share it.
#[derive(Clone)]
pub(crate) struct LoadedOwner(Arc<dyn Any + Send + Sync>);

impl LoadedOwner {
    pub(crate) fn new<T: Send + Sync + 'static>(owner: T) -> Self {
        Self(Arc::new(owner))
    }

    pub(crate) fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

opaque_debug!(LoadedOwner);
