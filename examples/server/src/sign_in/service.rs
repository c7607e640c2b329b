//! Signing in and out over HTTP.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use forum_api::host::{AdminAuth as _, BoardError, BoardResult};
use forum_api::model::UserRef;
use forum_api::panel::{PanelSettings, is_same_origin_form};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::RateLimitStore;
use forum_api::{ApiSettings, client_ip};
use http::header::{LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::Instrument;

use super::accounts::{self, Account};
use super::check_queue::{CheckQueue, Source, Turn};
use super::device::{DeviceCookie, DeviceId};
use super::form::{SIGN_IN, SignInForm};
use super::page::sign_in_page;
use super::session::{self, Cookie, SessionId};
use super::throttle::{Attempt, Throttle};
use crate::board::ReferenceBoard;
use crate::board::access::groups::Group;
use crate::board::accounts::devices;
use crate::http::page::add_page_headers;

/// Path that signs out.
pub const SIGN_OUT: &str = "/sign-out";

/// Maximum number of concurrent password checks of sign-ins from unknown browsers. A check is slow and uses much memory by
/// design.
const MAX_CHECKS: usize = 4;

/// Maximum number of concurrent password checks of sign-ins from browsers that have signed in with the name before.
const MAX_DEVICE_CHECKS: usize = 2;

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
    checks: Arc<CheckQueue>,
    device_checks: Arc<CheckQueue>,
    panel_checks: Semaphore,
}

/// Reason of a refusal.
enum SignInError {
    ForeignForm,
    UnreadableForm,
    Throttled(Duration),
    Busy,
    InvalidCredentials,
    NotAdministrator,
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
            checks: CheckQueue::new(MAX_CHECKS),
            device_checks: CheckQueue::new(MAX_DEVICE_CHECKS),
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

    /// Begins a new session of an administrator and ends the browser's previous ones, which prevents session fixation. Returns the cookies of
    /// the session and of the browser.
    async fn begin(&self, head: &Parts, form: &SignInForm) -> Result<[String; 2], SignInError> {
        self.check_origin(head)?;
        let account = self.account(head, form).await?;
        if !account.groups.contains(Group::Administrators) {
            return Err(SignInError::NotAdministrator);
        }
        let previous = self.sessions(head);
        let session = session::begin(&self.0.board, account, &previous)
            .await?
            .ok_or(SignInError::InvalidCredentials)?;
        let device = self.device_cookie(form).issue(&session.device_key)?;
        Ok([self.0.cookie.set(&session.id), device])
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
    async fn account(&self, head: &Parts, form: &SignInForm) -> Result<Account, SignInError> {
        let client = self.client(head);
        let prefix = client.map(|client| self.0.settings.address_prefix(client));
        let mut attempt = Attempt::new(&form.name, prefix, self.device(head, form).await?);
        if attempt.device_key().is_some() && self.wait(&attempt).await?.is_some() {
            attempt = attempt.without_device();
        }
        if let Some(wait) = self.wait(&attempt).await? {
            return Err(SignInError::Throttled(wait));
        }
        let turn_or_none = match attempt.device_key() {
            Some(device) => self.0.device_checks.turn(Source::Device(device), None).await,
            None => {
                let throttle = &self.0.throttle;
                let is_guessed = throttle
                    .is_guessed(&attempt, SystemClock.now())
                    .await
                    .map_err(BoardError::from)?;
                let guessed_name = is_guessed.then(|| attempt.name_key());
                self.0.checks.turn(Source::of_client(client), guessed_name).await
            }
        };
        let turn = turn_or_none.ok_or(SignInError::Busy)?;
        let sign_in = self.clone();
        let name = form.name.clone();
        let password = form.password.clone();
        // The check runs in a separate task. If the client disconnects, the check keeps its turn until it ends, and still
        // refunds an attempt that did not fail.
        tokio::spawn(async move { sign_in.check(turn, &attempt, name, &password).await })
            .await
            .map_err(BoardError::internal)?
    }

    /// Returns the time to wait if the attempt exceeds a limit.
    async fn wait(&self, attempt: &Attempt) -> BoardResult<Option<Duration>> {
        Ok(self.0.throttle.remaining_wait(attempt, SystemClock.now()).await?)
    }

    /// Checks name and password, and counts a failure.
    async fn check(
        &self,
        turn: Turn,
        attempt: &Attempt,
        name: String,
        password: &str,
    ) -> Result<Account, SignInError> {
        let state = &self.0;
        let charge = state
            .throttle
            .charge(attempt, SystemClock.now())
            .await
            .map_err(BoardError::from)?
            .map_err(SignInError::Throttled)?;
        let account = match accounts::account(&state.board, UserRef::Name(name)).await {
            Ok(account) => accounts::with_password(account, password).await,
            Err(failed) => Err(failed),
        };
        if matches!(account, Ok(None)) {
            turn.fail();
        } else if let Err(error) = state.throttle.refund(charge, SystemClock.now()).await {
            tracing::error!(%error, "failed to refund sign-in attempt");
        }
        account?.ok_or(SignInError::InvalidCredentials)
    }

    /// Returns the id of the browser if it has signed in with the name of the form before.
    async fn device(&self, head: &Parts, form: &SignInForm) -> BoardResult<Option<DeviceId>> {
        let cookie = self.device_cookie(form);
        if !cookie.is_sent(&head.headers) {
            return Ok(None);
        }
        let read = self.0.board.read_short(|connection| Box::pin(devices::key(connection)));
        match read.await? {
            Some(key) => cookie.read(&head.headers, &key),
            None => Ok(None),
        }
    }

    fn device_cookie(&self, form: &SignInForm) -> DeviceCookie {
        DeviceCookie::new(&self.0.public_origin, &form.name)
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
            Ok(cookies) => redirect(&form.back, &cookies),
            Err(error) => error.response(&sign_in, &form),
        }
    }
    .instrument(span)
    .await
}

async fn sign_out(State(sign_in): State<SignIn>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    match sign_in.end(&head).await {
        Ok(()) => redirect(SIGN_IN, &[sign_in.0.cookie.remove()]),
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
            Self::NotAdministrator => tracing::warn!("sign-in refused: not an administrator"),
            Self::ForeignForm | Self::UnreadableForm => {}
        }
        response
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::ForeignForm | Self::NotAdministrator => StatusCode::FORBIDDEN,
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
            Self::NotAdministrator => {
                "This account is not an administrator. The control panel is for administrators."
            }
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

fn redirect(path: &str, cookies: &[String]) -> Response {
    let mut response = (StatusCode::SEE_OTHER, Body::empty()).into_response();
    add_page_headers(&mut response);
    let cookies = cookies.iter().map(|cookie| (SET_COOKIE, cookie.as_str()));
    for (name, value) in [(LOCATION, path)].into_iter().chain(cookies) {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().append(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use forum_api::Language;
    use forum_api::host::BackendError;
    use forum_api::host::OverloadedError;
    use forum_api::panel::security_headers;
    use forum_api::store::memory::MemoryRateLimitStore;
    use http::header::{CACHE_CONTROL, COOKIE};
    use tokio::task::yield_now;
    use tokio::time::Instant;
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

    /// A browser that keeps its cookies.
    #[derive(Default)]
    struct Browser(String);

    impl Browser {
        /// Signs in as `admin`. Returns the status and `retry-after`.
        async fn attempt(
            &mut self,
            sign_in: &SignIn,
            address: &str,
            password: &str,
        ) -> (u16, Option<u64>) {
            let routes: Router = sign_in.clone().routes();
            let form = Body::from(format!("name=admin&password={password}"));
            let mut request = Request::post(SIGN_IN).header(COOKIE, &self.0).body(form).unwrap();
            let peer = SocketAddr::new(address.parse().unwrap(), 1);
            request.extensions_mut().insert(peer);
            let response = routes.oneshot(request).await.unwrap();
            for cookie in response.headers().get_all(SET_COOKIE) {
                let pair = cookie.to_str().unwrap().split(';').next().unwrap();
                self.0 += &format!("{pair}; ");
            }
            let wait = response
                .headers()
                .get(RETRY_AFTER)
                .map(|wait| wait.to_str().unwrap().parse().unwrap());
            (response.status().as_u16(), wait)
        }
    }

    /// Signs in as `admin` from a new browser. Returns the status.
    async fn attempt(sign_in: &SignIn, address: &str, password: &str) -> u16 {
        Browser::default().attempt(sign_in, address, password).await.0
    }

    /// Records 200 failures of the name `admin`, from many addresses.
    async fn guess_name(sign_in: &SignIn) {
        for prefix in 0..200 {
            let guess = Attempt::new("admin", Some(prefix), None);
            let charged = sign_in.0.throttle.charge(&guess, SystemClock.now()).await;
            assert!(charged.unwrap().is_ok());
        }
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
                assert_eq!(attempt(&sign_in, "192.0.2.1", password).await, status);
            }
        }
    }

    #[tokio::test]
    async fn a_known_browser_does_not_wait_for_the_guesses_of_others() {
        let sign_in = with_administrator().await;
        let mut known = Browser::default();
        assert_eq!(known.attempt(&sign_in, "192.0.2.1", "right").await.0, 303);
        guess_name(&sign_in).await;
        let checks = &sign_in.0.checks;
        let guessed_name = Some(Attempt::new("admin", None, None).name_key());
        let source = Source::Network(Some([203, 0, 113, 0].into()));
        let held = checks.turn(source, guessed_name).await.unwrap();
        assert_eq!(known.attempt(&sign_in, "198.51.100.1", "right").await.0, 303);
        let waiting = {
            let sign_in = sign_in.clone();
            tokio::spawn(async move { attempt(&sign_in, "192.0.2.1", "right").await })
        };
        while checks.waiting() == 0 {
            yield_now().await;
        }
        drop(held);
        assert_eq!(waiting.await.unwrap(), 303);
    }

    #[tokio::test]
    async fn a_failed_guess_delays_the_next_one_of_its_network() {
        let sign_in = with_administrator().await;
        guess_name(&sign_in).await;
        assert_eq!(attempt(&sign_in, "198.51.100.1", "wrong").await, 401);
        let failed = Instant::now();
        assert_eq!(attempt(&sign_in, "198.51.7.1", "right").await, 303);
        assert!(failed.elapsed() > Duration::from_millis(900));
    }

    #[tokio::test]
    async fn a_known_browser_that_fails_too_often_is_one_like_others() {
        let sign_in = with_administrator().await;
        let mut known = Browser::default();
        assert_eq!(known.attempt(&sign_in, "192.0.2.1", "right").await.0, 303);
        for address in ["192.0.2.1", "198.51.100.1"] {
            for _ in 0..5 {
                assert_eq!(known.attempt(&sign_in, address, "wrong").await.0, 401);
            }
        }
        for _ in 0..5 {
            assert_eq!(known.attempt(&sign_in, "192.0.2.1", "wrong").await.0, 401);
        }
        assert_eq!(known.attempt(&sign_in, "192.0.2.1", "right").await.0, 429);
        assert_eq!(known.attempt(&sign_in, "203.0.113.1", "right").await.0, 303);
    }

    #[tokio::test]
    async fn a_check_that_the_database_fails_does_not_count_as_a_failure() {
        let sign_in = new_sign_in().await;
        for _ in 0..11 {
            // The board has no tables.
            assert_eq!(attempt(&sign_in, "192.0.2.1", "right").await, 500);
        }
    }

    #[tokio::test]
    async fn each_refusal_has_its_status_wait_and_reason() {
        let sign_in = new_sign_in().await;
        let overloaded = BackendError::new(OverloadedError::new(Duration::from_millis(1500)));
        let many = "Too many attempts. Try again in five minutes.";
        for (error, status, wait, reason) in [
            (
                SignInError::ForeignForm,
                403,
                None,
                "The form was sent from another site. Try again.",
            ),
            (SignInError::UnreadableForm, 400, None, "The form could not be read. Try again."),
            (SignInError::Throttled(Duration::ZERO), 429, Some("1"), many),
            (SignInError::Throttled(Duration::from_secs(2)), 429, Some("2"), many),
            (
                SignInError::Busy,
                503,
                Some("1"),
                "Too many members are signing in. Try again in a moment.",
            ),
            (SignInError::InvalidCredentials, 401, None, "Incorrect username or password."),
            (
                SignInError::NotAdministrator,
                403,
                None,
                "This account is not an administrator. The control panel is for administrators.",
            ),
            (
                SignInError::Failed(BoardError::internal("broken")),
                500,
                None,
                "An internal error occurred.",
            ),
            (
                SignInError::Failed(overloaded.into()),
                503,
                Some("2"),
                "The server is overloaded. Try again in a moment.",
            ),
        ] {
            let is_failure = matches!(error, SignInError::Failed(_));
            let response = error.response(&sign_in, &SignInForm::default());
            assert_eq!(response.status().as_u16(), status, "{reason}");
            let retry_after = response.headers().get(RETRY_AFTER);
            assert_eq!(retry_after.map(|value| value.to_str().unwrap()), wait, "{reason}");
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            let page = String::from_utf8(body.to_vec()).unwrap();
            let (_, rest) = page.split_once(r#"id="reason" role="alert">"#).unwrap();
            let (shown, _) = rest.split_once("</p>").unwrap();
            let log = " The server log has the cause at ";
            let (text, time) = shown.split_once(log).unwrap_or((shown, ""));
            assert_eq!((text, time.ends_with("Z.")), (reason, is_failure));
        }
    }

    #[test]
    fn a_redirect_has_the_headers_of_a_page_and_all_cookies() {
        let response = redirect(&SignInForm::default().back, &["a=1".into(), "b=2".into()]);
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
        let mut expected = security_headers();
        for (name, value) in [
            (CACHE_CONTROL, "no-store"),
            (LOCATION, "/panel/usage"),
            (SET_COOKIE, "a=1"),
            (SET_COOKIE, "b=2"),
        ] {
            expected.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(response.headers(), &expected);
    }

    #[tokio::test]
    async fn the_address_of_the_sign_in_page_has_the_whole_path_to_return_to() {
        let sign_in = new_sign_in().await;
        let back = "/panel/audit?a=1&b=2";
        let url = sign_in.sign_in_url(back);
        assert_eq!(url, "/sign-in?back=%2Fpanel%2Faudit%3Fa%3D1%26b%3D2");
        assert_eq!(sign_in.session_ended_url(back), format!("{url}&ended=1"));
        assert_eq!(sign_in.sign_out_path(), Some("/sign-out"));
        let form = SignInForm::parse(url.split_once('?').unwrap().1).unwrap();
        assert_eq!((&*form.back, form.session_ended), (back, false));
    }
}
