//! Signing in and out: the page, the sessions, and what the control panel asks of them.

mod cookie;
mod members;
mod operator;
mod page;
mod sessions;
mod throttle;
mod typed;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forum_api::host::{Refusal, Result, Stored};
use forum_api::panel::{is_own_form, page_headers};
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::Budgets;
use forum_api::{Settings, client_address};
use http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use crate::board::Board;
use cookie::Cookie;
use members::Account;
use page::asking;
use throttle::{Attempt, Throttle};
use typed::Typed;

/// Where one signs in.
pub const SIGN_IN: &str = "/sign-in";

/// Where one signs out.
const SIGN_OUT: &str = "/sign-out";

/// Where one comes to who did not want to go anywhere in particular.
const HOME: &str = "/panel/tokens";

/// How many passwords are checked at once: each takes memory and time on purpose.
const CHECKS: usize = 4;

/// Sign-ins that are checked or wait for a check. Further ones are refused with 503.
const QUEUE: usize = 64;

/// How many passwords of signed-in administrators are checked at once, beside those of sign-ins.
const PANEL_CHECKS: usize = 2;

/// Who is signed in, and how one becomes so. Any number of clones are one.
#[derive(Clone)]
pub struct SignIn(Arc<Desk>);

struct Desk {
    board: Board,
    settings: Settings,
    cookie: Cookie,
    public_origin: String,
    throttle: Throttle,
    queue: Semaphore,
    checks: Semaphore,
    panel_checks: Semaphore,
}

/// Why somebody is not signed in, or not out.
enum No {
    Foreign,
    Unreadable,
    TooOften(Duration),
    Busy,
    Wrong,
    Failed(Refusal),
}

impl SignIn {
    /// The sign-in of this board, with the trusted proxies and address prefixes of the API. Failures are counted
    /// in `budgets`.
    pub fn new(
        board: Board,
        settings: Settings,
        public_origin: &str,
        budgets: Arc<dyn Budgets>,
    ) -> Self {
        Self(Arc::new(Desk {
            board,
            cookie: Cookie::at(public_origin),
            public_origin: public_origin.to_owned(),
            settings,
            throttle: Throttle::new(budgets),
            queue: Semaphore::new(QUEUE),
            checks: Semaphore::new(CHECKS),
            panel_checks: Semaphore::new(PANEL_CHECKS),
        }))
    }

    /// Answers what is asked of signing in and out; `None` for the rest.
    pub async fn answer(&self, request: Request<Body>) -> Option<Response<Body>> {
        let (head, body) = request.into_parts();
        match (head.uri.path(), &head.method) {
            (SIGN_IN, &Method::GET | &Method::HEAD) => Some(show(&head)),
            (SIGN_IN, &Method::POST) => Some(self.enter(&head, body).await),
            (SIGN_OUT, &Method::POST) => Some(self.leave(&head).await),
            _ => None,
        }
    }

    async fn enter(&self, head: &Parts, body: Body) -> Response<Body> {
        let typed = Typed::of_form(body).await;
        let entered = match &typed {
            Some(typed) => self.begin(head, typed).await,
            None => Err(No::Unreadable),
        };
        let typed = typed.unwrap_or_default();
        match entered {
            Ok(cookie) => elsewhere(&typed.back, &cookie),
            Err(no) => no.answer(&typed),
        }
    }

    /// A new session each time, and an end to the one before, so that none is taken over from whoever was here.
    async fn begin(&self, head: &Parts, typed: &Typed) -> Result<String, No> {
        let desk = &self.0;
        let account = self.account(head, typed).await?;
        let before = desk.cookie.read(&head.headers);
        let session = sessions::begin(&desk.board, account, before).await;
        Ok(desk.cookie.set(&session.map_err(No::Failed)?))
    }

    /// The account whose name and password these are.
    async fn account(&self, head: &Parts, typed: &Typed) -> Result<Account, No> {
        let desk = &self.0;
        if !is_own_form(head, &desk.public_origin) {
            return Err(No::Foreign);
        }
        let attempt = Attempt::new(&typed.name, self.prefix(head), SystemClock.now());
        within_limits(desk.throttle.wait(&attempt).await)?;
        let (sign_in, name, password) = (self.clone(), typed.name.clone(), typed.password.clone());
        // A task of its own: a client that disconnects neither frees a place in the queue nor keeps a refund.
        let checked =
            tokio::spawn(async move { sign_in.check(&attempt, &name, &password).await }).await;
        checked.map_err(|error| No::Failed(Refusal::failed(error)))?
    }

    /// Checks name and password, and counts a failure.
    async fn check(&self, attempt: &Attempt, name: &str, password: &str) -> Result<Account, No> {
        let desk = &self.0;
        let _place = desk.queue.try_acquire().map_err(|_| No::Busy)?;
        let _permit = desk.checks.acquire().await;
        within_limits(desk.throttle.charge(attempt).await)?;
        let account = match members::named(&desk.board, name).await {
            Ok(account) => members::with_password(account, password).await,
            Err(failed) => Err(failed),
        };
        let failed = matches!(account, Ok(None));
        if !failed && let Err(error) = desk.throttle.refund(attempt).await {
            tracing::error!(%error, "sign-in attempt not refunded");
        }
        account.map_err(No::Failed)?.ok_or(No::Wrong)
    }

    async fn leave(&self, head: &Parts) -> Response<Body> {
        match self.end(head).await {
            Ok(()) => elsewhere(SIGN_IN, &self.0.cookie.unset()),
            Err(no) => no.answer(&Typed::default()),
        }
    }

    async fn end(&self, head: &Parts) -> Result<(), No> {
        let desk = &self.0;
        if !is_own_form(head, &desk.public_origin) {
            return Err(No::Foreign);
        }
        match desk.cookie.read(&head.headers) {
            Some(session) => sessions::end(&desk.board, &session)
                .await
                .map_err(No::Failed),
            None => Ok(()),
        }
    }

    /// The prefix of the client's address.
    fn prefix(&self, head: &Parts) -> Option<u128> {
        let settings = &self.0.settings;
        let peer = head.extensions.get::<SocketAddr>()?.ip();
        let client = client_address(peer, &head.headers, &settings.trusted_proxies);
        Some(settings.address_prefix(client))
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").finish_non_exhaustive()
    }
}

/// Refuses an attempt that has to wait.
fn within_limits(wait: Stored<Option<Duration>>) -> Result<(), No> {
    let wait = wait.map_err(|fault| No::Failed(fault.into()))?;
    wait.map_or(Ok(()), |wait| Err(No::TooOften(wait)))
}

fn show(head: &Parts) -> Response<Body> {
    let typed = Typed::of_query(head.uri.query().unwrap_or_default());
    asking(StatusCode::OK, &typed, None)
}

impl No {
    fn answer(self, typed: &Typed) -> Response<Body> {
        let (status, reason) = match &self {
            Self::Foreign => (
                StatusCode::FORBIDDEN,
                "This form did not come from this page. Try again from here.",
            ),
            Self::Unreadable => (
                StatusCode::BAD_REQUEST,
                "The form could not be read. Try again.",
            ),
            Self::TooOften(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "There were too many tries. Wait five minutes before the next one.",
            ),
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many members are signing in. Try again in a moment.",
            ),
            Self::Wrong => (
                StatusCode::UNAUTHORIZED,
                "No member who can sign in has this name and this password.",
            ),
            Self::Failed(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The board cannot sign you in or out now. The reason is in its log.",
            ),
        };
        let mut answer = asking(status, typed, Some(reason));
        match self {
            Self::TooOften(wait) => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                answer
                    .headers_mut()
                    .insert(RETRY_AFTER, seconds.max(1).into());
            }
            Self::Busy => {
                answer.headers_mut().insert(RETRY_AFTER, 1.into());
            }
            Self::Failed(error) => tracing::error!(%error, "signing in or out failed"),
            Self::Wrong => tracing::warn!("a log-in was wrong"),
            Self::Foreign | Self::Unreadable => {}
        }
        answer
    }
}

fn elsewhere(path: &str, cookie: &str) -> Response<Body> {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let headers = answer.headers_mut();
    headers.extend(page_headers());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in [(LOCATION, path), (SET_COOKIE, cookie)] {
        headers.extend(HeaderValue::from_str(value).ok().map(|value| (name, value)));
    }
    answer
}

#[cfg(test)]
mod tests {
    use forum_api::Language;
    use forum_api::store::memory::MemoryBudgets;

    use super::*;
    use crate::open::{Migrations, Place};

    #[tokio::test]
    async fn a_sign_in_beyond_the_queue_is_refused_with_503() {
        let place = Place::named("sqlite::memory:", true).unwrap();
        let (_database, board) = place
            .open(Language::English, Migrations::Apply)
            .await
            .unwrap();
        let budgets = Arc::new(MemoryBudgets::default());
        let sign_in = SignIn::new(board, Settings::default(), "", budgets);
        let _queue = sign_in.0.queue.try_acquire_many(QUEUE as u32).unwrap();
        let form = Body::from("name=admin&password=x");
        let request = Request::post(SIGN_IN).body(form).unwrap();
        let refused = sign_in.answer(request).await.unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()[RETRY_AFTER], "1");
    }
}
