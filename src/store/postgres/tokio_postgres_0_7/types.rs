//! Conversions of the library's types to and from columns, also for hosts that use `tokio-postgres`.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use crate::audit::{AuditAction, AuditOrigin};
use crate::model::{
    AuditEntryId, DeliveryId, EndpointId, EventId, ForumId, PostId, ThreadId, Timestamp, UserId,
};
use crate::store::sql::{ScopeList, text_columns};
use crate::token::{Lookup, SecretDigest};
use crate::webhook::{DeliveryState, EncryptedSecret, KeyId, Topic, TopicSet};

type ColumnResult<T> = Result<T, Box<dyn Error + Sync + Send>>;

macro_rules! columns {
    ($($(#[$doc:meta])+ $name:ident: $kind:ident, |$value:ident| $stored:expr, |$column:ident| $read:expr;)+) => {$(
        $(#[$doc])+
        impl ToSql for $name {
            fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> ColumnResult<IsNull> {
                let $value = self;
                $stored.to_sql(kind, column)
            }

            accepts!($kind);
            to_sql_checked!();
        }

        /// Reads the value that [`ToSql`] writes.
        impl FromSql<'_> for $name {
            fn from_sql(_: &Type, $column: &[u8]) -> ColumnResult<Self> {
                $read
            }

            accepts!($kind);
        }
    )+};
}

columns! {
    /// A `BIGINT`: milliseconds since 1970-01-01T00:00:00Z.
    Timestamp: INT8, |time| time.as_millis(), |column| i64::from_sql(&Type::INT8, column).map(Self::from_millis);
    /// A `BYTEA` of 32 bytes.
    SecretDigest: BYTEA, |digest| digest.as_bytes().as_slice(), |column| Ok(Self::new(column.try_into()?));
    /// A `BYTEA`.
    EncryptedSecret: BYTEA, |secret| secret.as_bytes(), |column| Ok(Self::new(column.into()));
}

macro_rules! texts {
    ($($name:ty: $parse:path, $as_text:expr;)+) => {$(
        /// A `TEXT`.
        impl ToSql for $name {
            fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> ColumnResult<IsNull> {
                $as_text(self).to_sql(kind, column)
            }

            fn accepts(kind: &Type) -> bool {
                <&str as ToSql>::accepts(kind)
            }

            to_sql_checked!();
        }

        /// Reads the value that [`ToSql`] writes.
        impl<'a> FromSql<'a> for $name {
            fn from_sql(kind: &Type, column: &'a [u8]) -> ColumnResult<Self> {
                let text = <&str>::from_sql(kind, column)?;
                let malformed = concat!("malformed ", stringify!($name));
                $parse(text).map_err(|_| malformed.into())
            }

            fn accepts(kind: &Type) -> bool {
                <&str as FromSql<'a>>::accepts(kind)
            }
        }
    )+};
}

text_columns!(texts);
