//! Step 2: who presents which token (spec, Authentication).

use std::sync::{Arc, LazyLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::api::error::{Problem, Unauthenticated};
use crate::host::Presented;
use crate::metrics::recorder;
use crate::model::{Timestamp, TokenInfo, UserId};
use crate::rate_limit::BudgetKey;
use crate::scope::Surface;
use crate::store::Tokens;
use crate::token::{self, Digest, Lookup, TokenRecord, TokenState};

/// The store of tokens, as it is counted.
const STORE: &str = "tokens";

/// Stands in for the record of an unknown token, which takes the same to copy, to compare and to drop. No secret has its
/// digest.
static DUMMY: LazyLock<TokenRecord> = LazyLock::new(|| TokenRecord {
    lookup: Lookup::DUMMY,
    digest: Digest::new([0; 32]),
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
pub(super) struct Bearer {
    pub(super) lookup: Lookup,
    pub(super) owner: UserId,
    pub(super) presented: Presented,
}

/// The bearer of a valid token; `None` for a caller who presents nothing at all.
///
/// An unknown token costs the same comparison as a known one.
pub(super) async fn bearer(
    headers: &HeaderMap,
    tokens: &dyn Tokens,
    surface: Surface,
    now: Timestamp,
) -> Result<Option<Bearer>, Problem> {
    let Some((lookup, digest)) = presented(headers).map_err(Problem::Unauthenticated)? else {
        return Ok(None);
    };
    let found = tokens.find(&lookup).await;
    let found = found.inspect_err(|_| recorder::record_store_error(STORE))?;
    let record = found.unwrap_or_else(|| DUMMY.clone());
    if record.digest != digest {
        return Err(Problem::Unauthenticated(Unauthenticated::Unknown));
    }
    match record.state(now) {
        TokenState::Revoked => return Err(Problem::Unauthenticated(Unauthenticated::Revoked)),
        TokenState::Expired => return Err(Problem::Unauthenticated(Unauthenticated::Expired)),
        TokenState::Valid => {}
    }
    note_use(&record, tokens, now).await;
    Ok(Some(Bearer::new(record, surface)))
}

/// A use that cannot be noted is no reason to refuse it.
async fn note_use(record: &TokenRecord, tokens: &dyn Tokens, now: Timestamp) {
    if !record.use_is_news(now) {
        return;
    }
    if let Err(fault) = tokens.used(&record.lookup, now).await {
        recorder::record_store_error(STORE);
        tracing::warn!(token = %record.lookup, %fault, "the use of a token was not noted");
    }
}

/// Exactly one `authorization` header that reads `Bearer`, one blank, a token.
fn presented(headers: &HeaderMap) -> Result<Option<(Lookup, Digest)>, Unauthenticated> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    let bearer = text.and_then(|text| text.split_once(' '));
    let token = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let parsed = token.and_then(|(_, token)| token::presented(token).ok());
    parsed.map(Some).ok_or(Unauthenticated::Malformed)
}

impl Bearer {
    /// Scopes that this surface does not know are dropped: a retired one leaves the rest alive.
    fn new(record: TokenRecord, surface: Surface) -> Self {
        let scopes = record
            .scopes
            .iter()
            .filter_map(|scope| surface.scope(scope))
            .collect();
        let TokenRecord {
            lookup,
            owner,
            label,
            created_at,
            expires_at,
            ..
        } = record;
        let token = TokenInfo {
            label,
            created_at,
            expires_at,
        };
        let presented = Presented { scopes, token };
        Self {
            lookup,
            owner,
            presented,
        }
    }

    pub(super) fn budget_key(&self) -> BudgetKey {
        BudgetKey::Token(self.lookup)
    }
}
