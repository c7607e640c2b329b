//! Issue of tokens, for the control panel and the host's own tools.

use std::sync::Arc;

use thiserror::Error;

use super::store::TokenStore;
use super::{Expiry, PlainToken, TokenRecord};
use crate::audit::{AuditAction, AuditActor, owner_text};
use crate::error::BackendError;
use crate::model::{Timestamp, UserId, is_blank, is_single_line};
use crate::runtime::{RandomError, RandomSource};
use crate::scope::{Scope, Scopes};

/// Maximum length of a label, in characters.
const MAX_LABEL_CHARS: usize = 100;

static SYSTEM: AuditActor = AuditActor::SYSTEM;

/// Properties of a token to issue.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenRequest<'a> {
    /// The member for whom the token acts. [`issue_token`] does not check that the account exists.
    pub owner: &'a UserId,
    /// Username of the owner, for the audit log; `None` to record `#` and the id.
    pub owner_name: Option<&'a str>,
    /// The scopes: at least one, in any order.
    pub scopes: &'a [Scope],
    /// Name of the token for its owner: a [single-line text](is_single_line) of at most 100 characters, without white
    /// space at both ends, which [`issue_token`] removes; can be empty.
    pub label: &'a str,
    /// Time until the token expires.
    pub expiry: Expiry,
    /// Actor that issues the token, for the audit log.
    pub issuer: &'a AuditActor,
}

impl<'a> TokenRequest<'a> {
    /// Creates a request for a token with an empty label and without an expiry.
    pub fn new(owner: &'a UserId, scopes: &'a [Scope]) -> Self {
        Self { owner, owner_name: None, scopes, label: "", expiry: Expiry::NEVER, issuer: &SYSTEM }
    }

    /// Sets the username of the owner, for the audit log. Default: `#` and the id are recorded.
    #[must_use]
    pub fn owner_name(mut self, owner_name: &'a str) -> Self {
        self.owner_name = Some(owner_name);
        self
    }

    /// Sets the label. Default: empty.
    #[must_use]
    pub fn label(self, label: &'a str) -> Self {
        Self { label, ..self }
    }

    /// Sets the expiry. Default: [`Expiry::NEVER`].
    #[must_use]
    pub fn expiry(self, expiry: Expiry) -> Self {
        Self { expiry, ..self }
    }

    /// Sets the actor that issues the token. Default: [`AuditActor::SYSTEM`].
    #[must_use]
    pub fn issuer(self, issuer: &'a AuditActor) -> Self {
        Self { issuer, ..self }
    }
}

/// Error of [`issue_token`]. No token is created.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IssueError {
    /// The list of scopes is empty.
    #[error("a token needs at least one scope")]
    NoScopes,
    /// The scope is not one of the [`Scopes`] of the service. A [`Surface`](crate::scope::Surface) contains
    /// only the scopes of the specification.
    #[error("unknown scope \"{0}\"")]
    UnknownScope(Scope),
    /// The label has more than 100 characters, is not a [single-line text](is_single_line), or consists of
    /// characters that are all [invisible](is_blank).
    #[error(
        "the label must have at most 100 characters, not only invisible ones, and no control characters, line breaks or \
         bidirectional overrides"
    )]
    InvalidLabel,
    /// The token store or the random source failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl From<RandomError> for IssueError {
    fn from(error: RandomError) -> Self {
        Self::Backend(error.into())
    }
}

/// Issues a token as [`Environment::issue_token`](crate::Environment::issue_token) does, for programs without an
/// [`Environment`](crate::Environment).
///
/// `scopes` are the scopes of the service: a [`Surface`](crate::scope::Surface), or
/// [`Environment::scopes`](crate::Environment::scopes). The record has the requested scopes in the order of `scopes`,
/// without repetitions.
///
/// # Errors
/// - [`IssueError::InvalidLabel`], [`IssueError::NoScopes`] or [`IssueError::UnknownScope`] if the request is invalid.
/// - [`IssueError::Backend`] if the token store or the random source fails.
pub async fn issue_token(
    tokens: &dyn TokenStore,
    random: &dyn RandomSource,
    scopes: impl Into<Scopes>,
    request: TokenRequest<'_>,
    now: Timestamp,
) -> Result<(PlainToken, TokenRecord), IssueError> {
    let label = parse_label(request.label)?;
    let scopes = scope_names(&scopes.into(), request.scopes)?;
    loop {
        let token = PlainToken::generate(random)?;
        let record = TokenRecord {
            lookup: *token.lookup(),
            digest: token.digest(),
            owner: request.owner.clone(),
            label: label.into(),
            scopes: Arc::clone(&scopes),
            created_at: now,
            expires_at: request.expiry.expires_at(now),
            revoked_at: None,
            last_used_at: None,
        };
        let audit = request
            .issuer
            .entry(random, now, AuditAction::TOKEN_ISSUED, record.lookup)?
            .with_details(details(&record, request.owner_name));
        if tokens.create(&record, &audit).await? {
            return Ok((token, record));
        }
    }
}

/// The owner is first, because a label can contain anything: an erasure finds the entries of an owner by their beginning.
fn details(record: &TokenRecord, owner_name: Option<&str>) -> String {
    let owner = owner_text(owner_name, &record.owner);
    let scopes = record.scopes.join(", ");
    let expiry = match record.expires_at {
        Some(expires_at) => format!("expires {expires_at}"),
        None => "does not expire".into(),
    };
    let label = &record.label;
    format!("owner {owner}; label {label:?}; {expiry}; scopes {scopes}")
}

/// Removes white space at both ends of a label. Rejects labels that are too long, invisible or not single-line texts. An
/// empty label is valid.
///
/// # Errors
/// [`IssueError::InvalidLabel`].
pub(crate) fn parse_label(text: &str) -> Result<&str, IssueError> {
    let label = text.trim();
    let is_valid = label.chars().count() <= MAX_LABEL_CHARS && is_single_line(text);
    let is_shown = is_valid && (label.is_empty() || !is_blank(label));
    if is_shown { Ok(label) } else { Err(IssueError::InvalidLabel) }
}

/// Returns the names of the requested scopes in the order of the known ones, without repetitions.
fn scope_names(known: &Scopes, requested: &[Scope]) -> Result<Arc<[String]>, IssueError> {
    if requested.is_empty() {
        return Err(IssueError::NoScopes);
    }
    if let Some(unknown) = requested.iter().find(|scope| !known.contains(**scope)) {
        return Err(IssueError::UnknownScope(*unknown));
    }
    let scopes = known.iter().filter(|scope| requested.contains(scope));
    Ok(scopes.map(|scope| scope.to_string()).collect())
}
