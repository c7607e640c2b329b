//! [`Environment`]: dependencies and settings that the services of one board share.

use std::sync::Arc;
use std::time::Duration;

use http::uri::Authority;
use schemars::JsonSchema;
use serde::Serialize;

use crate::build_error::BuildError;
use crate::host::WebUrls;
use crate::runtime::{Clock, OsRandom, RandomSource, Runtime, SystemClock};
use crate::scope::{Scope, Scopes, Surface};
use crate::store::Stores;
use crate::token::{self, IssueError, PlainToken, TokenRecord, TokenRequest};
use crate::webhook::{EventKind, Topic, event_kinds};
#[cfg(feature = "webhooks")]
use crate::webhook::{PlaintextCipher, SecretCipher};

/// What the services of one board share: clock, random source, runtime, surface, scopes, topics, omitted operations, public
/// origin, URLs of pages, overlap of `since` and secret cipher.
///
/// Pass the same value to the API, the control panel, the webhook administration and the worker. [`Environment::default`]
/// runs on tokio (feature `tokio`).
///
/// ```
/// use forum_api::Environment;
/// use forum_api::scope::Surface;
///
/// # #[cfg(feature = "tokio")]
/// let environment = Environment::default()
///     .surface(Surface::Compact)
///     .public_origin("https://board.example");
/// # #[cfg(feature = "tokio")]
/// # drop(environment);
/// ```
#[derive(Clone)]
pub struct Environment {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn RandomSource>,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) surface: Surface,
    pub(crate) own_scopes: Vec<Scope>,
    own_events: Vec<EventKind>,
    /// Ids of operations of the specification.
    pub(crate) omitted_operations: Vec<String>,
    omitted_topics: Vec<Topic>,
    pub(crate) public_origin: String,
    pub(crate) since_overlap: Duration,
    pub(crate) thread_since_overlap: Duration,
    pub(crate) web_urls: WebUrls,
    #[cfg(feature = "webhooks")]
    pub(crate) secret_cipher: Arc<dyn SecretCipher>,
}

impl Environment {
    /// Creates an environment for a host that does not run on tokio, with the executor of its server, the system's clock
    /// and random source, the full surface, no public origin, and webhook secrets in plain text.
    pub fn new(runtime: impl Runtime) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            runtime: Arc::new(runtime),
            surface: Surface::Full,
            own_scopes: Vec::new(),
            own_events: Vec::new(),
            omitted_operations: Vec::new(),
            omitted_topics: Vec::new(),
            public_origin: String::new(),
            since_overlap: Duration::ZERO,
            thread_since_overlap: Duration::ZERO,
            web_urls: WebUrls::default(),
            #[cfg(feature = "webhooks")]
            secret_cipher: Arc::new(PlaintextCipher),
        }
    }

    /// Sets the clock. Default: [`SystemClock`].
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Sets the random source of tokens, secrets and ids. Default: [`OsRandom`].
    #[must_use]
    pub fn random(self, random: impl RandomSource) -> Self {
        Self { random: Arc::new(random), ..self }
    }

    /// Sets the surface that the API serves. The panel issues tokens with the scopes of this surface. Default:
    /// [`Surface::Full`].
    #[must_use]
    pub fn surface(self, surface: Surface) -> Self {
        Self { surface, ..self }
    }

    /// Adds a scope of the host's own operations. Tokens can carry the scope; the panel and the OpenAPI document show
    /// it. The compact surface ignores it.
    ///
    /// [`issue_token`](Self::issue_token) accepts the scope. A [`Surface`] contains only the scopes of the specification.
    ///
    /// The builder of the API rejects a scope that the surface has, and more than 64 scopes in all.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.own_scopes.push(scope);
        self
    }

    /// Adds a topic of the host's own events, which [`Event::new`](crate::webhook::Event::new) creates. Endpoints can
    /// subscribe to it by name, and the OpenAPI document of the full surface describes it.
    ///
    /// `description` is one sentence about the change that causes the event. `example` is the data of an event; its type
    /// is the schema in the document.
    ///
    /// The builders of the API and the panel reject a topic of the specification, and a topic that is added twice.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use forum_api::Environment;
    /// use forum_api::model::UserId;
    /// use forum_api::webhook::Topic;
    /// use schemars::JsonSchema;
    /// use serde::Serialize;
    ///
    /// const BADGE_GIVEN: Topic = Topic::from_static("badge.given");
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// #[serde(rename_all = "camelCase")]
    /// struct GivenBadge {
    ///     /// The member who was given the badge.
    ///     user_id: UserId,
    ///     /// Name of the badge.
    ///     badge: String,
    /// }
    ///
    /// let example = GivenBadge { user_id: UserId::from(3), badge: "Gardener".into() };
    /// let environment = Environment::default().topic(BADGE_GIVEN, "A member was given a badge.", &example);
    /// # drop(environment);
    /// # }
    /// ```
    #[must_use]
    pub fn topic<D: Serialize + JsonSchema>(
        mut self,
        topic: Topic,
        description: &'static str,
        example: &D,
    ) -> Self {
        self.own_events.push(EventKind::own(topic, description, example));
        self
    }

    /// Omits topics of the specification that neither the API nor the pages of the board cause, such as those of polls on
    /// a board without polls. Default: none.
    ///
    /// The OpenAPI document and the panel do not contain them, and an endpoint cannot subscribe to them.
    ///
    /// The builders of the API and the panel reject a topic that the specification does not have.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use forum_api::Environment;
    /// use forum_api::webhook::Topic;
    ///
    /// let environment = Environment::default().omit_topics([Topic::POLL_VOTED, Topic::POLL_UPDATED]);
    /// # drop(environment);
    /// # }
    /// ```
    #[must_use]
    pub fn omit_topics(mut self, topics: impl IntoIterator<Item = Topic>) -> Self {
        self.omitted_topics.extend(topics);
        self
    }

    /// Returns all kinds of events of the board.
    pub(crate) fn event_kinds(&self) -> impl Iterator<Item = &EventKind> {
        self.standard_events().chain(&self.own_events)
    }

    fn standard_events(&self) -> impl Iterator<Item = &EventKind> {
        event_kinds().iter().filter(|kind| !self.omitted_topics.contains(&kind.topic))
    }

    /// Returns the kinds of events that the OpenAPI document describes.
    pub(crate) fn documented_events(&self) -> Vec<&EventKind> {
        match self.surface {
            Surface::Compact => self.standard_events().collect(),
            Surface::Full => self.event_kinds().collect(),
        }
    }

    /// Returns the topics to which an endpoint can subscribe.
    #[cfg(feature = "webhooks")]
    pub(crate) fn topics(&self) -> Vec<Topic> {
        let topics = self.event_kinds().map(|kind| &kind.topic);
        topics.filter(|topic| **topic != Topic::PING).cloned().collect()
    }

    /// Omits operations of the specification that the board does not have, by their ids, such as `getPoll`. Default: none.
    ///
    /// A request for an omitted operation is an unknown route: 404 `no_such_route`. The OpenAPI document and the reference
    /// page do not contain it. A scope that only omitted operations require is unknown: the panel does not offer it, and
    /// tokens cannot carry it. An operation of the host can have the id and the path of an omitted one.
    ///
    /// The builders of the API and the panel reject an id that the specification does not have.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use forum_api::Environment;
    /// use forum_api::scope::Scope;
    ///
    /// let environment = Environment::default().omit_operations(["getPoll", "vote", "updatePoll"]);
    /// assert!(!environment.scopes().contains(Scope::POLLS_WRITE));
    /// # }
    /// ```
    #[must_use]
    pub fn omit_operations<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.omitted_operations.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Returns `true` if the API serves this operation of the specification.
    pub(crate) fn has_operation(&self, id: &str) -> bool {
        !self.omitted_operations.iter().any(|omitted| omitted == id)
    }

    /// Returns the scopes that tokens can carry.
    pub fn scopes(&self) -> Scopes {
        let own_scopes = match self.surface {
            Surface::Full => &*self.own_scopes,
            Surface::Compact => &[],
        };
        Scopes::new(self.surface, own_scopes, &self.omitted_operations)
    }

    /// Sets the public origin of the host, such as `https://board.example`. Default: empty.
    ///
    /// The server URL of the OpenAPI document is this origin, followed by the base path. Without an origin, the server
    /// URL is relative. The control panel accepts forms from this origin and from the host of the request.
    ///
    /// The builders of the API and the panel reject a text with a path, a slash at the end, user information, or a
    /// scheme other than `http` and `https`.
    #[must_use]
    pub fn public_origin(mut self, public_origin: impl Into<String>) -> Self {
        self.public_origin = public_origin.into();
        self
    }

    /// Sets the duration that the library subtracts from the filter `since`: for lists of posts and threads before it calls
    /// the board, for the feed before it reads the store. Default: 0.
    ///
    /// A client that polls sets `since` to the newest time that it has seen, and skips the items that it has. It misses
    /// a change with an earlier time that becomes visible later, for example because its transaction took longer. A
    /// board on which this can happen sets an overlap. The overlap is longer than the longest time from reading the
    /// clock until the change is visible, plus the difference between the clocks of the nodes. Each response of a list
    /// with `since` then repeats the items of this duration.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use std::time::Duration;
    ///
    /// use forum_api::Environment;
    ///
    /// let environment = Environment::default().since_overlap(Duration::from_secs(30));
    /// # drop(environment);
    /// # }
    /// ```
    #[must_use]
    pub fn since_overlap(mut self, since_overlap: Duration) -> Self {
        self.since_overlap = since_overlap;
        self.thread_since_overlap = since_overlap;
        self
    }

    /// Sets the [overlap](Self::since_overlap) for lists of threads, and not for lists of posts. The feed uses the longer of
    /// the two overlaps. A board needs no overlap for the posts of a thread if each write of a post holds a lock of the thread
    /// until its commit.
    #[must_use]
    pub fn thread_since_overlap(mut self, thread_since_overlap: Duration) -> Self {
        self.thread_since_overlap = thread_since_overlap;
        self
    }

    /// Sets the URLs of the pages for people, which responses have as `webUrl` of forums, threads, posts, members, messages
    /// and hits. Default: none; the field is then null.
    #[must_use]
    pub fn web_urls(mut self, web_urls: &WebUrls) -> Self {
        self.web_urls = web_urls.clone();
        self
    }

    /// Sets the encryption of webhook secrets (feature `webhooks`). Default: [`PlaintextCipher`].
    #[cfg(feature = "webhooks")]
    #[must_use]
    pub fn secret_cipher(mut self, secret_cipher: impl SecretCipher) -> Self {
        self.secret_cipher = Arc::new(secret_cipher);
        self
    }

    /// Issues a token for the scopes of the service, with the clock and the random source of the environment, and stores its
    /// record with an entry of the audit log. The token cannot be returned again later, because the store holds only a hash
    /// of its secret.
    ///
    /// The method does not check permissions: ask the administrator to confirm their password before you call it.
    ///
    /// # Errors
    /// As [`issue_token`](crate::token::issue_token).
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use forum_api::Environment;
    /// use forum_api::model::UserId;
    /// use forum_api::scope::Scope;
    /// use forum_api::store::Stores;
    /// use forum_api::token::{Expiry, TokenRequest};
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let stores = Stores::in_memory();
    /// let owner = UserId::from(7);
    /// let scopes = [Scope::FORUMS_READ, Scope::THREADS_READ];
    /// let request = TokenRequest::new(&owner, &scopes).label("laptop").expiry(Expiry::from_days(30)?);
    /// let (token, record) = Environment::default().issue_token(&stores, request).await?;
    /// println!("{}", token.expose_secret()); // shown only once
    /// assert_eq!(stores.tokens.find(&record.lookup).await?, Some(record));
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(example()).unwrap();
    /// # }
    /// ```
    pub async fn issue_token(
        &self,
        stores: &Stores,
        request: TokenRequest<'_>,
    ) -> Result<(PlainToken, TokenRecord), IssueError> {
        let now = self.clock.now();
        token::issue_token(&*stores.tokens, &*self.random, self.scopes(), request, now).await
    }

    /// Rejects a public origin that is neither empty nor an origin, repeated scopes and topics, more than 64 scopes, and
    /// unknown operations and topics that are omitted.
    pub(crate) fn validate(&self) -> Result<(), BuildError> {
        let is_valid = self.public_origin.is_empty() || is_origin(&self.public_origin);
        let expected =
            "an origin such as `https://board.example`, without a path or a slash at the end";
        BuildError::require(is_valid, "public_origin", expected)?;
        let scopes: Vec<_> = self.scopes().iter().collect();
        let is_repeated = |scope: &Scope| scopes.iter().filter(|one| *one == scope).count() > 1;
        let is_valid = scopes.len() <= Scopes::MAX_LEN && !scopes.iter().any(is_repeated);
        BuildError::require(is_valid, "scope", "at most 64 scopes with different names")?;
        let mut topics = Topic::STANDARD.to_vec();
        topics.push(Topic::PING);
        for event in &self.own_events {
            let is_new = !topics.contains(&event.topic);
            BuildError::require(is_new, "topic", "topics with different names")?;
            topics.push(event.topic.clone());
        }
        let is_standard = |topic: &Topic| Topic::STANDARD.contains(topic);
        let is_valid = self.omitted_topics.iter().all(is_standard);
        BuildError::require(is_valid, "omit_topics", "topics of the specification")?;
        let is_unknown = |id: &&String| !Scope::operations().any(|(known, _)| known == **id);
        match self.omitted_operations.iter().find(is_unknown) {
            Some(id) => {
                let ids: Vec<_> = Scope::operations().map(|(id, _)| id).collect();
                let expected = format!("one of {}, not {id:?}", ids.join(", "));
                Err(BuildError::new("omit_operations", expected))
            }
            None => Ok(()),
        }
    }
}

fn is_origin(text: &str) -> bool {
    let authority =
        ["https://", "http://"].into_iter().find_map(|scheme| text.strip_prefix(scheme));
    let parsed = authority.and_then(|authority| authority.parse::<Authority>().ok());
    parsed
        .is_some_and(|authority| !authority.host().is_empty() && !authority.as_str().contains('@'))
}

/// Runs on [`TokioRuntime`](crate::runtime::TokioRuntime), with the other values of [`new`](Environment::new).
#[cfg(feature = "tokio")]
impl Default for Environment {
    fn default() -> Self {
        Self::new(crate::runtime::TokioRuntime)
    }
}

debug_fields!(Environment, |it|
    clock: it.clock,
    random: it.random,
    runtime: it.runtime,
    surface: it.surface,
    own_scopes: it.own_scopes,
    own_events: it.own_events,
    omitted_operations: it.omitted_operations,
    omitted_topics: it.omitted_topics,
    public_origin: it.public_origin,
    since_overlap: it.since_overlap,
    thread_since_overlap: it.thread_since_overlap,
    web_urls: it.web_urls
);
