//! The service of the panel and its request pipeline.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, Response};
use maud::html;
use tracing::Instrument;

use super::access::{is_same_origin_form, parse_form};
use super::builder::{Panel, PanelInner};
use super::components::bare_document;
use super::form::Form;
use super::page_context::{PageContext, signed_in};
use super::response::{PageResponse, PageResult, PanelError};
use super::router::{self, PanelRoute, RouteHandler};
use crate::api::client_ip;
use crate::audit::AuditActor;
use crate::host::{RequestId, Session};
use crate::http_util::{RequestBody, ResponseBody, loggable_path, restore_uri};
use crate::metrics::recorder;
use crate::task::{catch_panic, spawn_and_join, timeout};

impl_service!(Panel, |service, request| {
    let panel = Arc::clone(&service.0);
    let (mut head, body) = request.into_parts();
    let body = RequestBody::new(body);
    Box::pin(async move {
        restore_uri(&mut head, &*panel.original_uri);
        let method = recorder::method_label(&head.method);
        let below = panel.path_below_base(&head);
        let route =
            below.and_then(|below| router::find(&head.method, below)).map(|(route, _)| route.path);
        let id = panel.request_ids.next(panel.environment.clock.now());
        let span = tracing::info_span!("panel", request_id = id.as_str(), %method, route);
        Ok(panel.handle(&head, body, id, route).instrument(span).await)
    })
});

/// What is known about the visitor of a page.
enum Visitor {
    /// The visitor is not signed in, or the session was not read.
    Unknown,
    Member(Session),
    Administrator(Arc<PageContext>),
}

impl PanelInner {
    async fn handle(
        self: Arc<Self>,
        head: &Parts,
        mut body: RequestBody,
        id: RequestId,
        route: Option<&'static str>,
    ) -> Response<ResponseBody> {
        let mut visitor = Visitor::Unknown;
        let pipeline = self.run_pipeline(head, &mut body, &mut visitor);
        let limit = self.settings.request_timeout;
        let result = timeout(&*self.environment.runtime, limit, catch_panic(pipeline)).await;
        let timed_out = || {
            if body.is_reading() {
                Err(PanelError::BadForm)
            } else {
                Err(PanelError::internal("the request timed out"))
            }
        };
        let document = |title: &str, text: &str| match &visitor {
            Visitor::Unknown => bare_document(&self.settings, html! {}, title, text),
            Visitor::Member(session) => {
                bare_document(&self.settings, signed_in(&self, session), title, text)
            }
            Visitor::Administrator(context) => context.error_document(title, text),
        };
        let response = result
            .unwrap_or_else(timed_out)
            .unwrap_or_else(|error| error.into_response(id, document));
        let status = response.status.as_u16();
        let method = recorder::method_label(&head.method);
        let below = self.path_below_base(head).unwrap_or_default();
        let path = route.and_then(|_| loggable_path(&head.uri));
        if PageResponse::asset(below, &self.style).is_some() {
            tracing::debug!(%method, status, "request completed");
        } else {
            tracing::info!(%method, path, status, "request completed");
        }
        response.into_response(head)
    }

    /// Checks session, administrator and route, and for a form its origin and CSRF token, in this order.
    async fn run_pipeline(
        self: &Arc<Self>,
        head: &Parts,
        body: &mut RequestBody,
        visitor: &mut Visitor,
    ) -> PageResult {
        let below = self.path_below_base(head).ok_or(PanelError::NotFound)?;
        if let Some(asset) = PageResponse::asset(below, &self.style) {
            return Ok(asset);
        }
        let Some(session) = self.admin_auth.session(head).await? else {
            let sign_in = match head.method {
                Method::POST => self.admin_auth.session_ended_url(&self.form_path(below)),
                _ => self.admin_auth.sign_in_url(&self.return_path(head)),
            };
            return Ok(PageResponse::see_other(&sign_in));
        };
        if !session.is_admin {
            *visitor = Visitor::Member(session);
            return Err(PanelError::NotFound);
        }
        if matches!(below, "" | "/") {
            return Ok(PageResponse::see_other(&self.start_path()));
        }
        let found = router::find(&head.method, below);
        let peer = (self.peer_ip)(head);
        let client = |peer| client_ip(peer, &head.headers, &self.settings.trusted_proxies);
        let context = Arc::new(PageContext {
            panel: Arc::clone(self),
            route_path: found.map_or("", |(route, _)| route.path),
            actor: AuditActor::panel(session.user_id.clone(), peer.map(client)),
            session,
            id: found.map_or("", |(_, id)| id).to_owned(),
            query: Form::parse(head.uri.query().unwrap_or_default()).unwrap_or_default(),
            now: self.environment.clock.now(),
        });
        *visitor = Visitor::Administrator(Arc::clone(&context));
        let (route, _) = found.ok_or(PanelError::NotFound)?;
        let handler = match route.handler {
            RouteHandler::Get(handler) => return handler(&context).await,
            RouteHandler::Post(handler) => handler,
        };
        if !is_same_origin_form(head, &self.environment.public_origin) {
            return Err(PanelError::Forbidden);
        }
        let body = body.read(self.settings.body_limit).await;
        let form = parse_form(body, &context.session)?;
        let write = async move { handler(&context, form).await };
        // The write completes even if the client disconnects.
        let result = spawn_and_join(&*self.environment.runtime, catch_panic(write)).await;
        result.unwrap_or_else(|| Err(PanelError::internal("the runtime dropped a write")))
    }

    fn path_below_base<'a>(&self, head: &'a Parts) -> Option<&'a str> {
        let below = head.uri.path().strip_prefix(&self.settings.base_path);
        below.filter(|below| below.is_empty() || below.starts_with('/'))
    }

    fn start_path(&self) -> String {
        format!("{}/usage", self.settings.base_path)
    }

    /// Returns the path of the page with the form that is sent to `below`: the same path, or its parent for a button.
    fn form_path(&self, below: &str) -> String {
        let Some((form, _)) = router::find(&Method::POST, below) else {
            return self.start_path();
        };
        let is_form = |(page, _): (&PanelRoute, _)| page.path == form.path;
        let page = match below {
            // The list does not always contain the form.
            "/webhooks" => "/webhooks/new",
            _ if router::find(&Method::GET, below).is_some_and(is_form) => below,
            _ => below.rsplit_once('/').map_or(below, |(parent, _)| parent),
        };
        format!("{}{page}", self.settings.base_path)
    }

    /// Returns the path for the return from the sign-in page. It always belongs to this host.
    fn return_path(&self, head: &Parts) -> String {
        let path = head
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .filter(|path| head.method == Method::GET && !path.starts_with("//"));
        path.unwrap_or_else(|| self.start_path())
    }
}
