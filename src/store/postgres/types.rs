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

type Read<T> = Result<T, Box<dyn Error + Sync + Send>>;

/// A `BIGINT`: milliseconds since 1970-01-01T00:00:00Z.
impl ToSql for Timestamp {
    fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> Read<IsNull> {
        self.as_millis().to_sql(kind, column)
    }

    accepts!(INT8);
    to_sql_checked!();
}

/// Reads the value that [`ToSql`] writes.
impl FromSql<'_> for Timestamp {
    fn from_sql(kind: &Type, column: &[u8]) -> Read<Self> {
        i64::from_sql(kind, column).map(Self::from_millis)
    }

    accepts!(INT8);
}

/// A `BYTEA` of 32 bytes.
impl ToSql for SecretDigest {
    fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> Read<IsNull> {
        self.as_bytes().as_slice().to_sql(kind, column)
    }

    accepts!(BYTEA);
    to_sql_checked!();
}

/// Reads the value that [`ToSql`] writes.
impl FromSql<'_> for SecretDigest {
    fn from_sql(_: &Type, column: &[u8]) -> Read<Self> {
        Ok(Self::new(column.try_into()?))
    }

    accepts!(BYTEA);
}

/// A `BYTEA`.
impl ToSql for EncryptedSecret {
    fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> Read<IsNull> {
        self.as_bytes().to_sql(kind, column)
    }

    accepts!(BYTEA);
    to_sql_checked!();
}

/// Reads the value that [`ToSql`] writes.
impl FromSql<'_> for EncryptedSecret {
    fn from_sql(_: &Type, column: &[u8]) -> Read<Self> {
        Ok(Self::new(column.into()))
    }

    accepts!(BYTEA);
}

macro_rules! texts {
    ($($name:ty: $parse:path, $as_text:expr;)+) => {$(
        /// A `TEXT`.
        impl ToSql for $name {
            fn to_sql(&self, kind: &Type, column: &mut BytesMut) -> Read<IsNull> {
                $as_text(self).to_sql(kind, column)
            }

            fn accepts(kind: &Type) -> bool {
                <&str as ToSql>::accepts(kind)
            }

            to_sql_checked!();
        }

        /// Reads the value that [`ToSql`] writes.
        impl<'a> FromSql<'a> for $name {
            fn from_sql(kind: &Type, column: &'a [u8]) -> Read<Self> {
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
