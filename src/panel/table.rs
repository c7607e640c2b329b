//! The one table of the panel's routes: from a row alone follows who may ask, and that what changes something is a
//! form of the session's own.

use http::Method;

use super::answer::Outcome;
use super::form::Form;
use super::visit::Visit;
use super::{deliveries, tokens, usage, webhooks};
use crate::runtime::BoxFuture;

/// A route.
pub(super) struct Row {
    /// Below the mount; one segment may be `{id}`.
    pub(super) path: &'static str,
    pub(super) does: Does,
}

/// What a route does.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// `GET`: it shows a page, and changes nothing.
    Shows(for<'a> fn(&'a Visit) -> BoxFuture<'a, Outcome>),
    /// `POST`: it changes something. There is no way to the form but by the gate.
    Changes(for<'a> fn(&'a Visit, &'a Form) -> BoxFuture<'a, Outcome>),
}

/// The routes.
#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    shows("/tokens", |visit| Box::pin(tokens::list(visit))),
    shows("/tokens/new", |visit| Box::pin(tokens::ask(visit))),
    changes("/tokens/new", |visit, form| Box::pin(tokens::issue(visit, form))),
    changes("/tokens/{id}/revoke", |visit, _| Box::pin(tokens::revoke(visit))),
    shows("/webhooks", |visit| Box::pin(webhooks::list(visit))),
    changes("/webhooks", |visit, form| Box::pin(webhooks::add(visit, form))),
    shows("/webhooks/{id}", |visit| Box::pin(webhooks::show(visit))),
    changes("/webhooks/{id}/topics", |visit, form| Box::pin(webhooks::subscribe(visit, form))),
    changes("/webhooks/{id}/rotate", |visit, form| Box::pin(webhooks::rotate(visit, form))),
    changes("/webhooks/{id}/activate", |visit, _| Box::pin(webhooks::activate(visit))),
    changes("/webhooks/{id}/enable", |visit, _| Box::pin(webhooks::enable(visit, true))),
    changes("/webhooks/{id}/disable", |visit, _| Box::pin(webhooks::enable(visit, false))),
    changes("/webhooks/{id}/ping", |visit, _| Box::pin(webhooks::ping(visit))),
    changes("/webhooks/{id}/remove", |visit, _| Box::pin(webhooks::remove(visit))),
    changes("/webhooks/{id}/retry-dead", |visit, _| Box::pin(webhooks::retry_dead(visit))),
    shows("/deliveries", |visit| Box::pin(deliveries::list(visit))),
    shows("/deliveries/{id}", |visit| Box::pin(deliveries::show(visit))),
    changes("/deliveries/{id}/retry", |visit, _| Box::pin(deliveries::retry(visit))),
    changes("/deliveries/{id}/remove", |visit, _| Box::pin(deliveries::remove(visit))),
    shows("/usage", |visit| Box::pin(usage::show(visit))),
];

const fn shows(path: &'static str, show: for<'a> fn(&'a Visit) -> BoxFuture<'a, Outcome>) -> Row {
    let does = Does::Shows(show);
    Row { path, does }
}

const fn changes(
    path: &'static str,
    change: for<'a> fn(&'a Visit, &'a Form) -> BoxFuture<'a, Outcome>,
) -> Row {
    let does = Does::Changes(change);
    Row { path, does }
}

impl Row {
    fn takes(&self, method: &Method) -> bool {
        match self.does {
            Does::Shows(_) => matches!(*method, Method::GET | Method::HEAD),
            Does::Changes(_) => *method == Method::POST,
        }
    }
}

/// The row of a path below the mount, and what stands there for `{id}`.
pub(super) fn find<'a>(method: &Method, path: &'a str) -> Option<(&'static Row, &'a str)> {
    let mut taken = TABLE.iter().filter(|row| row.takes(method));
    taken.find_map(|row| matches(row.path, path).map(|id| (row, id)))
}

fn matches<'a>(template: &str, path: &'a str) -> Option<&'a str> {
    let mut id = "";
    let mut segments = path.split('/');
    for expected in template.split('/') {
        match segments.next()? {
            segment if expected == "{id}" => id = segment,
            segment if segment != expected => return None,
            _ => {}
        }
    }
    segments.next().is_none().then_some(id)
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::find;

    #[test]
    fn paths_are_found_by_their_method() {
        let found = |method, path| find(&method, path).map(|(row, id)| (row.path, id));
        for (method, path, expected) in [
            (Method::GET, "/tokens", Some(("/tokens", ""))),
            (
                Method::HEAD,
                "/webhooks/whe_1",
                Some(("/webhooks/{id}", "whe_1")),
            ),
            (
                Method::POST,
                "/tokens/x/revoke",
                Some(("/tokens/{id}/revoke", "x")),
            ),
            (Method::POST, "/tokens", None),
            (Method::GET, "/tokens/x/revoke", None),
            (Method::GET, "/tokens/", None),
            (Method::PUT, "/tokens", None),
            (Method::GET, "/webhooks/a/b", None),
        ] {
            assert_eq!(found(method, path), expected, "{path}");
        }
    }
}
