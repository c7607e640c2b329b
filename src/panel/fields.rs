//! Fields of forms, each with its label, its hint, and what is wrong with it.

use maud::{Markup, html};

/// What is wrong with which field.
#[derive(Debug, Default)]
pub(super) struct Wrong(Vec<(&'static str, String)>);

impl Wrong {
    /// Notes what is wrong with a field; a sentence, or what becomes one.
    pub(super) fn note(&mut self, field: &'static str, reason: impl ToString) {
        self.0.push((field, sentence(&reason.to_string())));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, field: &str) -> Option<&str> {
        let found = self.0.iter().find(|(named, _)| *named == field);
        found.map(|(_, reason)| reason.as_str())
    }
}

/// What the library says of itself begins small and has no full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let stop = if text.ends_with('.') { "" } else { "." };
    first.chain(letters).chain(stop.chars()).collect()
}

/// A field of one line.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) hint: &'a str,
    pub(super) value: &'a str,
    /// `text`, `password` or `url`.
    pub(super) kind: &'a str,
    /// What a browser may fill in.
    pub(super) autocomplete: &'a str,
    /// Which keys a phone offers.
    pub(super) keys: &'a str,
}

impl Line<'_> {
    pub(super) const TEXT: Self = Self {
        name: "",
        label: "",
        hint: "",
        value: "",
        kind: "text",
        autocomplete: "off",
        keys: "text",
    };

    pub(super) fn field(&self, wrong: &Wrong) -> Markup {
        let reason = wrong.of(self.name);
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                (around(self.name, self.hint, reason))
                input id=(self.name) name=(self.name) type=(self.kind) value=(self.value)
                    autocomplete=(self.autocomplete) inputmode=(self.keys) spellcheck="false"
                    aria-describedby=[described_by(self.name, self.hint, reason)]
                    aria-invalid=[reason.map(|_| "true")];
            }
        }
    }
}

/// Check boxes of one name; each box has a value, a text beside it, and whether it is checked.
pub(super) fn boxes(
    (name, legend, hint): (&str, &str, &str),
    boxes: &[(String, &str, bool)],
    wrong: &Wrong,
) -> Markup {
    let reason = wrong.of(name);
    html! {
        fieldset id=(name) aria-describedby=[described_by(name, hint, reason)] {
            legend { (legend) }
            (around(name, hint, reason))
            div.boxes {
                @for (value, text, checked) in boxes {
                    label {
                        input type="checkbox" name=(name) value=(value) checked[*checked];
                        span { code { (value) } @if !text.is_empty() { " " small { (text) } } }
                    }
                }
            }
        }
    }
}

/// What stands between a label and its field.
fn around(name: &str, hint: &str, reason: Option<&str>) -> Markup {
    html! {
        @if !hint.is_empty() { p.hint id={ (name) "-hint" } { (hint) } }
        @if let Some(reason) = reason { p.wrong id={ (name) "-wrong" } { (reason) } }
    }
}

fn described_by(name: &str, hint: &str, reason: Option<&str>) -> Option<String> {
    let hint = (!hint.is_empty()).then(|| format!("{name}-hint"));
    let reason = reason.map(|_| format!("{name}-wrong"));
    let ids: Vec<_> = hint.into_iter().chain(reason).collect();
    (!ids.is_empty()).then(|| ids.join(" "))
}
