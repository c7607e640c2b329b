//! Signing in and out: the page, the sessions, and what the control panel asks of them.

mod cookie;
mod members;
mod operator;
mod page;
mod sessions;
mod throttle;
mod typed;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use forum_api::clock::{Clock, SystemClock};
use forum_api::host::{Refusal, Result};
use forum_api::panel::{is_own_form, page_headers};
use forum_api::{IpNet, client_address};
use http::header::{CACHE_CONTROL, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use tokio::sync::Semaphore;

use crate::board::Board;
use cookie::Cookie;
use members::Account;
use page::asking;
use throttle::Throttle;
use typed::Typed;

/// Where one signs in.
pub const SIGN_IN: &str = "/sign-in";

/// Where one signs out.
const SIGN_OUT: &str = "/sign-out";

/// Where one comes to who did not want to go anywhere in particular.
const HOME: &str = "/panel/tokens";

/// How many passwords are checked at once: each takes memory and time on purpose.
const CHECKS: usize = 4;

/// Who is signed in, and how one becomes so. Any number of clones are one.
#[derive(Clone, Debug)]
pub struct SignIn(Arc<Desk>);

#[derive(Debug)]
struct Desk {
    board: Board,
    base_url: String,
    trusted_proxies: Vec<IpNet>,
    cookie: Cookie,
    throttle: Throttle,
    checks: Semaphore,
}

/// Why somebody is not signed in, or not out.
enum No {
    Foreign,
    Unreadable,
    TooOften(Duration),
    Wrong,
    Failed(Refusal),
}

impl SignIn {
    /// The desk of this board, which browsers reach at `base_url`, by way of these proxies or of none.
    pub fn new(board: Board, base_url: &str, trusted_proxies: &[IpNet]) -> Self {
        Self(Arc::new(Desk {
            board,
            base_url: base_url.into(),
            trusted_proxies: trusted_proxies.into(),
            cookie: Cookie::at(base_url),
            throttle: Throttle::default(),
            checks: Semaphore::new(CHECKS),
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
        if !is_own_form(head, &desk.base_url) {
            return Err(No::Foreign);
        }
        let begun = desk
            .throttle
            .begin(&typed.name, self.address(head), SystemClock.now());
        begun.map_err(No::TooOften)?;
        let account = members::named(&desk.board, &typed.name)
            .await
            .map_err(No::Failed)?;
        let account = self.check_password(account, &typed.password).await;
        let account = account.map_err(No::Failed)?.ok_or(No::Wrong)?;
        desk.throttle.forget(&typed.name);
        Ok(account)
    }

    async fn leave(&self, head: &Parts) -> Response<Body> {
        match self.end(head).await {
            Ok(()) => elsewhere(SIGN_IN, &self.0.cookie.unset()),
            Err(no) => no.answer(&Typed::default()),
        }
    }

    async fn end(&self, head: &Parts) -> Result<(), No> {
        let desk = &self.0;
        if !is_own_form(head, &desk.base_url) {
            return Err(No::Foreign);
        }
        match desk.cookie.read(&head.headers) {
            Some(session) => sessions::end(&desk.board, &session)
                .await
                .map_err(No::Failed),
            None => Ok(()),
        }
    }

    /// The account, if this is its password; a few at once.
    async fn check_password(
        &self,
        account: Option<Account>,
        password: &str,
    ) -> Result<Option<Account>> {
        let permit = self.0.checks.acquire().await;
        let checked = members::with_password(account, password).await;
        drop(permit);
        checked
    }

    fn address(&self, head: &Parts) -> Option<IpAddr> {
        let peer = head.extensions.get::<SocketAddr>()?.ip();
        Some(client_address(peer, &head.headers, &self.0.trusted_proxies))
    }
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
