//! Conversions of the library's types to and from columns, also for hosts that use `rusqlite`.

use rusqlite::Result;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::audit::{AuditAction, AuditOrigin};
use crate::model::{
    AuditEntryId, DeliveryId, EndpointId, EventId, ForumId, PostId, ThreadId, Timestamp, UserId,
};
use crate::store::sql::{ScopeList, text_columns};
use crate::token::{Lookup, SecretDigest};
use crate::webhook::{DeliveryState, EncryptedSecret, KeyId, Topic, TopicSet};

macro_rules! columns {
    ($($(#[$doc:meta])+ $name:ident: |$stored:ident| $as_column:expr, |$column:ident| $read:expr;)+) => {$(
        $(#[$doc])+
        impl ToSql for $name {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                let $stored = self;
                Ok($as_column.into())
            }
        }

        /// Reads the value that [`ToSql`] writes.
        impl FromSql for $name {
            fn column_result($column: ValueRef<'_>) -> FromSqlResult<Self> {
                $read
            }
        }
    )+};
}

columns! {
    /// An `INTEGER`: milliseconds since 1970-01-01T00:00:00Z.
    Timestamp: |time| time.as_millis(), |column| column.as_i64().map(Self::from_millis);
    /// A `BLOB` of 32 bytes.
    SecretDigest: |digest| digest.as_bytes().as_slice(), |column| <[u8; 32]>::column_result(column).map(Self::new);
    /// A `BLOB`.
    EncryptedSecret: |secret| secret.as_bytes(), |column| Vec::column_result(column).map(Self::new);
}

macro_rules! texts {
    ($($name:ty: $parse:path, $as_text:expr;)+) => {$(
        /// A `TEXT`.
        impl ToSql for $name {
            fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
                Ok($as_text(self).into())
            }
        }

        /// Reads the value that [`ToSql`] writes.
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                $parse(value.as_str()?).map_err(|_| FromSqlError::InvalidType)
            }
        }
    )+};
}

text_columns!(texts);
