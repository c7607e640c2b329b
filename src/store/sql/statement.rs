//! Statements that have the same text on SQLite and Postgres.

use std::borrow::Cow;
use std::time::Duration;

use super::columns::{ScopeList, text_columns};
use crate::audit::{AuditAction, AuditOrigin};
use crate::model::{
    AuditEntryId, DeliveryId, EndpointId, EventId, ForumId, PostId, ThreadId, Timestamp, UserId,
};
use crate::token::{Lookup, SecretDigest};
use crate::webhook::{DeliveryState, EncryptedSecret, KeyId, Topic, TopicSet};

/// Value of a parameter; `None` is null. A null also has a type, because a driver can prepare a statement with the types
/// of its parameters.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Boolean(Option<bool>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// Statement with the placeholders `?1`, `?2` and so on, and the values of its parameters.
///
/// A text that is executed on SQLite and Postgres alike has the placeholders `$1`, `$2` and so on, in the order of their
/// numbers.
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
    pub(crate) is_urgent: bool,
}

impl Statement {
    pub(crate) fn new(
        sql: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = Value>,
    ) -> Self {
        Self { sql: sql.into(), values: values.into_iter().collect(), is_urgent: false }
    }

    /// Marks a read of one row by its key, which does not wait for slower reads, or a write that completes admitted work,
    /// which is not rejected if the queue of writes is full.
    pub(super) fn urgent(mut self) -> Self {
        self.is_urgent = true;
        self
    }

    /// Appends to the text.
    pub(super) fn push(&mut self, sql: &str) {
        self.sql.to_mut().push_str(sql);
    }

    /// Adds a parameter. Returns its placeholder.
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// Appends ` AND {comparison}` and the placeholder of `value`, if there is a value.
    pub(super) fn and(&mut self, comparison: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            let value = self.bind(value);
            self.push(&format!(" AND {comparison} {value}"));
        }
    }
}

/// Implements the conversions of each type, and of an optional value of this type.
macro_rules! values {
    ($($from:ty: $kind:ident, |$value:ident| $stored:expr;)+) => {$(
        impl From<$from> for Value {
            fn from($value: $from) -> Self {
                Self::$kind(Some($stored))
            }
        }

        impl From<Option<$from>> for Value {
            fn from(value: Option<$from>) -> Self {
                Self::$kind(value.map(|$value| $stored))
            }
        }
    )+};
}

values! {
    i64: Integer, |number| number;
    u32: Integer, |number| number.into();
    u16: Integer, |number| number.into();
    bool: Boolean, |value| value;
    String: Text, |text| text;
    &str: Text, |text| text.into();
    Vec<u8>: Bytes, |bytes| bytes;
    &[u8]: Bytes, |bytes| bytes.into();
    Timestamp: Integer, |time| time.as_millis();
    Duration: Integer, |duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    &SecretDigest: Bytes, |digest| digest.as_bytes().into();
    &EncryptedSecret: Bytes, |secret| secret.as_bytes().into();
}

macro_rules! texts {
    ($($name:ty: $parse:path, $as_text:expr;)+) => {$(
        impl From<&$name> for Value {
            fn from(value: &$name) -> Self {
                $as_text(value).into()
            }
        }

        impl From<Option<&$name>> for Value {
            fn from(value: Option<&$name>) -> Self {
                Self::Text(value.map(|value| $as_text(value).into()))
            }
        }
    )+};
}

text_columns!(texts);
