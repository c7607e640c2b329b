//! Which deliveries are listed: read from the query, and offered as a form.

use maud::{Markup, html};

use crate::model::{DeliveryId, EndpointId, Timestamp};
use crate::panel::form::Form;
use crate::panel::visit::Visit;
use crate::store::Filter;
use crate::webhook::{Delivery, Endpoint, State, Topic};

/// What the query asks for; what makes no sense asks for nothing.
pub(super) fn asked(query: &Form, limit: u32) -> Filter {
    Filter {
        state: State::new(query.get("state")),
        endpoint: EndpointId::new(query.get("endpoint")),
        topic: Topic::new(query.get("topic")),
        after: place(query.get("after")),
        limit,
    }
}

/// `<milliseconds>.<id>`
fn place(text: &str) -> Option<(Timestamp, DeliveryId)> {
    let (millis, id) = text.split_once('.')?;
    Some((
        Timestamp::from_millis(millis.parse().ok()?),
        DeliveryId::new(id)?,
    ))
}

/// The same list, from behind this one on. Nothing in it needs to be escaped.
pub(super) fn after(filter: &Filter, last: &Delivery) -> String {
    let state = filter.state.map_or("", State::as_str);
    let endpoint = filter
        .endpoint
        .as_ref()
        .map_or_else(String::new, EndpointId::to_string);
    let topic = filter.topic.as_ref().map_or("", Topic::as_str);
    let (millis, id) = (last.created_at.as_millis(), &last.id);
    format!("/deliveries?state={state}&endpoint={endpoint}&topic={topic}&after={millis}.{id}")
}

/// The form that asks for other ones.
pub(super) fn form(visit: &Visit, filter: &Filter, endpoints: &[Endpoint]) -> Markup {
    let states = State::ALL.map(|state| (state.as_str().to_owned(), state.as_str().to_owned()));
    let endpoints = endpoints
        .iter()
        .map(|one| (one.id.to_string(), shortened(&one.url)));
    let topics = visit.core.registry.known_topics().chain([Topic::PING]);
    let topics = topics.map(|topic| (topic.to_string(), topic.to_string()));
    let state = filter.state.map(|state| state.as_str().to_owned());
    let endpoint = filter.endpoint.as_ref().map(ToString::to_string);
    let topic = filter.topic.as_ref().map(ToString::to_string);
    html! {
        form.filter method="get" action=(visit.at("/deliveries")) role="search" aria-label="Deliveries" {
            (choice("state", "State", "Any state", states.into_iter(), state.as_deref()))
            (choice("endpoint", "Endpoint", "Any endpoint", endpoints, endpoint.as_deref()))
            (choice("topic", "Topic", "Any topic", topics, topic.as_deref()))
            button.quiet type="submit" { "Filter" }
        }
    }
}

fn choice(
    name: &str,
    label: &str,
    any: &str,
    options: impl Iterator<Item = (String, String)>,
    chosen: Option<&str>,
) -> Markup {
    html! {
        div {
            label for=(name) { (label) }
            select.choice id=(name) name=(name) {
                option value="" { (any) }
                @for (value, text) in options {
                    option value=(value) selected[chosen == Some(value.as_str())] { (text) }
                }
            }
        }
    }
}

/// An option folds no line.
fn shortened(url: &str) -> String {
    match url.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", url.get(..end).unwrap_or_default()),
        None => url.into(),
    }
}
