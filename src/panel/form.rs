//! Forms: the values that were sent, the errors of fields, and the fields themselves.

use maud::{Markup, html};

use crate::http_util::{form_decode, form_pairs};

/// The fields of a form or of a query, in their order.
#[derive(Debug, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded`. `None` for another encoding and for a NUL, which nobody can type.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let decode = |(name, value)| {
            let value = form_decode(value).filter(|value| !value.contains('\0'))?;
            Some((form_decode(name)?.into_owned(), value.into_owned()))
        };
        form_pairs(text)
            .map(decode)
            .collect::<Option<_>>()
            .map(Self)
    }

    /// The value of this field; empty when the field is absent.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of this field: those of checked boxes.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|found| found == value)
    }
}

/// The errors of fields.
#[derive(Debug, Default)]
pub(super) struct FormErrors(Vec<(&'static str, String)>);

impl FormErrors {
    /// Adds the error of a field. The text becomes a sentence.
    pub(super) fn add(&mut self, field: &'static str, reason: impl ToString) {
        let reason = reason.to_string();
        let mut letters = reason.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let stop = if reason.ends_with('.') { "" } else { "." };
        self.0
            .push((field, first.chain(letters).chain(stop.chars()).collect()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn of(&self, field: &str) -> Option<&str> {
        let found = self.0.iter().find(|(named, _)| *named == field);
        found.map(|(_, reason)| reason.as_str())
    }
}

/// A field of one line.
#[derive(Clone, Copy)]
pub(super) struct TextField<'a> {
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) hint: &'a str,
    pub(super) value: &'a str,
    /// `text` or `password`.
    pub(super) kind: &'a str,
    /// What a browser may fill in.
    pub(super) autocomplete: &'a str,
    /// The keyboard that a phone offers.
    pub(super) inputmode: &'a str,
}

impl TextField<'_> {
    pub(super) const TEXT: Self = Self {
        name: "",
        label: "",
        hint: "",
        value: "",
        kind: "text",
        autocomplete: "off",
        inputmode: "text",
    };

    pub(super) fn render(&self, errors: &FormErrors) -> Markup {
        let (notes, ids) = field_notes(self.name, self.hint, errors);
        html! {
            div.field {
                label for=(self.name) { (self.label) }
                (notes)
                input id=(self.name) name=(self.name) type=(self.kind) value=(self.value)
                    autocomplete=(self.autocomplete) inputmode=(self.inputmode) spellcheck="false"
                    aria-describedby=[ids] aria-invalid=[errors.of(self.name).map(|_| "true")];
            }
        }
    }
}

/// Check boxes of one name; each box has a value, a text beside it, and whether it is checked.
pub(super) fn checkboxes<'a>(
    (name, legend, hint): (&str, &str, &str),
    boxes: impl Iterator<Item = (String, &'a str, bool)>,
    errors: &FormErrors,
) -> Markup {
    let (notes, ids) = field_notes(name, hint, errors);
    html! {
        fieldset id=(name) aria-describedby=[ids] {
            legend { (legend) }
            (notes)
            div.boxes {
                @for (value, text, checked) in boxes {
                    label {
                        input type="checkbox" name=(name) value=(value) checked[checked];
                        span { code { (value) } @if !text.is_empty() { " " small { (text) } } }
                    }
                }
            }
        }
    }
}

/// The hint and the error of a field, and their ids if there are any.
fn field_notes(name: &str, hint: &str, errors: &FormErrors) -> (Markup, Option<String>) {
    let hint = Some(("hint", hint)).filter(|(_, hint)| !hint.is_empty());
    let error = errors.of(name).map(|reason| ("wrong", reason));
    let notes: Vec<_> = hint.into_iter().chain(error).collect();
    let ids: Vec<_> = notes
        .iter()
        .map(|(kind, _)| format!("{name}-{kind}"))
        .collect();
    let markup = html! {
        @for ((kind, text), id) in notes.iter().zip(&ids) { p class=(kind) id=(id) { (text) } }
    };
    (markup, Some(ids.join(" ")).filter(|ids| !ids.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn fields_are_read_as_a_browser_writes_them() {
        let form = Form::parse("a=1+%2B+%C3%A4&scopes=x&scopes=y&empty=&b").unwrap();
        let values = ["a", "scopes", "empty", "b", "c"].map(|name| form.get(name));
        assert_eq!(values, ["1 + ä", "x", "", "", ""]);
        assert_eq!(form.all("scopes").collect::<Vec<_>>(), ["x", "y"]);
        for bad in ["a=%", "a=%ff", "a=%00", "%zz=1"] {
            assert!(Form::parse(bad).is_none(), "{bad}");
        }
    }
}
