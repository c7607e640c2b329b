//! Arguments of a tool call, as a request to the API.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::value::RawValue;

use super::argument_list::{Argument, Arguments, Text};
use super::contained_json;
use super::tool::{IDEMPOTENCY_KEY, SOURCE_BODIES, Tool};
use crate::model::Expected;
use crate::operation::extract::error::{InputErrorKind, InputResult};
use crate::operation::{ApiError, ApiResult, InputError, InputValue, is_key};

/// Characters to encode in a path segment or a query.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const IDEMPOTENCY_KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Tool {
    /// Converts the head of the client's request and the arguments to the request of the tool's operation.
    pub(super) fn request(
        &self,
        base_path: &str,
        mut head: Parts,
        Arguments(mut arguments): Arguments<'_>,
    ) -> ApiResult<(Parts, Bytes)> {
        let mut uri = base_path.to_owned();
        self.write_path(&mut uri, &mut arguments)?;
        let key = if self.accepts_idempotency_key() {
            take(&mut arguments, IDEMPOTENCY_KEY)?
        } else {
            None
        };
        if let Some(key) = key {
            let text = scalar(IDEMPOTENCY_KEY, key)?;
            let key = Some(text)
                .filter(|text| is_key(text))
                .and_then(|text| HeaderValue::from_str(&text).ok())
                .ok_or_else(|| InputError::expected(IDEMPOTENCY_KEY, Expected::IDEMPOTENCY_KEY))?;
            // The API refuses two different keys.
            if head.headers.get(IDEMPOTENCY_KEY_HEADER) != Some(&key) {
                head.headers.append(IDEMPOTENCY_KEY_HEADER, key);
            }
        }
        let body = if self.has_body {
            head.headers.insert(CONTENT_TYPE, JSON);
            // A model can send the arguments of a repeated call in another order.
            arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
            self.body(&arguments)
        } else {
            self.write_query(&mut uri, &arguments)?;
            Bytes::new()
        };
        head.uri = Uri::try_from(uri)
            .map_err(|_| InputError::expected("arguments", "shorter arguments"))?;
        head.method = self.method.clone();
        Ok((head, body))
    }

    /// Appends the path with the values of its variables, and removes them from the arguments.
    fn write_path(&self, uri: &mut String, arguments: &mut Vec<Argument<'_>>) -> ApiResult<()> {
        let mut variables = self.variables.iter();
        for (index, part) in self.path.split(['{', '}']).enumerate() {
            // The parts are alternately fixed and variable.
            if index % 2 == 0 {
                uri.push_str(part);
            } else if let Some(name) = variables.next() {
                let argument = take(arguments, name)?
                    .ok_or_else(|| InputError::new(*name, InputErrorKind::Missing))?;
                let value = scalar(name, argument)?;
                // No id has such a value.
                if value.is_empty() || value.contains('/') {
                    return Err(ApiError::NotFound);
                }
                uri.extend(utf8_percent_encode(&value, ENCODED));
            }
        }
        Ok(())
    }

    /// Appends the arguments as query parameters. Omits those that are null.
    ///
    /// # Errors
    /// [`InputError`] for the first argument that the tool does not have, or that is repeated.
    fn write_query(&self, uri: &mut String, arguments: &[Argument<'_>]) -> InputResult<()> {
        let mut names = HashSet::new();
        let mut separator = '?';
        for (name, value) in arguments {
            if !self.has_argument(name) {
                return Err(InputError::new(&**name, InputErrorKind::Unknown));
            }
            if !names.insert(name) {
                return Err(InputError::new(&**name, InputErrorKind::Repeated));
            }
            if value.get() == "null" {
                continue;
            }
            uri.push(separator);
            uri.extend(utf8_percent_encode(name, ENCODED));
            uri.push('=');
            uri.extend(utf8_percent_encode(&scalar(name, value)?, ENCODED));
            separator = '&';
        }
        let (name, default) = SOURCE_BODIES;
        let is_given = |(one, value): &Argument<'_>| one == name && value.get() != "null";
        if self.prefers_source && !arguments.iter().any(is_given) {
            uri.push(separator);
            uri.extend([name, "=", default]);
        }
        Ok(())
    }

    /// Returns a body with the arguments as its fields.
    fn body(&self, arguments: &[Argument<'_>]) -> Bytes {
        let len = arguments.iter().map(|(name, value)| name.len() + value.get().len() + 4);
        let mut body = String::with_capacity(len.sum::<usize>() + 2);
        contained_json::write_arguments(arguments, &self.input, &mut body);
        body.into()
    }
}

/// Removes an argument. Returns `None` for null.
fn take<'a>(
    arguments: &mut Vec<(Cow<'_, str>, &'a RawValue)>,
    name: &'static str,
) -> InputResult<Option<&'a RawValue>> {
    let Some(index) = arguments.iter().position(|(one, _)| one == name) else {
        return Ok(None);
    };
    let (_, value) = arguments.swap_remove(index);
    if arguments.iter().any(|(one, _)| one == name) {
        return Err(InputError::new(name, InputErrorKind::Repeated));
    }
    Ok(Some(value).filter(|value| value.get() != "null"))
}

/// Returns the text of a string, a number or a boolean. A whole number is written without fraction and exponent.
fn scalar<'a>(name: &str, value: &'a RawValue) -> InputResult<Cow<'a, str>> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text)
            .map(|Text(text)| text)
            .map_err(|_| InputError::expected(name, Expected::WHOLE_SURROGATE_PAIRS)),
        Some(b'[' | b'{') => Err(InputError::expected(name, "a text, a number, true or false")),
        Some(b'-' | b'0'..=b'9') if text.contains(['.', 'e', 'E']) => {
            let number = InputValue::from_json(text.as_bytes()).ok();
            let whole = number.and_then(|number| number.whole_number());
            Ok(whole.map_or(text.into(), |whole| whole.to_string().into()))
        }
        _ => Ok(text.into()),
    }
}
