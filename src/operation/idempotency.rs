//! Step 9: executes a request with an `Idempotency-Key` at most once ([protocol](crate::guide::protocol), section 9).

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};

use super::error::{ApiError, ApiResult};
use super::extract::error::{InputError, InputErrorKind, InputResult};
use super::response::ApiResponse;
use super::services::Services;
use crate::error_chain::ErrorChain;
use crate::metrics::recorder;
use crate::model::Expected;
use crate::store::{
    BeginOutcome, Completion, IdempotencyNamespace, IdempotentRequest, Reservation,
};
use crate::token::Lookup;

const HEADER: &str = "idempotency-key";

/// Label of the idempotency store in the metrics.
const STORE: &str = "idempotency";

/// Time between two attempts to record an outcome.
const REPEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Number of repeated attempts to record an outcome.
const MAX_REPEATS: usize = 300;

/// Returns `true` for 1 to 64 visible ASCII characters.
pub(crate) fn is_key(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Parses the request's key. Rejects the key of a guest: keys belong to tokens, so a repeat would run again.
pub(crate) fn parse_key(headers: &HeaderMap, is_guest: bool) -> InputResult<Option<String>> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(InputError::new(HEADER, InputErrorKind::Repeated));
    }
    let Some(key) = value.to_str().ok().filter(|key| is_key(key)) else {
        return Err(InputError::expected(HEADER, Expected::IDEMPOTENCY_KEY));
    };
    if is_guest {
        return Err(InputError::expected(HEADER, Expected::WITH_TOKEN));
    }
    Ok(Some(key.to_owned()))
}

/// Returns the key of a request with a hash of the request's method, path, query and body.
pub(crate) fn fingerprint(
    token: Lookup,
    key: String,
    head: &Parts,
    body: &[u8],
) -> IdempotentRequest {
    let method = head.method.as_str();
    let path = head.uri.path();
    let query = head.uri.query().unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [method.as_bytes(), path.as_bytes(), query.as_bytes(), body] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    IdempotentRequest {
        namespace: IdempotencyNamespace::Token(token),
        key,
        fingerprint: hash.finalize().into(),
    }
}

/// Looks up the key of a request and reserves it if it is new.
pub(crate) async fn begin(
    services: &Services,
    request: &IdempotentRequest,
) -> ApiResult<BeginOutcome> {
    let now = services.environment.clock.now();
    let outcome = services.stores.idempotency.begin(request, now).await;
    outcome.inspect_err(|_| recorder::record_store_error(STORE)).map_err(ApiError::before_command)
}

/// Records the outcome of a request that holds a reservation. If the store fails, logs the failure, and repeats the call
/// in the background for five minutes, so that a key is released when the database returns.
pub(crate) async fn complete(
    services: &Services,
    reservation: Reservation,
    result: &ApiResult<ApiResponse>,
    request_id: &str,
) {
    let store = Arc::clone(&services.stores.idempotency);
    let completion = completion_of(result);
    let Err(error) = store.complete(&reservation, completion.clone()).await else {
        return;
    };
    recorder::record_store_error(STORE);
    tracing::error!(error = %ErrorChain(&error), request_id, "failed to record idempotency outcome");
    let runtime = &services.environment.runtime;
    let sleeper = Arc::clone(runtime);
    let request_id = request_id.to_owned();
    let repeat = async move {
        for _ in 0..MAX_REPEATS {
            sleeper.sleep(REPEAT_INTERVAL).await;
            let completed = store.complete(&reservation, completion.clone()).await;
            if completed.is_ok() {
                return;
            }
        }
        tracing::error!(request_id, "idempotency outcome not recorded");
    };
    drop(runtime.spawn(Box::pin(repeat)));
}

/// Returns the outcome to record. A rejected request changed nothing. After an internal error or a hidden result, the
/// outcome is unknown.
fn completion_of(result: &ApiResult<ApiResponse>) -> Completion {
    match result {
        Ok(response) => Completion::Responded(response.into()),
        Err(ApiError::Internal(_) | ApiError::HiddenResult) => Completion::OutcomeUnknown,
        Err(_) => Completion::NotExecuted,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn method_path_query_and_body_are_parts_of_the_fingerprint() {
        let of = |method: &str, uri: &str, body: &str| {
            let request = Request::builder().method(method).uri(uri);
            let (head, ()) = request.body(()).unwrap().into_parts();
            let token = Lookup::parse("0123456789abcdEF").unwrap();
            fingerprint(token, "key".into(), &head, body.as_bytes()).fingerprint
        };
        let first = of("POST", "/x?q=1", "{}");
        assert_eq!(of("POST", "/x?q=1", "{}"), first);
        for (method, uri, body) in [
            ("PUT", "/x?q=1", "{}"),
            ("POST", "/y?q=1", "{}"),
            ("POST", "/x?q=2", "{}"),
            ("POST", "/x", "{}"),
            ("POST", "/x?q=1", ""),
            ("POST", "/x?q=1{}", ""),
        ] {
            assert_ne!(of(method, uri, body), first, "{method} {uri} {body}");
        }
    }
}
