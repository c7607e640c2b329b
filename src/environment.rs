//! What the services, the administration and the worker of one board share.

use std::fmt;
use std::sync::Arc;

use crate::runtime::{Clock, OsRandom, RandomSource, Runtime, SystemClock};
use crate::scope::Surface;
#[cfg(feature = "webhooks")]
use crate::webhook::{PlaintextCipher, SecretCipher};

/// Clock, random source, runtime, surface, public origin and secret cipher of a board.
///
/// The API, the control panel, the administration of webhooks and the worker are made from one value, so that they
/// agree. Each of them takes a [`Runtime`] alone, too: then the rest has its default.
///
/// ```
/// use forum_api::Environment;
/// use forum_api::runtime::Inline;
/// use forum_api::scope::Surface;
///
/// let environment = Environment::new(Inline)
///     .surface(Surface::Compact)
///     .public_origin("https://board.example");
/// # drop(environment);
/// ```
#[derive(Clone)]
pub struct Environment {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn RandomSource>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) surface: Surface,
    pub(crate) public_origin: String,
    #[cfg(feature = "webhooks")]
    pub(crate) secrets: Arc<dyn SecretCipher>,
}

impl Environment {
    /// The system's clock and random source, the full surface, and webhook secrets in plain text.
    ///
    /// `runtime` is the executor that the host's server runs on: [`TokioRuntime`](crate::runtime::TokioRuntime) behind
    /// the feature `tokio`.
    pub fn new(runtime: impl Runtime) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            runtime: Arc::new(runtime),
            surface: Surface::Full,
            public_origin: String::new(),
            #[cfg(feature = "webhooks")]
            secrets: Arc::new(PlaintextCipher),
        }
    }

    /// Takes the time from `clock`. Default: [`SystemClock`].
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Takes random bytes from `random`. Default: [`OsRandom`].
    #[must_use]
    pub fn random(self, random: Arc<dyn RandomSource>) -> Self {
        Self { random, ..self }
    }

    /// The surface that is served, and whose scopes tokens have. Default: [`Surface::Full`].
    #[must_use]
    pub fn surface(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }

    /// The origin at which browsers and clients reach the host, as `https://board.example`. The OpenAPI document names
    /// it, and a form that comes from there is one of the panel's own. Default: empty, for the address that a request
    /// was sent to.
    #[must_use]
    pub fn public_origin(self, public_origin: impl Into<String>) -> Self {
        Self {
            public_origin: public_origin.into(),
            ..self
        }
    }

    /// Encrypts the secrets of webhooks with `secrets` (feature `webhooks`). Default: [`Plain`].
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn secrets(self, secrets: Arc<dyn SecretCipher>) -> Self {
        Self { secrets, ..self }
    }
}

impl<R: Runtime> From<R> for Environment {
    fn from(runtime: R) -> Self {
        Self::new(runtime)
    }
}

impl From<&Environment> for Environment {
    fn from(environment: &Environment) -> Self {
        environment.clone()
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("clock", &self.clock)
            .field("random", &self.random)
            .field("runtime", &self.runtime)
            .field("surface", &self.surface)
            .field("public_origin", &self.public_origin)
            .finish_non_exhaustive()
    }
}
