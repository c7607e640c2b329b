//! Forms: decoded values, errors of fields, and rendering of fields.

use maud::{Markup, html};

use crate::http_util::{form_decode, form_pairs};

/// Maximum number of fields of a form or query. It bounds the work of pages that search all fields for each checkbox.
const MAX_FIELDS: usize = 1000;

/// Decoded fields of a form or query in their order, and errors of fields.
#[derive(Debug, Default)]
pub(super) struct Form {
    fields: Vec<(String, String)>,
    errors: Vec<(&'static str, String)>,
}

impl Form {
    /// Parses `application/x-www-form-urlencoded`. `None` for invalid encoding, for a NUL character, and for more than
    /// [`MAX_FIELDS`] fields.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if form_pairs(text).nth(MAX_FIELDS).is_some() {
            return None;
        }
        let decode = |(name, value)| {
            let value = form_decode(value).filter(|value| !value.contains('\0'))?;
            Some((form_decode(name)?.into_owned(), value.into_owned()))
        };
        let fields = form_pairs(text).map(decode).collect::<Option<_>>()?;
        Some(Self { fields, ..Self::default() })
    }

    /// Creates a form with one field of several values, for checkboxes.
    pub(super) fn with_values(name: &str, values: impl Iterator<Item = String>) -> Self {
        Self { fields: values.map(|value| (name.to_owned(), value)).collect(), ..Self::default() }
    }

    /// Adds a field.
    pub(super) fn with(mut self, name: &str, value: String) -> Self {
        self.fields.push((name.to_owned(), value));
        self
    }

    /// Replaces the values of a field.
    pub(super) fn set<'a>(&mut self, name: &str, values: impl IntoIterator<Item = &'a str>) {
        self.fields.retain(|(field, _)| field != name);
        let values = values.into_iter();
        self.fields.extend(values.map(|value| (name.to_owned(), value.to_owned())));
    }

    /// Returns the first value of a field; empty if the field is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns all values of a field, as sent by checkboxes.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.fields.iter().filter(move |(field, _)| field == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Adds the error of a field. The text is shown as a sentence, with a capital letter and a full stop.
    pub(super) fn add_error(&mut self, field: &'static str, reason: impl ToString) {
        let reason = reason.to_string();
        let mut letters = reason.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let stop = if reason.ends_with('.') { "" } else { "." };
        let sentence = first.chain(letters).chain(stop.chars()).collect();
        self.errors.push((field, sentence));
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    fn error(&self, field: &str) -> Option<&str> {
        let error = self.errors.iter().find(|(named, _)| *named == field);
        error.map(|(_, reason)| reason.as_str())
    }
}

/// A single-line input.
pub(super) struct TextField {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    kind: &'static str,
    autocomplete: &'static str,
    inputmode: &'static str,
    list: Option<&'static str>,
}

impl TextField {
    #[cfg(feature = "webhooks")]
    pub(super) const fn with_hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    pub(super) const fn text(name: &'static str, label: &'static str, hint: &'static str) -> Self {
        Self { name, label, hint, kind: "text", autocomplete: "off", inputmode: "text", list: None }
    }

    /// Creates the field of an owner's username. [`PageContext::owner_field`](super::page_context::PageContext::owner_field)
    /// renders it.
    pub(super) const fn owner(hint: &'static str) -> Self {
        Self { list: Some("usernames"), ..Self::text("owner", "Owner", hint) }
    }

    /// Sets the kind of on-screen keyboard.
    pub(super) const fn inputmode(self, inputmode: &'static str) -> Self {
        Self { inputmode, ..self }
    }

    /// Makes the input a password field, whose value is never part of a page.
    pub(super) const fn password(self, autocomplete: &'static str) -> Self {
        Self { kind: "password", autocomplete, ..self }
    }

    pub(super) fn render(&self, form: &Form) -> Markup {
        self.render_with(form, html! {})
    }

    /// Renders the field with `below` after it.
    pub(super) fn render_with(&self, form: &Form, below: Markup) -> Markup {
        let (notes, ids) = hint_and_error(self.name, self.hint, form);
        let is_text = self.kind == "text";
        let value = if is_text { form.get(self.name) } else { "" };
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                (notes)
                input id=(self.name) name=(self.name) type=(self.kind) value=(value)
                    autocomplete=(self.autocomplete) inputmode=(self.inputmode) spellcheck="false" list=[self.list]
                    aria-describedby=[ids] aria-invalid=[form.error(self.name).map(|_| "true")];
                (below)
            }
        }
    }
}

/// Name and texts of a group of checkboxes.
pub(super) struct CheckboxGroup {
    pub(super) name: &'static str,
    pub(super) legend: &'static str,
    pub(super) hint: &'static str,
}

/// Renders checkboxes from values and descriptions, with buttons above them. Boxes whose value the form contains are
/// checked.
pub(super) fn checkboxes<'a>(
    &CheckboxGroup { name, legend, hint }: &CheckboxGroup,
    boxes: impl Iterator<Item = (String, &'a str)>,
    form: &Form,
    buttons: Markup,
) -> Markup {
    let (notes, ids) = hint_and_error(name, hint, form);
    html! {
        fieldset id=(name) aria-describedby=[ids] {
            legend { (legend) }
            (notes)
            (buttons)
            div.boxes {
                @for (value, text) in boxes {
                    label {
                        input type="checkbox" name=(name) value=(value)
                            checked[form.all(name).any(|one| one == value)];
                        span { code { (value) } @if !text.is_empty() { " " small { (text) } } }
                    }
                }
            }
        }
    }
}

/// Renders the hint and the error of a field, and returns their ids for `aria-describedby`.
fn hint_and_error(name: &str, hint: &str, form: &Form) -> (Markup, Option<String>) {
    let hint = Some(("hint", hint)).filter(|(_, hint)| !hint.is_empty());
    let error = form.error(name).map(|reason| ("error", reason));
    let notes: Vec<_> = hint.into_iter().chain(error).collect();
    let ids = notes.iter().map(|(kind, _)| format!("{name}-{kind}")).collect::<Vec<_>>().join(" ");
    let markup = html! {
        @for (kind, text) in notes { p class=(kind) id={ (name) "-" (kind) } { (text) } }
    };
    (markup, Some(ids).filter(|ids| !ids.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::{Form, MAX_FIELDS};

    #[test]
    fn forms_are_decoded_as_browsers_encode_them() {
        let form = Form::parse("a=1+%2B+%C3%A4&scopes=x&scopes=y&empty=&b").unwrap();
        let values = ["a", "scopes", "empty", "b", "c"].map(|name| form.get(name));
        assert_eq!(values, ["1 + ä", "x", "", "", ""]);
        assert_eq!(form.all("scopes").collect::<Vec<_>>(), ["x", "y"]);
        for bad in ["a=%", "a=%ff", "a=%00", "%zz=1"] {
            assert!(Form::parse(bad).is_none(), "{bad}");
        }
        for (count, is_parsed) in [(MAX_FIELDS, true), (MAX_FIELDS + 1, false)] {
            assert_eq!(Form::parse(&vec!["a"; count].join("&")).is_some(), is_parsed, "{count}");
        }
    }
}
