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

/// An `INTEGER`: milliseconds since 1970-01-01T00:00:00Z.
impl ToSql for Timestamp {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_millis().into())
    }
}

/// Reads the value that [`ToSql`] writes.
impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_millis)
    }
}

/// A `BLOB` of 32 bytes.
impl ToSql for SecretDigest {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_bytes().as_slice().into())
    }
}

/// Reads the value that [`ToSql`] writes.
impl FromSql for SecretDigest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self::new)
    }
}

/// A `BLOB`.
impl ToSql for EncryptedSecret {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(self.as_bytes().into())
    }
}

/// Reads the value that [`ToSql`] writes.
impl FromSql for EncryptedSecret {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Vec::column_result(value).map(Self::new)
    }
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
