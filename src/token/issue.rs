//! Issuing a token: what the panel and the command line both do.

use std::sync::Arc;

use thiserror::Error;

use super::{Expiry, ParseExpiryError, PlainToken, TokenRecord};
use crate::host::BackendError;
use crate::model::{Timestamp, UserId, is_single_line};
use crate::runtime::RandomSource;
use crate::scope::Surface;
use crate::store::TokenStore;

/// Longest label, in characters.
const MAX_LABEL_CHARS: usize = 100;

/// What a token is to be.
#[derive(Clone, Debug)]
pub struct TokenRequest<'a> {
    /// For whom it acts.
    pub owner: &'a UserId,
    /// Name of the token for its owner: a single-line text of at most 100 characters, which may be empty.
    pub label: &'a str,
    /// What it carries.
    pub scopes: &'a [String],
    /// "Expires in (days)", as it was typed.
    pub expires_in_days: &'a str,
}

/// Why no token was issued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IssueError {
    /// No scope was named.
    #[error("a token needs at least one scope")]
    NoScopes,
    /// The surface does not know this scope.
    #[error("unknown scope {0:?}")]
    UnknownScope(String),
    /// The expiry is not whole days.
    #[error(transparent)]
    Expiry(#[from] ParseExpiryError),
    /// The label has more than 100 characters or is not a [single-line text](is_single_line).
    #[error(
        "the label must have at most 100 characters and no control characters, line breaks or bidirectional overrides"
    )]
    InvalidLabel,
    /// The store, or the source of randomness, failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Issues a token and stores its record. The token is shown once; only its hash is kept.
///
/// # Errors
/// [`IssueError`]; no token is created then.
pub async fn issue_token(
    tokens: &dyn TokenStore,
    entropy: &dyn RandomSource,
    surface: Surface,
    wanted: TokenRequest<'_>,
    now: Timestamp,
) -> Result<(PlainToken, TokenRecord), IssueError> {
    check_label(wanted.label)?;
    let expiry = Expiry::parse(wanted.expires_in_days)?;
    let scopes: Arc<[String]> = checked(surface, wanted.scopes)?.into();
    loop {
        let token = PlainToken::generate(entropy).map_err(BackendError::new)?;
        let record = TokenRecord {
            lookup: *token.lookup(),
            digest: token.digest(),
            owner: wanted.owner.clone(),
            label: wanted.label.into(),
            scopes: Arc::clone(&scopes),
            created_at: now,
            expires_at: expiry.expires_at(now),
            revoked_at: None,
            last_used_at: None,
        };
        if tokens.create(&record).await? {
            return Ok((token, record));
        }
    }
}

/// Rejects a label that cannot be stored.
///
/// # Errors
/// [`IssueError::InvalidLabel`].
pub(crate) fn check_label(label: &str) -> Result<(), IssueError> {
    let is_valid = label.chars().count() <= MAX_LABEL_CHARS && is_single_line(label);
    is_valid.then_some(()).ok_or(IssueError::InvalidLabel)
}

/// The scopes in the surface's own order, each once.
fn checked(surface: Surface, wanted: &[String]) -> Result<Vec<String>, IssueError> {
    if wanted.is_empty() {
        return Err(IssueError::NoScopes);
    }
    if let Some(unknown) = wanted
        .iter()
        .find(|scope| surface.parse_scope(scope).is_none())
    {
        return Err(IssueError::UnknownScope(unknown.clone()));
    }
    let scopes = surface.scopes().map(|scope| scope.as_str().to_owned());
    Ok(scopes.filter(|scope| wanted.contains(scope)).collect())
}
