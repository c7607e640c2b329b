//! Topics as check boxes.

use maud::Markup;

use crate::panel::fields::{Wrong, boxes};
use crate::panel::form::Form;
use crate::panel::visit::Visit;
use crate::webhook::Topics;

const WORDS: (&str, &str, &str) = ("topics", "Topics", "What the endpoint is told of.");

const ALL: &str = "everything but message.sent, topics to come included";

/// A box for each topic that the board sends, and one for all; those that `is_checked` says so of are checked.
pub(super) fn field(visit: &Visit, is_checked: impl Fn(&str) -> bool, wrong: &Wrong) -> Markup {
    let known = visit
        .core
        .registry
        .known_topics()
        .map(|topic| topic.to_string());
    let named = known.map(|topic| {
        let checked = is_checked(&topic);
        (topic, "", checked)
    });
    let all = ("*".to_owned(), ALL, is_checked("*"));
    let all: Vec<_> = std::iter::once(all).chain(named).collect();
    boxes(WORDS, &all, wrong)
}

/// The topics whose boxes are checked; what is wrong with them is noted.
pub(super) fn chosen(form: &Form, wrong: &mut Wrong) -> Option<Topics> {
    let names: Vec<_> = form.all("topics").collect();
    if names.is_empty() {
        wrong.note("topics", "Choose one topic at least.");
        return None;
    }
    let topics = names.join(",").parse();
    topics
        .map_err(|unknown: crate::webhook::UnknownTopic| wrong.note("topics", unknown))
        .ok()
}
