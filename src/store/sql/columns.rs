//! Columns of a row, by name.

use std::sync::Arc;
use std::time::Duration;

use crate::audit::{AuditAction, AuditOrigin};
use crate::driver_error::ColumnError;
use crate::error::ParseError;
use crate::model::{
    AuditEntryId, DeliveryId, EndpointId, EventId, ForumId, PostId, ThreadId, Timestamp, UserId,
};
use crate::token::{Lookup, SecretDigest};
use crate::webhook::{DeliveryState, EncryptedSecret, KeyId, Topic, TopicSet};

/// Types that SQL databases store as text, each with its decoder and its encoder.
macro_rules! text_columns {
    ($backend:ident) => {
        $backend! {
            AuditAction: AuditAction::parse, AuditAction::as_str;
            AuditEntryId: AuditEntryId::parse, ToString::to_string;
            AuditOrigin: AuditOrigin::parse, |origin: &AuditOrigin| origin.as_str();
            DeliveryId: DeliveryId::parse, ToString::to_string;
            EndpointId: EndpointId::parse, ToString::to_string;
            EventId: EventId::parse, ToString::to_string;
            ForumId: ForumId::parse, ToString::to_string;
            KeyId: KeyId::parse, KeyId::as_str;
            Lookup: Lookup::parse, Lookup::as_str;
            PostId: PostId::parse, ToString::to_string;
            DeliveryState: DeliveryState::parse, |state: &DeliveryState| state.as_str();
            ScopeList: ScopeList::from_json, ScopeList::to_json;
            ThreadId: ThreadId::parse, ToString::to_string;
            Topic: Topic::parse, Topic::as_str;
            TopicSet: TopicSet::from_json, TopicSet::to_json;
            UserId: UserId::parse, ToString::to_string;
        }
    };
}

pub(crate) use text_columns;

/// Scopes of a token, stored as a JSON array.
#[derive(Debug)]
pub(crate) struct ScopeList(pub(crate) Arc<[String]>);

impl ScopeList {
    pub(crate) fn from_json(text: &str) -> Result<Self, ParseError> {
        let scopes: Vec<String> =
            serde_json::from_str(text).map_err(|_| ParseError::new("a JSON array of scopes"))?;
        Ok(Self(scopes.into()))
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::json!(*self.0).to_string()
    }
}

pub(crate) type ColumnResult<T> = Result<T, ColumnError>;

/// Columns of a row, by name. `None` is null.
///
/// # Errors
/// Each method returns a [`ColumnError`] if the row has no column `name`, or if the column has another type.
pub trait Columns {
    /// Returns an integer of any width.
    fn integer(&self, name: &str) -> Result<Option<i64>, ColumnError>;

    /// Returns a boolean.
    fn boolean(&self, name: &str) -> Result<Option<bool>, ColumnError>;

    /// Returns a text.
    fn text(&self, name: &str) -> Result<Option<&str>, ColumnError>;

    /// Returns a byte string.
    fn bytes(&self, name: &str) -> Result<Option<&[u8]>, ColumnError>;

    /// Returns a text that is not null, with replacement characters for its malformed bytes. In Postgres a text has
    /// none.
    fn lossy_text(&self, name: &str) -> Result<String, ColumnError> {
        self.text(name)?.map(Into::into).ok_or_else(|| ColumnError::new(name, "unexpected null"))
    }
}

impl<'a> dyn Columns + 'a {
    /// Decodes a column that is not null.
    pub(crate) fn value<T: FromColumn>(&self, name: &str) -> ColumnResult<T> {
        self.optional(name)?.ok_or_else(|| ColumnError::new(name, "unexpected null"))
    }

    /// Decodes a column that can be null.
    pub(crate) fn optional<T: FromColumn>(&self, name: &str) -> ColumnResult<Option<T>> {
        T::from_column(self, name)
    }
}

/// Type of a column.
pub(crate) trait FromColumn: Sized {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>>;
}

impl FromColumn for bool {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        columns.boolean(name)
    }
}

impl FromColumn for String {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        Ok(columns.text(name)?.map(Self::from))
    }
}

impl FromColumn for Vec<u8> {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        Ok(columns.bytes(name)?.map(Self::from))
    }
}

impl FromColumn for [u8; 32] {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        let hash = columns.bytes(name)?.map(Self::try_from);
        hash.transpose().map_err(|_| ColumnError::new(name, "expected 32 bytes"))
    }
}

impl FromColumn for Timestamp {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        Ok(columns.integer(name)?.map(Self::from_millis))
    }
}

/// Reads milliseconds. A negative number is zero.
impl FromColumn for Duration {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        let millis = columns.integer(name)?;
        Ok(millis.map(|millis| Self::from_millis(u64::try_from(millis).unwrap_or_default())))
    }
}

impl FromColumn for SecretDigest {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        Ok(<[u8; 32]>::from_column(columns, name)?.map(Self::new))
    }
}

impl FromColumn for EncryptedSecret {
    fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
        Ok(Vec::from_column(columns, name)?.map(Self::new))
    }
}

macro_rules! integers {
    ($($name:ty)+) => {$(
        impl FromColumn for $name {
            fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
                let number = columns.integer(name)?.map(Self::try_from);
                number.transpose().map_err(|error| ColumnError::new(name, error))
            }
        }
    )+};
}

integers!(i64 u16 u32 u64 usize);

macro_rules! texts {
    ($($name:ty: $parse:path, $as_text:expr;)+) => {$(
        impl FromColumn for $name {
            fn from_column(columns: &dyn Columns, name: &str) -> ColumnResult<Option<Self>> {
                let value = columns.text(name)?.map($parse);
                value.transpose().map_err(|error| ColumnError::new(name, error))
            }
        }
    )+};
}

text_columns!(texts);
