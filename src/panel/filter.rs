//! Filter of a list: its values, its form, and the link to the next page.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::components::empty;
use super::page_context::PageContext;

/// The fields of a filter with the values of the query, without surrounding blanks. A field without a value is empty.
pub(super) struct ListFilter<'a> {
    context: &'a PageContext,
    /// Path of the list.
    path: &'static str,
    fields: Vec<(&'static str, String)>,
}

impl<'a> ListFilter<'a> {
    pub(super) fn new(
        context: &'a PageContext,
        path: &'static str,
        names: &[&'static str],
    ) -> Self {
        let value = |name| context.query.get(name).trim().to_owned();
        Self { context, path, fields: names.iter().map(|name| (*name, value(name))).collect() }
    }

    pub(super) fn get(&self, name: &str) -> &str {
        let mut fields = self.fields.iter();
        let field = fields.find(|(field, _)| *field == name);
        field.map_or("", |(_, value)| value)
    }

    /// Replaces the value of a field.
    pub(super) fn set(&mut self, name: &str, value: String) {
        for (_, old) in self.fields.iter_mut().filter(|(field, _)| *field == name) {
            old.clone_from(&value);
        }
    }

    /// Renders the form with the controls of the fields.
    pub(super) fn form(&self, label: &str, class: &str, controls: Markup) -> Markup {
        html! {
            form.filter.(class) method="get" action=(self.context.url(self.path)) role="search" aria-label=(label) {
                (controls)
                button.quiet type="submit" { "Filter" }
            }
        }
    }

    /// Renders a text field.
    pub(super) fn text_field(&self, name: &'static str, label: &str, options: &[&str]) -> Markup {
        let list = format!("{name}-options");
        html! {
            div {
                label for=(name) { (label) }
                input id=(name) name=(name) type="text" value=(self.get(name)) autocomplete="off" spellcheck="false"
                    list=[(!options.is_empty()).then_some(&list)];
                @if !options.is_empty() { datalist id=(list) { @for option in options { option value=(option) {} } } }
            }
        }
    }

    /// Renders a list of options with their values and texts. `any` is the text of the option without a value. If the
    /// chosen value is not in the list, it is added as an option.
    pub(super) fn choice(
        &self,
        name: &'static str,
        label: &str,
        any: &str,
        options: impl Iterator<Item = (String, String)>,
    ) -> Markup {
        let chosen = self.get(name);
        let mut options: Vec<_> = options.collect();
        if !chosen.is_empty() && !options.iter().any(|(value, _)| value == chosen) {
            options.push((chosen.into(), chosen.into()));
        }
        html! {
            div {
                label for=(name) { (label) }
                select.choice id=(name) name=(name) {
                    option value="" { (any) }
                    @for (value, text) in options {
                        option value=(value) selected[chosen == value] { (text) }
                    }
                }
            }
        }
    }

    /// Renders the link to the page after a position of the list.
    pub(super) fn next_page(&self, text: &str, position: &str) -> Markup {
        let set = self.fields.iter().filter(|(_, value)| !value.is_empty());
        let fields = set.map(|(name, value)| (*name, value.as_str()));
        let pair =
            |(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC));
        let query: Vec<_> = fields.chain([("after", position)]).map(pair).collect();
        let path = self.context.url(self.path);
        html! { p.next-page { a href={ (path) "?" (query.join("&")) } rel="next" { (text) } } }
    }

    /// Renders an empty list if it is filtered or not the first page; `None` for the whole list.
    pub(super) fn no_matches(&self, text: &str) -> Option<Markup> {
        let is_first = self.context.query.get("after").is_empty();
        if is_first && self.fields.iter().all(|(_, value)| value.is_empty()) {
            return None;
        }
        let all = html! { a href=(self.context.url(self.path)) { "Remove the filters" } "." };
        Some(empty(text, all))
    }
}
