//! The tower service.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tracing::Instrument;

use super::pipeline::ApiInner;
use crate::error_chain::ErrorChain;
use crate::host::{BackendError, BackendResult};
use crate::http_util::{RequestBody, restore_uri};
use crate::metrics::recorder;
#[cfg(feature = "test-util")]
use crate::scope::Scopes;
use crate::store::TokenUsage;
use crate::task::timeout;

/// Time between two calls of [`ForumApi::flush_usage`].
const FLUSH_INTERVAL: Duration = Duration::from_secs(60);

/// Timeout of a call of [`ForumApi::flush_usage`]. The next call adds the same usage.
const FLUSH_TIMEOUT: Duration = FLUSH_INTERVAL;

/// Number of rows that are removed in one transaction. Other writers wait for it.
const SWEEP_BATCH: u32 = 1000;

/// Label of the store in the metrics.
const STORE: &str = "usage";

/// The REST API of a board, as a [`Service`](tower_service::Service).
///
/// Serves the endpoints below [`ApiSettings::base_path`](crate::ApiSettings::base_path); any other path is a 404
/// `no_such_route`. Returns errors as responses, never as `Err`. Cloning is cheap. [`ForumApi::builder`] builds it.
///
/// ```
/// # use std::sync::Arc;
/// use forum_api::{ApiSettings, BuildError, ForumApi, host::{Authorizer, Board}, store::Stores};
///
/// fn service(board: Arc<impl Authorizer + Board>) -> Result<ForumApi, BuildError> {
///     let mut settings = ApiSettings::default();
///     settings.base_path = "/forum/api/v1".into();
///     ForumApi::builder(board, Stores::in_memory()).settings(settings).build()
/// }
/// ```
///
/// [`respond`](Self::respond) is the same call without the trait:
///
/// ```
/// # use forum_api::ForumApi;
/// async fn forums(api: &ForumApi) -> (http::StatusCode, Vec<u8>) {
///     let request = http::Request::get("/api/v1/forums").body(String::new()).unwrap();
///     let (head, body) = api.respond(request).await.into_parts();
///     (head.status, body.into_bytes().into())
/// }
/// ```
///
/// The service accepts every type of request body. If no argument of a generic call names the type, the compiler reports
/// E0283, "type annotations needed". Then name the type of the request:
///
/// ```
/// # use forum_api::ForumApi;
/// use tower::{BoxError, Service, ServiceExt};
///
/// fn fallible(api: ForumApi) -> impl Service<http::Request<axum::body::Body>, Error = BoxError> {
///     ServiceExt::<http::Request<axum::body::Body>>::map_err(api, BoxError::from)
/// }
/// ```
#[derive(Clone)]
#[doc(alias = "router")]
#[doc(alias = "rest")]
pub struct ForumApi(pub(crate) Arc<ApiInner>);

impl ForumApi {
    /// Returns the OpenAPI document that the service serves at `/openapi.json` below the base path.
    #[must_use]
    pub fn openapi(&self) -> Value {
        self.0.render_document()
    }

    #[cfg(feature = "test-util")]
    pub(crate) fn scopes(&self) -> &Scopes {
        &self.0.services.scopes
    }

    /// Adds to the [`UsageStore`](crate::store::UsageStore) the numbers of requests that the service counted since the
    /// previous call of this method, by token, operation and hour. The first call of this method in each hour also removes
    /// numbers that are older than 30 days.
    ///
    /// [`flush_usage_periodically`](Self::flush_usage_periodically) calls it once a minute. Call it again before the process
    /// ends. Between two calls, the service counts the requests of at most 262,144 combinations of a token, an operation and
    /// an hour. Requests of further combinations are not counted.
    ///
    /// If the future is dropped before it completes, the service keeps the numbers for the next call. Numbers that the
    /// store has already added are then counted twice.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the store fails. The service keeps numbers that were not stored for
    /// the next call.
    pub async fn flush_usage(&self) -> BackendResult<()> {
        let counters = &self.0.usage;
        let store = &*self.0.services.stores.usage;
        counters.take().store(store).await?;
        let now = self.0.services.environment.clock.now();
        if counters.is_sweep_due(now) {
            let retention = TokenUsage::RETENTION;
            while store.sweep(retention, now, SWEEP_BATCH).await? >= u64::from(SWEEP_BATCH) {}
        }
        Ok(())
    }

    /// Calls [`flush_usage`](Self::flush_usage) once a minute, and logs its errors. Drops a call that takes longer than a
    /// minute, and repeats it. The future never completes: run it beside the server. A crash of the process loses the usage
    /// since the last successful call, usually of at most one minute.
    pub async fn flush_usage_periodically(&self) {
        loop {
            let runtime = &*self.0.services.environment.runtime;
            runtime.sleep(FLUSH_INTERVAL).await;
            let flushed = timeout(runtime, FLUSH_TIMEOUT, self.flush_usage()).await;
            let timed_out = || Err(BackendError::new("the usage store did not respond"));
            if let Err(error) = flushed.unwrap_or_else(timed_out) {
                recorder::record_store_error(STORE);
                tracing::warn!(error = %ErrorChain(&error), "failed to record usage; retrying");
            }
        }
    }
}

impl_service!(ForumApi, |service, request| {
    let inner = Arc::clone(&service.0);
    let (mut head, body) = request.into_parts();
    Box::pin(async move {
        restore_uri(&mut head, &*inner.original_uri);
        let mut body = RequestBody::new(body);
        let mut request = inner.begin(&head);
        let span = request.context.span();
        let response = async {
            let outcome = {
                // Pinned here, because a future that is passed by value would be stored twice.
                let steps = pin!(inner.run_pipeline(&mut request.context, &mut body));
                inner.run(steps).await
            };
            request.finish(outcome, &body)
        };
        Ok(response.instrument(span).await)
    })
});

debug_fields!(ForumApi, |it| settings: it.0.settings);
