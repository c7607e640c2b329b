//! Step 2: which token a request presents (`docs/protocol.md`, section 2.3).

use std::sync::{Arc, LazyLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::error::{ApiError, AuthFailure};
use crate::host::PresentedToken;
use crate::metrics::recorder;
use crate::model::{Timestamp, TokenInfo, UserId};
use crate::scope::Surface;
use crate::store::TokenStore;
use crate::token::{self, Lookup, SecretDigest, TokenRecord, TokenState};

/// The store's label in the metrics.
const STORE: &str = "tokens";

/// Replaces the record of an unknown token, so that the comparison takes the same time. No secret has its digest.
static DUMMY_RECORD: LazyLock<TokenRecord> = LazyLock::new(|| TokenRecord {
    lookup: Lookup::DUMMY,
    digest: SecretDigest::new([0; 32]),
    owner: UserId::from(0),
    label: "nobody's".into(),
    scopes: Arc::default(),
    created_at: Timestamp::default(),
    expires_at: None,
    revoked_at: None,
    last_used_at: None,
});

/// A token that is valid now.
#[derive(Debug)]
pub(super) struct AuthenticatedToken {
    pub(super) owner: UserId,
    pub(super) presented: PresentedToken,
}

/// The valid token of a request; `None` for a request without an `authorization` header.
pub(super) async fn authenticate(
    headers: &HeaderMap,
    tokens: &dyn TokenStore,
    surface: Surface,
    now: Timestamp,
) -> Result<Option<AuthenticatedToken>, ApiError> {
    let Some((lookup, digest)) = parse_header(headers)? else {
        return Ok(None);
    };
    let found = tokens.find(&lookup).await;
    let found = found.inspect_err(|_| recorder::record_store_error(STORE))?;
    let record = found.unwrap_or_else(|| DUMMY_RECORD.clone());
    if record.digest != digest {
        return Err(AuthFailure::Unknown.into());
    }
    match record.state(now) {
        TokenState::Revoked => return Err(AuthFailure::Revoked.into()),
        TokenState::Expired => return Err(AuthFailure::Expired.into()),
        TokenState::Valid => {}
    }
    record_use(&record, tokens, now).await;
    Ok(Some(AuthenticatedToken::new(record, surface)))
}

/// A failure to record the use does not refuse the request.
async fn record_use(record: &TokenRecord, tokens: &dyn TokenStore, now: Timestamp) {
    if !record.should_record_use(now) {
        return;
    }
    if let Err(fault) = tokens.record_use(&record.lookup, now).await {
        recorder::record_store_error(STORE);
        tracing::warn!(token = %record.lookup, error = %fault, "failed to record token use");
    }
}

/// Exactly one `authorization` header that reads `Bearer`, one blank, a token.
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

impl AuthenticatedToken {
    /// A scope that this surface does not know is dropped; the others stay usable.
    fn new(record: TokenRecord, surface: Surface) -> Self {
        let scopes = record.scopes.iter();
        let scopes = scopes
            .filter_map(|scope| surface.parse_scope(scope))
            .collect();
        let token = TokenInfo {
            label: record.label,
            created_at: record.created_at,
            expires_at: record.expires_at,
        };
        Self {
            owner: record.owner,
            presented: PresentedToken {
                lookup: record.lookup,
                scopes,
                token,
            },
        }
    }
}
