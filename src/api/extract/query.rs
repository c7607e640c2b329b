//! Query strings, read strictly: nothing repeated, nothing unknown, only percent-encoded UTF-8.

use std::borrow::Cow;

use super::error::InputError;
use super::value::InputValue;
use crate::http_util::{form_decode, form_pairs};
use crate::model::Expected;

/// The parameters of a query as an object; an absent query is an empty one.
pub(crate) fn parse(query: Option<&str>) -> Result<InputValue<'_>, InputError> {
    let pairs = form_pairs(query.unwrap_or_default());
    let fields: Result<_, _> = pairs.map(parameter).collect();
    fields.map(InputValue::Object)
}

fn parameter<'a>(
    (name, value): (&'a str, &'a str),
) -> Result<(Cow<'a, str>, InputValue<'a>), InputError> {
    let bad = |name: &str| InputError::expected(name, Expected::PercentEncoding);
    let name = form_decode(name).ok_or_else(|| bad("query"))?;
    let value = form_decode(value).ok_or_else(|| bad(&name))?;
    Ok((name, InputValue::Parameter(value)))
}
