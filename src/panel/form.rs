//! What was typed into a form, or stands in a query.

use crate::http_util::{form_decode, form_pairs};

/// The fields of a form, in their order.
#[derive(Debug, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `application/x-www-form-urlencoded`; `None` for what is none, or holds what nobody can type.
    pub(super) fn parse(text: &str) -> Option<Self> {
        form_pairs(text)
            .map(decode)
            .collect::<Option<_>>()
            .map(Self)
    }

    /// What stands in the field of this name; empty when it is not there.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// What stands in each field of this name: of check boxes, those that are checked.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(found, _)| found == name);
        named.map(|(_, value)| value.as_str())
    }
}

fn decode((name, value): (&str, &str)) -> Option<(String, String)> {
    let value = form_decode(value).filter(|value| !value.contains('\0'))?;
    Some((form_decode(name)?.into_owned(), value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn fields_are_read_as_a_browser_writes_them() {
        let form = Form::parse("a=1+%2B+%C3%A4&scopes=x&scopes=y&empty=&b").unwrap();
        assert_eq!(
            ["a", "scopes", "empty", "b", "c"].map(|name| form.get(name)),
            ["1 + ä", "x", "", "", ""]
        );
        assert_eq!(form.all("scopes").collect::<Vec<_>>(), ["x", "y"]);
        for bad in ["a=%", "a=%ff", "a=%00", "%zz=1"] {
            assert!(Form::parse(bad).is_none(), "{bad}");
        }
    }
}
