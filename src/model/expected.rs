//! Expected formats of request parts, as English phrases.

use std::borrow::Cow;

use serde::de::{self, Unexpected};

/// Expected format of a field, a parameter or a header, as an English phrase that the board's messages can translate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected(&'static str);

/// Declares a constant for each phrase, and a list of all for tests.
macro_rules! phrases {
    ($($name:ident $phrase:literal)+) => {
        impl Expected {
            $(pub(crate) const $name: Self = Self($phrase);)+

            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)+];
        }
    };
}

phrases! {
    BOOLEAN "true or false"
    CHANGE "at least one change"
    COMPLETE_BODY "a complete body"
    COMPLETE_BODY_IN_TIME "a complete body before the request timeout"
    CURSOR "a cursor returned by this list"
    DATE_RANGE "24h, 7d, 30d, 1y, or a date range, for example 2026-01-01..2026-02-01"
    EVENT "an event that the board still keeps"
    FEWER_PARTS "a body in larger chunks: at most 4,096, and one more for each 256 bytes"
    FEWER_VALUES "at most 10,000 JSON values"
    FORUM_IDS "comma-separated forum ids"
    IDEMPOTENCY_KEY "1 to 64 visible ASCII characters"
    JSON "a request body in JSON"
    JSON_TYPE "application/json"
    LIMIT "1 to 100"
    LIST "a list"
    NO_CONDITION "a request without this header; the condition of a PATCH is expectedVersion"
    NOT_WITH_AFTER "a request without after"
    NUMBER "a number"
    NUMBER_IN_BOUNDS "a number within the bounds of the field"
    OBJECT "an object"
    PERCENT_ENCODING "percent-encoded UTF-8"
    SEARCH_QUERY "1 to 200 characters with at least one word to search for, and at most 32 words"
    SMALLER_BODY "a smaller body"
    TEXT "text"
    TEXT_WITHOUT_NUL_OR_BOM "text without U+0000 or a byte-order mark"
    TIMESTAMP "an RFC 3339 time, for example 2026-01-31T12:00:00Z"
    TOPICS "* or topics of the board, separated by commas"
    USER_REF "a userId or @username"
    WHOLE_NUMBER "a whole number"
    WHOLE_SURROGATE_PAIRS "texts without half of a surrogate pair"
    WITH_TOKEN "a request with a token"
}

impl Expected {
    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }

    /// Creates an error of a deserializer.
    pub(crate) fn error<E: de::Error>(self) -> E {
        E::invalid_value(Unexpected::Other("another value"), &self.0)
    }
}

impl From<Expected> for Cow<'static, str> {
    fn from(expected: Expected) -> Self {
        expected.0.into()
    }
}
