//! Builder of the API service.

use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use http::Uri;
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::client_ip::{self, PeerIp};
use super::context::RequestIdGenerator;
use super::pipeline::ApiInner;
use super::usage::UsageCounters;
use super::{ApiSettings, ForumApi, endpoints};
use crate::build_error::BuildError;
use crate::environment::Environment;
use crate::host::Host;
use crate::http_util::{OriginalUri, no_original_uri};
use crate::operation::{ExtraOf, ExtraTypes, Operation, Services, validate};
use crate::store::Stores;

/// Builder of a [`ForumApi`].
///
/// Required parts are arguments of [`ForumApi::builder`]; everything else has a default.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use forum_api::host::{Authorizer, Board};
/// use forum_api::store::Stores;
/// use forum_api::{ApiSettings, BuildError, ErrorMessages, ForumApi, Language};
///
/// fn api<B: Authorizer + Board>(board: Arc<B>) -> Result<ForumApi, BuildError> {
///     let mut settings = ApiSettings::default();
///     settings.base_path = "/forum/api/v1".into();
///     settings.error_messages = ErrorMessages::for_language(Language::German);
///     settings.request_timeout = Duration::from_secs(10);
///     ForumApi::builder(board, Stores::in_memory()).settings(settings).build()
/// }
/// ```
#[must_use = "the builder does nothing until `build` is called"]
pub struct ForumApiBuilder {
    host: Host,
    stores: Stores,
    /// `None` without a default runtime.
    environment: Option<Environment>,
    settings: ApiSettings,
    operations: Vec<Operation>,
    extra_types: ExtraTypes,
    peer_ip: Box<PeerIp>,
    original_uri: Box<OriginalUri>,
}

impl ForumApi {
    /// Creates a builder from the required parts.
    ///
    /// - `host` is an [`Arc`] of a value that implements both [`Authorizer`](crate::host::Authorizer) and
    ///   [`Board`](crate::host::Board), or a [`Host`] of two values.
    /// - `stores` hold tokens, rate limits, idempotency keys, usage and the audit log. [`Stores::in_memory`] loses them
    ///   when the process exits.
    pub fn builder(host: impl Into<Host>, stores: Stores) -> ForumApiBuilder {
        ForumApiBuilder {
            host: host.into(),
            stores,
            #[cfg(feature = "tokio")]
            environment: Some(Environment::default()),
            #[cfg(not(feature = "tokio"))]
            environment: None,
            settings: ApiSettings::default(),
            operations: Vec::new(),
            extra_types: ExtraTypes::default(),
            peer_ip: Box::new(client_ip::peer_ip),
            original_uri: no_original_uri(),
        }
    }
}

impl ForumApiBuilder {
    /// Sets the environment. The panel and the worker receive the same one. Default: [`Environment::default`] with the
    /// feature `tokio`; without this feature, the environment is required.
    pub fn environment(mut self, environment: &Environment) -> Self {
        self.environment = Some(environment.clone());
        self
    }

    /// Sets the settings. Default: [`ApiSettings::default`].
    pub fn settings(self, settings: ApiSettings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the source of the peer's IP address. Default: an `IpAddr` or a `SocketAddr` extension of the request.
    ///
    /// The peer is the client, or a proxy. If the address is in [`ApiSettings::trusted_proxies`], the library reads the
    /// client's address from `x-forwarded-for` ([`client_ip`](crate::client_ip)). Guests whose address is unknown share one
    /// budget.
    ///
    /// The function must not panic.
    ///
    /// With axum: [`axum_0_8`](Self::axum_0_8).
    pub fn peer_ip(
        mut self,
        peer_ip: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.peer_ip = Box::new(peer_ip);
        self
    }

    /// Sets the source of a request's original URI, for routers that remove a path prefix. Default: the URI of the
    /// request itself.
    ///
    /// The function must not panic.
    ///
    /// With axum: [`axum_0_8`](Self::axum_0_8).
    pub fn original_uri(
        mut self,
        original_uri: impl Fn(&Parts) -> Option<&Uri> + Send + Sync + 'static,
    ) -> Self {
        self.original_uri = Box::new(original_uri);
        self
    }

    /// Adds an operation of the host. Requests for it pass the same pipeline as requests for the operations of the
    /// specification, and the OpenAPI document describes it. The compact surface ignores it.
    ///
    /// A path below `/x/` does not collide with an operation of a later version of the API.
    pub fn operation(mut self, operation: Operation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Accepts `extra` in the body `of`, with the fields of `T`. The board receives the decoded value in the field
    /// `extra` of the body, and the OpenAPI document describes its fields. A request with `extra` in a body without a
    /// registered type is refused with 400.
    ///
    /// `T` is a struct with `#[serde(deny_unknown_fields)]`. Each body has at most one type.
    pub fn extra<T: DeserializeOwned + JsonSchema + Send + Sync + 'static>(
        mut self,
        of: ExtraOf,
    ) -> Self {
        self.extra_types.add::<T>(of);
        self
    }

    /// Reads the original URI and the peer's IP address from the request's extensions
    /// [`OriginalUri`](axum::extract::OriginalUri) and [`ConnectInfo<SocketAddr>`](axum::extract::ConnectInfo), for a
    /// service that is mounted in an axum router.
    #[cfg(feature = "axum-0_8")]
    pub fn axum_0_8(self) -> Self {
        use crate::http_util::axum;
        self.original_uri(axum::original_uri).peer_ip(axum::peer_ip)
    }

    /// Builds the service. The first request of the OpenAPI document renders it.
    ///
    /// # Errors
    /// [`BuildError`] if the environment is missing, or if one of these is invalid:
    ///
    /// - a setting of the API, an operation, or a type of [`extra`](Self::extra)
    /// - the [`public_origin`](Environment::public_origin), a [`scope`](Environment::scope), a
    ///   [topic](Environment::topic), an [omitted operation](Environment::omit_operations) or an
    ///   [omitted topic](Environment::omit_topics) of the environment
    pub fn build(mut self) -> Result<ForumApi, BuildError> {
        self.settings.validate()?;
        let Some(environment) = self.environment else {
            let expected = "an environment with a runtime, or the feature `tokio`";
            return Err(BuildError::new("environment", expected));
        };
        environment.validate()?;
        let mut operations = endpoints::served_operations(&self.host.board, &environment);
        self.operations.retain(|operation| operation.spec.surfaces.contains(&environment.surface));
        let scopes = environment.scopes();
        let expected = "at most one type for each body, with `#[serde(deny_unknown_fields)]`";
        BuildError::require(self.extra_types.is_valid(), "extra", expected)?;
        validate(&self.operations, &operations, &scopes, &[endpoints::OPENAPI_PATH])?;
        operations.append(&mut self.operations);
        let settings = self.settings;
        Ok(ForumApi(Arc::new(ApiInner {
            request_ids: RequestIdGenerator::new(&*environment.random),
            services: Arc::new(Services {
                host: self.host,
                stores: self.stores,
                scopes,
                extra_types: self.extra_types,
                environment,
                error_messages: settings.error_messages.clone(),
            }),
            settings,
            operations,
            document: OnceLock::new(),
            peer_ip: self.peer_ip,
            original_uri: self.original_uri,
            warned_no_peer_ip: AtomicBool::new(false),
            usage: UsageCounters::default(),
        })))
    }
}

debug_fields!(ForumApiBuilder, |it| settings: it.settings);
