//! Query strings, read strictly: nothing repeated, nothing unknown, nothing that is no UTF-8.

use std::borrow::Cow;

use crate::http_util::{form_decode, form_pairs};

use crate::api::extract::error::Complaint;
use crate::api::extract::value::Node;

/// The parameters of a query as an object; that of no query is empty.
pub(crate) fn parse(query: Option<&str>) -> Result<Node<'_>, Complaint> {
    let pairs = form_pairs(query.unwrap_or_default());
    let fields: Result<_, _> = pairs.map(parameter).collect();
    fields.map(Node::Object)
}

fn parameter<'a>((name, value): (&'a str, &'a str)) -> Result<(Cow<'a, str>, Node<'a>), Complaint> {
    let bad = |name: &str| Complaint::expected(name, "percent-encoded UTF-8");
    let name = form_decode(name).ok_or_else(|| bad("query"))?;
    let value = form_decode(value).ok_or_else(|| bad(&name))?;
    Ok((name, Node::Parameter(value)))
}

#[cfg(test)]
mod tests {
    use super::{Cow, Node, parse};

    fn fields(query: &str) -> Option<Vec<(String, String)>> {
        let Node::Object(fields) = parse(Some(query)).ok()? else {
            return None;
        };
        let text = |(name, node): (Cow<'_, str>, Node<'_>)| match node {
            Node::Parameter(value) => (name.into_owned(), value.into_owned()),
            other => (name.into_owned(), format!("{other:?}")),
        };
        Some(fields.into_iter().map(text).collect())
    }

    #[test]
    fn pairs() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            fields("a=1&b=%C3%A4+x"),
            Some(vec![pair("a", "1"), pair("b", "ä x")])
        );
        assert_eq!(fields("a&&b=="), Some(vec![pair("a", ""), pair("b", "=")]));
        assert_eq!(fields(""), Some(vec![]));
        for bad in ["a=%", "a=%4", "a=%zz", "a=%ff", "%=1", "a=%4%41"] {
            assert_eq!(fields(bad), None, "{bad}");
        }
    }
}
