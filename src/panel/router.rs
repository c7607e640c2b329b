//! Routes of the panel. The handler of a `POST` receives a form that has passed the access checks.

use http::Method;

use super::form::Form;
use super::page_context::PageContext;
use super::response::PageResult;
use super::{audit, token, token_form, tokens, usage};
#[cfg(feature = "webhooks")]
use super::{deliveries, endpoint, endpoints};
use crate::runtime::BoxFuture;

pub(super) struct PanelRoute {
    /// Path below the base path. One segment may be `{id}`.
    pub(super) path: &'static str,
    pub(super) handler: RouteHandler,
}

type Get = for<'a> fn(&'a PageContext) -> BoxFuture<'a, PageResult>;
type Post = for<'a> fn(&'a PageContext, Form) -> BoxFuture<'a, PageResult>;

#[derive(Clone, Copy)]
pub(super) enum RouteHandler {
    Get(Get),
    Post(Post),
}

#[rustfmt::skip]
const ROUTES: &[PanelRoute] = &[
    get("/tokens", |context| Box::pin(tokens::list(context))),
    get("/tokens/new", |context| Box::pin(token_form::show(context))),
    post("/tokens/new", |context, form| Box::pin(token_form::submit(context, form))),
    get("/tokens/{id}", |context| Box::pin(token::show(context))),
    post("/tokens/{id}", |context, form| Box::pin(token::save(context, form))),
    get("/tokens/{id}/revoke", |context| Box::pin(token::confirm_revocation(context))),
    post("/tokens/{id}/revoke", |context, _| Box::pin(token::revoke(context))),
    get("/usage", |context| Box::pin(usage::show(context))),
    get("/audit", |context| Box::pin(audit::list(context))),
    get("/audit/{id}", |context| Box::pin(audit::show(context))),
];

#[cfg(feature = "webhooks")]
#[rustfmt::skip]
const OF_WEBHOOKS: &[PanelRoute] = &[
    get("/webhooks", |context| Box::pin(endpoints::list(context))),
    post("/webhooks", |context, form| Box::pin(endpoints::add(context, form))),
    get("/webhooks/new", |context| Box::pin(endpoints::show_form(context))),
    get("/webhooks/{id}", |context| Box::pin(endpoint::show(context))),
    post("/webhooks/{id}", |context, form| Box::pin(endpoint::save(context, form))),
    post("/webhooks/{id}/rotate", |context, form| Box::pin(endpoint::rotate(context, form))),
    post("/webhooks/{id}/activate", |context, form| Box::pin(endpoint::activate(context, form))),
    post("/webhooks/{id}/enable", |context, _| Box::pin(endpoint::set_enabled(context, true))),
    post("/webhooks/{id}/disable", |context, _| Box::pin(endpoint::set_enabled(context, false))),
    post("/webhooks/{id}/ping", |context, _| Box::pin(endpoint::ping(context))),
    post("/webhooks/{id}/example", |context, form| Box::pin(endpoint::example(context, form))),
    post("/webhooks/{id}/remove", |context, _| Box::pin(endpoint::remove(context))),
    post("/webhooks/{id}/retry-dead", |context, _| Box::pin(endpoint::retry_dead(context))),
    post("/deliveries/retry-dead", |context, _| Box::pin(deliveries::retry_all_dead(context))),
    get("/deliveries", |context| Box::pin(deliveries::list(context))),
    get("/deliveries/{id}", |context| Box::pin(deliveries::show(context))),
    post("/deliveries/{id}/retry", |context, _| Box::pin(deliveries::retry(context))),
    post("/deliveries/{id}/remove", |context, _| Box::pin(deliveries::remove(context))),
];

#[cfg(not(feature = "webhooks"))]
const OF_WEBHOOKS: &[PanelRoute] = &[];

const fn get(path: &'static str, handler: Get) -> PanelRoute {
    let handler = RouteHandler::Get(handler);
    PanelRoute { path, handler }
}

const fn post(path: &'static str, handler: Post) -> PanelRoute {
    let handler = RouteHandler::Post(handler);
    PanelRoute { path, handler }
}

impl PanelRoute {
    fn accepts(&self, method: &Method) -> bool {
        match self.handler {
            RouteHandler::Get(_) => matches!(*method, Method::GET | Method::HEAD),
            RouteHandler::Post(_) => *method == Method::POST,
        }
    }
}

/// Returns the route of a path below the base path, and the segment for `{id}`.
pub(super) fn find<'a>(method: &Method, path: &'a str) -> Option<(&'static PanelRoute, &'a str)> {
    let mut routes = ROUTES.iter().chain(OF_WEBHOOKS).filter(|route| route.accepts(method));
    routes.find_map(|route| matches(route.path, path).map(|id| (route, id)))
}

fn matches<'a>(template: &str, path: &'a str) -> Option<&'a str> {
    let mut id = "";
    let mut segments = path.split('/');
    for expected in template.split('/') {
        match segments.next()? {
            segment if expected == "{id}" && !segment.is_empty() => id = segment,
            segment if segment != expected => return None,
            _ => {}
        }
    }
    segments.next().is_none().then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_by_path_and_method() {
        let find = |method, path| find(&method, path).map(|(route, id)| (route.path, id));
        for (method, path, expected) in [
            (Method::GET, "/tokens", Some(("/tokens", ""))),
            (Method::HEAD, "/webhooks/whe_1", Some(("/webhooks/{id}", "whe_1"))),
            (Method::POST, "/tokens/x/revoke", Some(("/tokens/{id}/revoke", "x"))),
            (Method::POST, "/tokens", None),
            (Method::GET, "/tokens/new", Some(("/tokens/new", ""))),
            (Method::GET, "/tokens/x", Some(("/tokens/{id}", "x"))),
            (Method::GET, "/webhooks/x/rotate", None),
            (Method::GET, "/tokens/", None),
            (Method::PUT, "/tokens", None),
            (Method::GET, "/webhooks/a/b", None),
        ] {
            assert_eq!(find(method, path), expected, "{path}");
        }
    }
}
