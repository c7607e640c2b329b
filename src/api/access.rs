//! Steps 2, 4, 5 and 6: authentication, scope check, access and online check ([protocol](crate::guide::protocol),
//! sections 2.3 and 2.4).

use std::sync::{Arc, LazyLock};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::error::BackendResult;
use crate::error_chain::ErrorChain;
use crate::host::{Access, MemberCaller, OwnerAccess, PresentedToken, RequestInfo};
use crate::metrics::recorder;
use crate::model::{Timestamp, TokenInfo, UserId};
use crate::operation::{
    ApiError, ApiResult, AuthFailure, ErasedHandler, GuestOrOwner, Handler, Services, TokenOwner,
    require_scope,
};
use crate::scope::Scope;
use crate::store::TokenStore;
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

/// Token of a request.
pub(crate) struct RequestToken {
    pub(super) record: TokenRecord,
    /// Computes the access of the owner, if the host loaded it together with the token.
    owner_access: Option<OwnerAccess>,
}

/// The handler of a request's operation, with the token that it needs or accepts.
pub(crate) enum AuthenticatedHandler<'a> {
    GuestOrOwner(&'a Arc<dyn ErasedHandler<GuestOrOwner>>, Option<RequestToken>),
    Owner(&'a Arc<dyn ErasedHandler<TokenOwner>>, RequestToken),
}

impl<'a> AuthenticatedHandler<'a> {
    /// Rejects a request without a token to an operation that needs one.
    pub(crate) fn new(
        handler: &'a Handler,
        token: Option<RequestToken>,
    ) -> Result<Self, AuthFailure> {
        match (handler, token) {
            (Handler::GuestOrOwner(handler), token) => Ok(Self::GuestOrOwner(handler, token)),
            (Handler::Owner(handler), Some(token)) => Ok(Self::Owner(handler, token)),
            (Handler::Owner(_), None) => Err(AuthFailure::Absent),
        }
    }

    /// Returns the token of the request; `None` for the guest.
    pub(crate) fn token(&self) -> Option<&RequestToken> {
        match self {
            Self::GuestOrOwner(_, token) => token.as_ref(),
            Self::Owner(_, token) => Some(token),
        }
    }
}

/// Returns the token of a request, which can be revoked or expired; `None` without an `authorization` header.
pub(super) async fn find_token(
    headers: &HeaderMap,
    services: &Services,
) -> ApiResult<Option<RequestToken>> {
    let Some((lookup, digest)) = parse_header(headers)? else {
        return Ok(None);
    };
    let found = load(&lookup, services)
        .await
        .inspect_err(|_| recorder::record_store_error(STORE))
        .map_err(ApiError::before_command)?;
    if found.record.digest != digest {
        tracing::Span::current().record("token", lookup.as_str());
        return Err(AuthFailure::Unknown.into());
    }
    Ok(Some(found))
}

/// Loads the token from the host, or else from the store. Returns the dummy record if neither knows it.
async fn load(lookup: &Lookup, services: &Services) -> BackendResult<RequestToken> {
    if let Some(loaded) = services.host.authorizer.load_token(lookup).await? {
        let owner_access = Some(loaded.owner_access);
        return Ok(RequestToken { record: loaded.record, owner_access });
    }
    let stored = services.stores.tokens.find(lookup).await?;
    let record = stored.unwrap_or_else(|| DUMMY_RECORD.clone());
    Ok(RequestToken { record, owner_access: None })
}

/// Rejects a token that is revoked or expired, and records the use of a valid one.
pub(super) async fn check_token(
    record: &TokenRecord,
    tokens: &dyn TokenStore,
    now: Timestamp,
) -> Result<(), AuthFailure> {
    let failure = match record.state(now) {
        TokenState::Revoked => AuthFailure::Revoked,
        TokenState::Expired => AuthFailure::Expired,
        TokenState::Valid => {
            record_use(record, tokens, now).await;
            return Ok(());
        }
    };
    tracing::Span::current().record("token", record.lookup.as_str());
    Err(failure)
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

/// Returns the guest with the access that the host's authorizer returns.
pub(super) async fn resolve_guest(
    services: &Services,
    request: RequestInfo,
) -> ApiResult<GuestOrOwner> {
    let access =
        services.host.authorizer.guest_access(&request).await.map_err(ApiError::before_command)?;
    Ok(GuestOrOwner::guest(access, request))
}

/// Returns the owner of a token with the access that the host's authorizer returns. The library does not cache the
/// access. `scope` is the scope that the token needs.
pub(super) async fn resolve_owner(
    services: &Services,
    token: RequestToken,
    scope: Option<Scope>,
    request: RequestInfo,
) -> ApiResult<TokenOwner> {
    let RequestToken { record, owner_access } = token;
    let token = PresentedToken {
        lookup: record.lookup,
        // Unknown scopes, such as retired ones, have no effect.
        scopes: services.scopes.set(&*record.scopes),
        token: TokenInfo {
            label: record.label,
            created_at: record.created_at,
            expires_at: record.expires_at,
        },
    };
    if let Some(scope) = scope {
        require_scope(Some(&token), scope)?;
    }
    let loaded = match owner_access {
        Some(owner_access) => owner_access(&request),
        None => services
            .host
            .authorizer
            .member_access(&record.owner, &request)
            .await
            .map_err(ApiError::before_command)?,
    };
    let access = loaded.ok_or(ApiError::OwnerUnavailable)?;
    Ok(TokenOwner { member: MemberCaller::new(record.owner, access, request), token })
}

/// Rejects callers who may not see the board while it is offline.
pub(super) fn require_online(access: &Access) -> ApiResult<()> {
    if access.board_offline {
        return Err(ApiError::BoardOffline(access.offline_for));
    }
    Ok(())
}
