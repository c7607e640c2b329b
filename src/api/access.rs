//! Steps 2, 4, 5, 6 and 8: authentication, scope check, access, online check and visibility check
//! ([protocol](crate::guide::protocol), sections 2.3, 2.4 and 10).

use std::sync::{Arc, LazyLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::error_chain::ErrorChain;
use crate::host::{Authorizer, Caller, GuestCaller, PresentedToken, RequestInfo};
use crate::metrics::recorder;
use crate::model::{Timestamp, TokenInfo, UserId};
use crate::operation::{ApiError, AuthFailure};
use crate::scope::Scopes;
use crate::store::{LoadedToken, OwnerAccess, Stores, TokenStore};
use crate::token::{self, Lookup, SecretDigest, TokenRecord, TokenState};

/// Label of the token store in the metrics.
const STORE: &str = "tokens";

/// Dummy record to compare against when the lookup is unknown, so that unknown and wrong tokens take the same time. No
/// secret hashes to its all-zero digest.
static DUMMY_RECORD: LazyLock<TokenRecord> = LazyLock::new(|| TokenRecord {
    lookup: Lookup::DUMMY,
    digest: SecretDigest::new([0; 32]),
    owner: UserId::from(0),
    label: "dummy".into(),
    scopes: Arc::default(),
    created_at: Timestamp::default(),
    expires_at: None,
    revoked_at: None,
    last_used_at: None,
});

/// A valid token of a request.
pub(crate) struct ValidToken {
    pub(crate) owner: UserId,
    pub(crate) presented: PresentedToken,
    access: Option<Arc<OwnerAccess>>,
}

/// Returns the valid token of a request; `None` without an `authorization` header. Sets `known` to the lookup of a
/// stored token, even if the token is revoked or expired.
pub(super) async fn authenticate(
    headers: &HeaderMap,
    stores: &Stores,
    scopes: &Scopes,
    now: Timestamp,
    known: &mut Option<Lookup>,
) -> Result<Option<ValidToken>, ApiError> {
    let Some((lookup, digest)) = parse_header(headers)? else {
        return Ok(None);
    };
    let loaded = match &stores.token_loader {
        Some(loader) => loader.load_token(&lookup).await,
        None => {
            let record = stores.tokens.find(&lookup).await;
            record.map(|record| record.map(LoadedToken::new))
        }
    };
    let found = loaded
        .inspect_err(|_| recorder::record_store_error(STORE))?
        .unwrap_or_else(|| LoadedToken::new(DUMMY_RECORD.clone()));
    let LoadedToken { record, access } = found;
    let is_known = record.digest == digest;
    *known = is_known.then_some(record.lookup);
    let failure = match record.state(now) {
        _ if !is_known => Some(AuthFailure::Unknown),
        TokenState::Revoked => Some(AuthFailure::Revoked),
        TokenState::Expired => Some(AuthFailure::Expired),
        TokenState::Valid => None,
    };
    if let Some(failure) = failure {
        tracing::Span::current().record("token", lookup.as_str());
        return Err(failure.into());
    }
    record_use(&record, &*stores.tokens, now).await;
    let presented = PresentedToken {
        lookup: record.lookup,
        // Unknown scopes, such as retired ones, have no effect.
        scopes: scopes.set(&*record.scopes),
        token: TokenInfo {
            label: record.label,
            created_at: record.created_at,
            expires_at: record.expires_at,
        },
    };
    Ok(Some(ValidToken {
        owner: record.owner,
        presented,
        access,
    }))
}

/// Accepts exactly one `authorization` header with the value `Bearer`, one space and a token.
fn parse_header(headers: &HeaderMap) -> Result<Option<(Lookup, SecretDigest)>, AuthFailure> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    let credentials = text.and_then(|text| text.split_once(' '));
    let bearer = credentials.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let parsed = bearer.and_then(|(_, token)| token::parse_presented(token).ok());
    parsed.map(Some).ok_or(AuthFailure::Malformed)
}

/// Records the use of a token. A failure is logged and does not reject the request.
async fn record_use(record: &TokenRecord, tokens: &dyn TokenStore, now: Timestamp) {
    if !record.should_record_use(now) {
        return;
    }
    if let Err(error) = tokens.record_use(&record.lookup, now).await {
        recorder::record_store_error(STORE);
        tracing::warn!(token = %record.lookup, error = %ErrorChain(&error), "failed to record token use");
    }
}

/// Returns the caller with the access that the host's authorizer returns. The library does not cache the access.
pub(super) async fn resolve_caller(
    token: Option<ValidToken>,
    request: RequestInfo,
    authorizer: &dyn Authorizer,
) -> Result<Caller, ApiError> {
    let Some(token) = token else {
        let access = authorizer.guest_access(&request).await?;
        return Ok(GuestCaller::new(access, request).into());
    };
    let ValidToken {
        owner,
        presented,
        access,
    } = token;
    let loaded = match access {
        Some(access) => access(&request),
        None => authorizer.member_access(&owner, &request).await?,
    };
    let access = loaded.ok_or(ApiError::OwnerUnavailable)?;
    Ok(Caller::bearer(owner, access, request, presented))
}

/// Rejects callers who may not see the board while it is offline.
pub(super) fn require_online(caller: &Caller) -> Result<(), ApiError> {
    if caller.access().deny_offline {
        return Err(ApiError::BoardOffline);
    }
    Ok(())
}
