//! Signing in and out over HTTP.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use forum_api::host::{AdminAuth as _, BackendResult, BoardError};
use forum_api::model::UserRef;
use forum_api::panel::{PanelSettings, is_same_origin_form};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::{ApiSettings, IpNet, client_ip};
use http::header::{LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::sleep;
use tracing::Instrument;

use super::accounts::{self, Account};
use super::form::{SIGN_IN, SignInForm};
use super::page::sign_in_page;
use super::session::{self, Cookie, SessionId};
use super::throttle::{Attempt, Throttle};
use super::turns::{Turn, Turns};
use crate::board::ReferenceBoard;
use crate::http::page::add_page_headers;

/// Path that signs out.
pub const SIGN_OUT: &str = "/sign-out";

/// Maximum number of concurrent password checks of sign-ins. A check is slow and uses much memory by design.
const MAX_CHECKS: usize = 4;

/// Maximum number of sign-ins that are checked or wait for a check. Further ones are refused with 503.
const MAX_QUEUED: usize = 64;

/// Maximum number of these sign-ins from one network, so that a network does not keep others out.
const MAX_QUEUED_PER_NETWORK: usize = 16;

/// Length of the address of a network in bits, for IPv4 and IPv6.
const NETWORK_LEN: (u8, u8) = (16, 48);

/// Pause after a failed attempt with a name whose attempts are checked one at a time.
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of concurrent password checks of signed-in administrators.
const MAX_PANEL_CHECKS: usize = 2;

/// The sign-in of a board. Cheap to clone.
#[derive(Clone)]
pub struct SignIn(Arc<SignInState>);

struct SignInState {
    board: ReferenceBoard,
    settings: ApiSettings,
    panel: PanelSettings,
    public_origin: String,
    cookie: Cookie,
    throttle: Throttle,
    turns: Arc<Turns>,
    queue: Queue,
    checks: Semaphore,
    panel_checks: Semaphore,
}

/// Places of the sign-ins that are checked or wait for a check.
struct Queue {
    free: Arc<Semaphore>,
    /// For each network, a value to which each of its places has a reference. Sign-ins without an address count as one
    /// network.
    networks: Mutex<HashMap<Option<IpAddr>, Weak<()>>>,
}

/// A place in the queue. Dropping it frees the place.
type Place = (OwnedSemaphorePermit, Arc<()>);

impl Queue {
    /// Takes a place; `None` if the queue, or the share of the network, is full.
    fn take(&self, network: Option<IpAddr>) -> Option<Place> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        networks.retain(|_, places| places.strong_count() > 0);
        let place = networks.get(&network).and_then(Weak::upgrade).unwrap_or_default();
        networks.insert(network, Arc::downgrade(&place));
        if Arc::strong_count(&place) > MAX_QUEUED_PER_NETWORK {
            return None;
        }
        Some((permit, place))
    }
}

/// Returns the network of an address: the address with the bits after the first [`NETWORK_LEN`] set to zero.
fn network_of(address: IpAddr) -> IpAddr {
    let length = match address {
        IpAddr::V4(_) => NETWORK_LEN.0,
        IpAddr::V6(_) => NETWORK_LEN.1,
    };
    IpNet::new(address, length).map_or(address, |net| net.network())
}

/// Reason of a refusal.
enum SignInError {
    ForeignForm,
    UnreadableForm,
    Throttled(Duration),
    Busy,
    InvalidCredentials,
    Failed(BoardError),
}

impl SignIn {
    /// The sign-in of this board, with the trusted proxies and address prefixes of the API. Failures are counted in
    /// `rate_limits`.
    pub fn new(
        board: ReferenceBoard,
        settings: ApiSettings,
        panel: PanelSettings,
        public_origin: &str,
        rate_limits: Arc<dyn RateLimitStore>,
    ) -> Self {
        Self(Arc::new(SignInState {
            board,
            cookie: Cookie::new(public_origin),
            panel,
            public_origin: public_origin.into(),
            settings,
            throttle: Throttle::new(rate_limits),
            turns: Arc::default(),
            queue: Queue { free: Arc::new(Semaphore::new(MAX_QUEUED)), networks: Mutex::default() },
            checks: Semaphore::new(MAX_CHECKS),
            panel_checks: Semaphore::new(MAX_PANEL_CHECKS),
        }))
    }

    /// Returns the routes of [`SIGN_IN`] and [`SIGN_OUT`].
    pub fn routes<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        Router::new()
            .route(SIGN_IN, get(show).post(sign_in))
            .route(SIGN_OUT, post(sign_out))
            .with_state(self)
    }

    pub(super) fn board(&self) -> &ReferenceBoard {
        &self.0.board
    }

    /// Returns the session ids in the cookies of a request.
    pub(super) fn sessions(&self, head: &Parts) -> Vec<SessionId> {
        self.0.cookie.read(&head.headers)
    }

    /// Waits for the permit to check a password of a signed-in administrator.
    pub(super) async fn panel_check(&self) -> Option<SemaphorePermit<'_>> {
        self.0.panel_checks.acquire().await.ok()
    }

    /// Begins a new session and ends the browser's previous ones, which prevents session fixation.
    async fn begin(&self, head: &Parts, form: &SignInForm) -> Result<String, SignInError> {
        self.check_origin(head)?;
        let client = self.client(head);
        let account = self.account(client, form).await?;
        let previous = self.sessions(head);
        let prefix = self.prefix(client);
        let session = session::begin(&self.0.board, account, &previous, prefix).await?;
        Ok(self.0.cookie.set(&session))
    }

    /// Ends the browser's sessions.
    async fn end(&self, head: &Parts) -> Result<(), SignInError> {
        self.check_origin(head)?;
        let ended = self.sessions(head);
        if !ended.is_empty() {
            session::end(&self.0.board, &ended).await?;
        }
        Ok(())
    }

    fn check_origin(&self, head: &Parts) -> Result<(), SignInError> {
        if !is_same_origin_form(head, &self.0.public_origin) {
            return Err(SignInError::ForeignForm);
        }
        Ok(())
    }

    /// Returns the account with this name and password.
    async fn account(
        &self,
        client: Option<IpAddr>,
        form: &SignInForm,
    ) -> Result<Account, SignInError> {
        let prefix = self.prefix(client);
        let attempt = Attempt::new(&form.name, prefix);
        let throttle = &self.0.throttle;
        within_limits(throttle.remaining_wait(&attempt, SystemClock.now()).await)?;
        let takes_turns =
            throttle.takes_turns(&attempt, SystemClock.now()).await.map_err(BoardError::from)?;
        let network = client.map(network_of);
        let turn =
            if takes_turns && !session::has_signed_in(&self.0.board, &form.name, prefix).await? {
                Some(self.0.turns.wait(attempt.name, network).await.ok_or(SignInError::Busy)?)
            } else {
                None
            };
        let place = self.0.queue.take(network).ok_or(SignInError::Busy)?;
        let sign_in = self.clone();
        let name = form.name.clone();
        let password = form.password.clone();
        // The check runs in a separate task. If the client disconnects, the check keeps its place in the queue until it
        // ends, and still refunds an attempt that did not fail.
        tokio::spawn(async move { sign_in.check(place, turn, &attempt, &name, &password).await })
            .await
            .map_err(BoardError::internal)?
    }

    /// Checks name and password, and counts a failure.
    async fn check(
        &self,
        _place: Place,
        turn: Option<Turn>,
        attempt: &Attempt,
        name: &str,
        password: &str,
    ) -> Result<Account, SignInError> {
        let state = &self.0;
        let _permit = state.checks.acquire().await;
        within_limits(state.throttle.charge(attempt, SystemClock.now()).await)?;
        let account = match accounts::account(&state.board, UserRef::Name(name.into())).await {
            Ok(account) => accounts::with_password(account, password).await,
            Err(failed) => Err(failed),
        };
        let failed = matches!(account, Ok(None));
        let now = SystemClock.now();
        if !failed && let Err(error) = state.throttle.refund(attempt, now).await {
            tracing::error!(%error, "failed to refund sign-in attempt");
        }
        if failed && let Some(turn) = turn {
            tokio::spawn(async move {
                sleep(PAUSE).await;
                drop(turn);
            });
        }
        account?.ok_or(SignInError::InvalidCredentials)
    }

    /// Returns the address prefix whose failures are counted together.
    fn prefix(&self, client: Option<IpAddr>) -> Option<u128> {
        client.map(|client| self.0.settings.address_prefix(client))
    }

    /// Returns the client's address.
    fn client(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<SocketAddr>()?.ip();
        let trusted = &self.0.settings.trusted_proxies;
        Some(client_ip(peer, &head.headers, trusted))
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").finish_non_exhaustive()
    }
}

impl From<BoardError> for SignInError {
    fn from(refusal: BoardError) -> Self {
        Self::Failed(refusal)
    }
}

/// Refuses an attempt that has to wait.
fn within_limits(wait: BackendResult<Option<Duration>>) -> Result<(), SignInError> {
    match wait.map_err(BoardError::from)? {
        Some(wait) => Err(SignInError::Throttled(wait)),
        None => Ok(()),
    }
}

async fn show(State(sign_in): State<SignIn>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let mut form = SignInForm::parse(head.uri.query().unwrap_or_default()).unwrap_or_default();
    // A browser removes the cookie when it signs out, and sends the cookie of a session that ended otherwise.
    if !sign_in.sessions(&head).is_empty() {
        form.session_ended |= matches!(sign_in.session(&head).await, Ok(None));
    }
    sign_in_page(StatusCode::OK, &sign_in.0.panel, &form, None)
}

async fn sign_in(State(sign_in): State<SignIn>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Some(form) = SignInForm::read(body).await else {
        return SignInError::UnreadableForm.response(&sign_in, &SignInForm::default());
    };
    let client = sign_in.client(&head).map(tracing::field::display);
    let span = tracing::info_span!("sign_in", client);
    async {
        match sign_in.begin(&head, &form).await {
            Ok(cookie) => redirect(&form.back, &cookie),
            Err(error) => error.response(&sign_in, &form),
        }
    }
    .instrument(span)
    .await
}

async fn sign_out(State(sign_in): State<SignIn>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    match sign_in.end(&head).await {
        Ok(()) => redirect(SIGN_IN, &sign_in.0.cookie.remove()),
        Err(error) => error.response(&sign_in, &SignInForm::default()),
    }
}

impl SignInError {
    fn response(self, sign_in: &SignIn, form: &SignInForm) -> Response {
        let mut reason = self.reason().to_owned();
        if let Self::Failed(_) = &self {
            reason += &format!(" The server log has the cause at {}.", SystemClock.now());
        }
        let mut response = sign_in_page(self.status(), &sign_in.0.panel, form, Some(&reason));
        let mut retry_after = |seconds: u64| {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        };
        match self {
            Self::Throttled(wait) => {
                tracing::warn!("sign-in refused: too many failures");
                retry_after(in_seconds(wait));
            }
            Self::Busy => retry_after(1),
            Self::Failed(error) => {
                tracing::error!(%error, "sign-in or sign-out failed");
                if let Some(wait) = error.retry_after() {
                    retry_after(in_seconds(wait));
                }
            }
            Self::InvalidCredentials => tracing::warn!("sign-in failed: invalid credentials"),
            Self::ForeignForm | Self::UnreadableForm => {}
        }
        response
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::UnreadableForm => StatusCode::BAD_REQUEST,
            Self::Throttled(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::InvalidCredentials => StatusCode::UNAUTHORIZED,
            Self::Failed(error) if error.retry_after().is_none() => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Self::Busy | Self::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn reason(&self) -> &'static str {
        match self {
            Self::ForeignForm => "The form was sent from another site. Try again.",
            Self::UnreadableForm => "The form could not be read. Try again.",
            Self::Throttled(_) => "Too many attempts. Try again in five minutes.",
            Self::InvalidCredentials => "Incorrect username or password.",
            Self::Busy => "Too many members are signing in. Try again in a moment.",
            Self::Failed(error) if error.retry_after().is_none() => "An internal error occurred.",
            Self::Failed(_) => "The server is overloaded. Try again in a moment.",
        }
    }
}

/// Returns the value of `retry-after`: whole seconds, rounded up, at least 1.
fn in_seconds(wait: Duration) -> u64 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1)
}

fn redirect(path: &str, cookie: &str) -> Response {
    let mut response = (StatusCode::SEE_OTHER, Body::empty()).into_response();
    add_page_headers(&mut response);
    for (name, value) in [(LOCATION, path), (SET_COOKIE, cookie)] {
        let value = HeaderValue::from_str(value).ok();
        let headers = response.headers_mut();
        headers.extend(value.map(|value| (name, value)));
    }
    response
}

#[cfg(test)]
mod tests {
    use forum_api::Language;
    use forum_api::host::BackendError;
    use forum_api::host::OverloadedError;
    use forum_api::store::memory::MemoryRateLimitStore;
    use tower::ServiceExt;

    use super::*;
    use crate::board;
    use crate::board::access::groups::{Group, Groups};
    use crate::board::accounts::passwords;
    use crate::connect::DatabaseUrl;
    use crate::options::DatabaseOptions;

    /// The sign-in of a new board in memory.
    async fn new_sign_in() -> SignIn {
        let url = DatabaseUrl::parse("sqlite::memory:", &DatabaseOptions::COMMAND, true).unwrap();
        let board = url.open(Language::English).await.unwrap();
        let rate_limits = Arc::new(MemoryRateLimitStore::default());
        SignIn::new(board, ApiSettings::default(), PanelSettings::default(), "", rate_limits)
    }

    #[tokio::test]
    async fn a_network_fills_its_share_of_the_queue_and_the_rest_get_503() {
        let sign_in = new_sign_in().await;
        let mut places = Vec::new();
        let queue = &sign_in.0.queue;
        let take = |address: &str| queue.take(Some(network_of(address.parse().unwrap())));
        for number in 0..MAX_QUEUED_PER_NETWORK {
            places.push(take(&format!("2001:db8:1:{number:x}::1")).unwrap());
            places.push(take(&format!("192.0.{number}.1")).unwrap());
        }
        for same_network in ["2001:db8:1:ffff::1", "192.0.255.1"] {
            assert_eq!(attempt(&sign_in, same_network, "x").await, (503, Some(1)));
        }
        for other in ["2001:db8:2::1", "192.1.0.1"] {
            assert!(take(other).is_some());
        }
        for number in places.len()..MAX_QUEUED {
            places.push(take(&format!("2001:db8:{:x}::1", 2 + number)).unwrap());
        }
        assert!(take("198.51.100.1").is_none());
        places.pop();
        assert!(take("198.51.100.1").is_some());
        drop(places);
        assert_eq!(queue.free.available_permits(), MAX_QUEUED);
        let networks = queue.networks.lock().unwrap();
        assert!(networks.values().all(|places| places.strong_count() == 0));
    }

    /// Signs in as `admin`. Returns the status and `retry-after`.
    async fn attempt(sign_in: &SignIn, address: &str, password: &str) -> (u16, Option<u64>) {
        let routes: Router = sign_in.clone().routes();
        let form = Body::from(format!("name=admin&password={password}"));
        let mut request = Request::post(SIGN_IN).body(form).unwrap();
        let peer = SocketAddr::new(address.parse().unwrap(), 1);
        request.extensions_mut().insert(peer);
        let response = routes.oneshot(request).await.unwrap();
        let retry_after = response.headers().get(RETRY_AFTER);
        let wait = retry_after.map(|seconds| seconds.to_str().unwrap().parse().unwrap());
        (response.status().as_u16(), wait)
    }

    /// The sign-in of a board whose administrator has the password `right`.
    async fn with_administrator() -> SignIn {
        let sign_in = new_sign_in().await;
        let hash = passwords::hash("right".into()).await.unwrap();
        sign_in.board().migrate().await.unwrap();
        sign_in
            .board()
            .write(|tx, events| {
                Box::pin(async move {
                    let groups = Groups::of([Group::Administrators]);
                    let admin = board::accounts::add(tx, "admin", groups, events.now).await?;
                    board::accounts::set_password(tx, admin, &hash).await
                })
            })
            .await
            .unwrap();
        sign_in
    }

    #[tokio::test]
    async fn sign_ins_that_succeed_do_not_count_as_failures() {
        let sign_in = with_administrator().await;
        let expected = [(11, "right", 303), (10, "wrong", 401), (1, "right", 429)];
        for (count, password, status) in expected {
            for _ in 0..count {
                assert_eq!(attempt(&sign_in, "192.0.2.1", password).await.0, status);
            }
        }
    }

    #[tokio::test]
    async fn attempts_with_a_guessed_name_take_turns_except_from_known_prefixes() {
        let sign_in = with_administrator().await;
        let known = "192.0.2.1";
        assert_eq!(attempt(&sign_in, known, "right").await.0, 303);
        for prefix in 0..200 {
            let guess = Attempt::new("admin", Some(prefix));
            let wait = sign_in.0.throttle.charge(&guess, SystemClock.now()).await.unwrap();
            assert_eq!(wait, None);
        }
        let name = Attempt::new("admin", None).name;
        let turns = &sign_in.0.turns;
        let place = async |address: &str| {
            turns.wait(name, Some(network_of(address.parse().unwrap()))).await
        };
        let held = place("203.0.113.1").await.unwrap();
        assert_eq!(attempt(&sign_in, "203.0.113.2", "right").await.0, 503);
        assert_eq!(attempt(&sign_in, known, "right").await.0, 303);
        drop(held);
        assert_eq!(attempt(&sign_in, "203.0.113.2", "right").await.0, 303);
        assert_eq!(attempt(&sign_in, "198.51.100.1", "wrong").await.0, 401);
        assert!(place("198.51.100.2").await.is_none(), "the pause after a failure");
    }

    #[tokio::test]
    async fn an_overloaded_database_is_a_503() {
        let sign_in = new_sign_in().await;
        let overloaded = BackendError::new(OverloadedError::new(Duration::from_millis(1500)));
        let response =
            SignInError::Failed(overloaded.into()).response(&sign_in, &SignInForm::default());
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], "2");
    }
}
