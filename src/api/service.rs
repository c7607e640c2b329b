//! The service, and the road of a request (contract, section 1): one line a step.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{Extensions, Request, Response, Uri};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;
use tracing::Instrument;

use super::exit::Exit;
use super::extract::query;
use super::hex::Hex;
use super::request_id::RequestIds;
use super::row::Row;
use super::{Settings, access, client_ip, trace};
use crate::api::authentication::{self, Bearer};
use crate::api::endpoint::Input;
use crate::api::error::{Problem, Unauthenticated};
use crate::api::extract::body::{self, Unread};
use crate::api::extract::error::Complaint;
use crate::api::extract::params::{Args, Nothing};
use crate::api::response::Answer;
use crate::api::router::{self, Route};
use crate::environment::Environment;
use crate::host::{Authority, Board, BoxError};
use crate::metrics::recorder;
use crate::model::Timestamp;
use crate::rate_limit::{BudgetKey, Charge};
use crate::runtime::BoxFuture;
use crate::store::Stores;
use crate::task::{catch_panic, spawn_and_join, timeout};

/// The API over a host's board: a [`Service`] that answers every request below its mount, and never fails.
///
/// It is cheap to clone. Made by [`ForumApi::builder`].
#[derive(Clone)]
pub struct ForumApi(pub(super) Arc<Core>);

/// Extension of a request that the HTTP server in front rejects, for example because of its `Host` header. The API
/// answers 400 `bad_request` with its usual headers, and charges nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The header at fault, in lower case.
    pub header: &'static str,
    /// Expected value of the header: an English phrase, which [`Messages::phrases`](crate::Messages::phrases) can translate.
    pub expected: &'static str,
}

/// What the service is made of.
pub(super) struct Core {
    pub(super) authority: Arc<dyn Authority>,
    pub(super) board: Arc<dyn Board>,
    pub(super) stores: Stores,
    pub(super) environment: Environment,
    pub(super) settings: Settings,
    pub(super) request_ids: RequestIds,
    pub(super) document: Bytes,
    pub(super) peer: fn(&Extensions) -> Option<IpAddr>,
    pub(super) original_uri: fn(&Extensions) -> Option<&Uri>,
    pub(super) warned: AtomicBool,
}

/// What a request leaves behind on its road, for the exit and the log.
#[derive(Default)]
pub(super) struct Trail {
    row: Option<&'static Row>,
    /// The template of the route, if there is one.
    pub(super) route: Option<&'static str>,
    conditional: bool,
    pub(super) charge: Option<Charge>,
    /// The units that were charged, once that is known.
    pub(super) spent: Option<u32>,
    reading: bool,
}

/// A request as it arrived.
struct Arrival {
    head: Parts,
    id: Hex,
    guest: BudgetKey,
    at: Timestamp,
}

impl<B> Service<Request<B>> for ForumApi
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let core = Arc::clone(&self.0);
        let (head, body) = request.into_parts();
        Box::pin(async move {
            let body = pin!(body::whole(body, core.settings.body_limit));
            Ok(core.answer(head, body).await)
        })
    }
}

settings_debug!(ForumApi);

impl Core {
    async fn answer(self: &Arc<Self>, head: Parts, body: Unread<'_>) -> Response<Full<Bytes>> {
        let arrival = self.arrive(head);
        let span = trace::span(arrival.id.as_str(), &arrival.head);
        self.handle(&arrival, body).instrument(span).await
    }

    async fn handle(
        self: &Arc<Self>,
        arrival: &Arrival,
        body: Unread<'_>,
    ) -> Response<Full<Bytes>> {
        let mut trail = Trail::default();
        let ended = {
            // Pinned here, as whatever it is handed on to would hold it twice.
            let road = pin!(self.road(arrival, body, &mut trail));
            timeout(
                &*self.environment.runtime,
                self.settings.deadline,
                catch_panic(road),
            )
            .await
        };
        let result = ended.unwrap_or_else(|| Err(too_late(trail.reading)));
        let uncharged = || self.uncharged(&arrival.guest, arrival.at);
        let charge = trail.charge.unwrap_or_else(uncharged);
        let answer = result.unwrap_or_else(|problem| {
            let problem = trace::noted(problem, arrival.id.as_str());
            Answer::refusal(&problem, &self.settings.messages, arrival.id.as_str())
        });
        let exit = Exit {
            head: &arrival.head,
            mount: &self.settings.mount,
            request_id: arrival.id.as_str(),
            charge,
            private: trail.row.is_some_and(Row::is_private),
            conditional: trail.conditional,
        };
        let code = answer.code;
        let response = exit.respond(answer);
        let (status, took) = (
            response.status(),
            self.environment.clock.now().since(arrival.at),
        );
        trace::answered(&trail, status, code, took);
        recorder::record_request(&arrival.head.method, trail.route, status, code, took);
        response
    }

    /// Steps 1 to 10. The first that refuses gives the answer.
    async fn road(
        self: &Arc<Self>,
        arrival: &Arrival,
        body: Unread<'_>,
        trail: &mut Trail,
    ) -> Result<Answer, Problem> {
        let Arrival {
            head,
            id,
            guest,
            at,
        } = arrival;
        if let Some(Malformed { header, expected }) = head.extensions.get() {
            return Err(Complaint::expected(*header, expected).into());
        }
        let (row, vars) = match self.route(head) {
            Some(Route::Endpoint(row, vars)) => (row, vars),
            Some(Route::Document) => return self.document(arrival, trail).await,
            None => return Err(self.stranger(Problem::NoSuchRoute, arrival, trail).await),
        };
        trail.row = Some(row);
        trail.route = Some(row.path);
        trail.conditional = !row.acts();
        let bearer = self.authenticate(row, arrival, trail).await?;
        let key = bearer.as_ref().map_or(*guest, Bearer::budget_key);
        self.pay(&key, row.cost, *at, trail).await?;
        access::scope(bearer.as_ref(), row.scope)?;
        let token = bearer.as_ref().map(|bearer| bearer.lookup);
        let caller = access::caller(bearer, &*self.authority).await?;
        access::online(&caller)?;
        let reading = &mut trail.reading;
        let input = Input {
            row,
            vars,
            head,
            body,
            caller,
            token,
            reading,
        };
        row.op.run(self, *id, input).await
    }

    fn route<'a>(&self, head: &'a Parts) -> Option<Route<'a>> {
        let (surface, mount) = (self.environment.surface, &self.settings.mount);
        router::find(surface, mount, &head.method, head.uri.path())
    }

    /// Who is not known, or knows no route, pays with the address.
    async fn stranger(&self, problem: Problem, arrival: &Arrival, trail: &mut Trail) -> Problem {
        let charge = self.charge(&arrival.guest, 1, arrival.at, trail).await;
        charge.err().unwrap_or(problem)
    }

    /// Serves the OpenAPI document. It ignores the token and costs nothing; the headers show the address budget.
    async fn document(&self, arrival: &Arrival, trail: &mut Trail) -> Result<Answer, Problem> {
        trail.conditional = true;
        trail.route = Some(router::DOCUMENT);
        self.charge(&arrival.guest, 0, arrival.at, trail).await?;
        let Nothing {} = Nothing::decode(query::parse(arrival.head.uri.query())?, false)?;
        Ok(Answer {
            status: 200,
            body: self.document.clone(),
            ..Answer::default()
        })
    }

    async fn authenticate(
        &self,
        row: &Row,
        arrival: &Arrival,
        trail: &mut Trail,
    ) -> Result<Option<Bearer>, Problem> {
        let Arrival { head, at, .. } = arrival;
        let found = authentication::bearer(
            &head.headers,
            &*self.stores.tokens,
            self.environment.surface,
            *at,
        )
        .await;
        match found {
            Ok(None) if row.op.needs_token() => {
                let absent = Problem::Unauthenticated(Unauthenticated::Absent);
                Err(self.stranger(absent, arrival, trail).await)
            }
            Err(problem @ Problem::Unauthenticated(_)) => {
                Err(self.stranger(problem, arrival, trail).await)
            }
            found => found.inspect(|bearer| trace::bearer(bearer.as_ref())),
        }
    }

    /// Runs what changes something to its end, whoever hangs up, and takes its answer from there.
    pub(super) async fn to_its_end(
        &self,
        steps: BoxFuture<'static, Result<Answer, Problem>>,
        id: Hex,
    ) -> Result<Answer, Problem> {
        let work = async move {
            let noted = |problem| trace::noted(problem, id.as_str());
            catch_panic(steps).await.map_err(noted)
        };
        let result = spawn_and_join(&*self.environment.runtime, work).await;
        result.unwrap_or_else(|| Err(Problem::internal("the executor lost a write")))
    }

    /// The request as it was sent, before a router cut its path.
    fn arrive(&self, mut head: Parts) -> Arrival {
        if let Some(original) = (self.original_uri)(&head.extensions) {
            head.uri = original.clone();
        }
        let peer = (self.peer)(&head.extensions);
        if peer.is_none() && !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "a request came without an address: all such guests share one budget (see Builder::peer)"
            );
        }
        let guest = client_ip::budget_key(peer, &head.headers, &self.settings);
        let at = self.environment.clock.now();
        Arrival {
            head,
            id: self.request_ids.next(at),
            guest,
            at,
        }
    }
}

/// What the deadline says: while the body was still coming, it is the client who was too slow.
fn too_late(reading: bool) -> Problem {
    if reading {
        return Problem::BadRequest(Complaint::expected("body", "a whole body in time"));
    }
    Problem::internal("the request took too long")
}
