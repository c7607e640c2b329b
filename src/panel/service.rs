//! The service, and the road of a request: one line a step.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower_service::Service;
use tracing::Instrument;

use super::answer::{Answer, Outcome};
use super::form::Form;
use super::lock::Lock;
use super::problem::Problem;
use super::settings::Settings;
use super::spent::Spent;
use super::table::{self, Does};
use super::visit::Visit;
use super::{exit, gate, style};
use crate::environment::Environment;
use crate::host::{BoxError, Operator};
use crate::http_util::{BodyError, OriginalUri, read_body, restore_uri, run, run_write};
use crate::runtime::BoxFuture;
use crate::store::Tokens;
use crate::webhook_admin::Registry;

/// The control panel: a [`Service`] that answers every request below its mount, and never fails.
///
/// It is cheap to clone. Made by [`Panel::builder`].
#[derive(Clone)]
pub struct Panel(pub(super) Arc<Core>);

/// What the panel is made of.
pub(super) struct Core {
    pub(super) operator: Arc<dyn Operator>,
    pub(super) tokens: Arc<dyn Tokens>,
    pub(super) registry: Registry,
    pub(super) environment: Environment,
    pub(super) settings: Settings,
    pub(super) original_uri: OriginalUri,
    pub(super) lock: Lock,
    pub(super) spent: Spent,
}

/// A body of which nothing has been read.
type Unread = BoxFuture<'static, Result<Bytes, BodyError>>;

impl<B> Service<Request<B>> for Panel
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
        let body = Box::pin(read_body(body, core.settings.body_limit));
        Box::pin(async move { Ok(core.answer(head, body).await) })
    }
}

settings_debug!(Panel);

impl Core {
    async fn answer(self: Arc<Self>, mut head: Parts, body: Unread) -> Response<Full<Bytes>> {
        restore_uri(&mut head, self.original_uri);
        let span = tracing::info_span!("panel", method = %head.method, path = head.uri.path());
        self.handle(&head, body).instrument(span).await
    }

    async fn handle(self: Arc<Self>, head: &Parts, body: Unread) -> Response<Full<Bytes>> {
        let road = self.road(head, body);
        let ended = run(&*self.environment.runtime, self.settings.deadline, road).await;
        let result = ended.unwrap_or_else(|| Err(Problem::internal("the request took too long")));
        let answer = result.unwrap_or_else(|problem| problem.answer(&self.settings.mount));
        tracing::info!(status = answer.status.as_u16(), "answered");
        exit::respond(head, answer)
    }

    /// Who may be here, for what, and whether they mean it. The first step that refuses gives the answer.
    async fn road(self: &Arc<Self>, head: &Parts, body: Unread) -> Outcome {
        let below = head.uri.path().strip_prefix(&self.settings.mount);
        let below = below.filter(|below| below.is_empty() || below.starts_with('/'));
        let below = below.ok_or(Problem::Absent)?;
        if below == style::PATH {
            return Ok(style::sheet());
        }
        let Some(session) = self.operator.signed_in(head).await? else {
            return Ok(Answer::see_other(self.operator.sign_in(&self.back(head))));
        };
        gate::admit(&session)?;
        if matches!(below, "" | "/") {
            return Ok(Answer::see_other(format!("{}/tokens", self.settings.mount)));
        }
        let (row, id) = table::find(&head.method, below).ok_or(Problem::Absent)?;
        let visit = Visit {
            core: Arc::clone(self),
            row,
            session,
            id: id.to_owned(),
            query: Form::parse(head.uri.query().unwrap_or_default()).unwrap_or_default(),
            now: self.environment.clock.now(),
        };
        match row.does {
            Does::Shows(show) => show(&visit).await,
            Does::Changes(change) => {
                gate::comes_from_here(head, &self.environment.public_origin)?;
                let form = gate::form(body.await, &visit.session)?;
                let work = async move { change(&visit, &form).await };
                let changed = run_write(&*self.environment.runtime, work).await;
                changed.unwrap_or_else(|| Err(Problem::internal("the executor lost a write")))
            }
        }
    }

    /// Where one who signs in first comes to afterwards: a page of this host, whatever the path looks like.
    fn back(&self, head: &Parts) -> String {
        let path = head.uri.path_and_query().map(ToString::to_string);
        let shown = path.filter(|path| head.method == http::Method::GET && !path.starts_with("//"));
        shown.unwrap_or_else(|| format!("{}/tokens", self.settings.mount))
    }
}
