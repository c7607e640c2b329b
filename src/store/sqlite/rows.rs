//! Decoders of rows.

use rusqlite::types::FromSql;
use rusqlite::{Error, Result, Row};

use crate::audit::{AuditActor, AuditEntry};
use crate::store::{
    AuditRecord, EndpointStats, LastDelivery, ResourceIds, ScopeList, StoredResponse, UsageCounts,
};
use crate::token::TokenRecord;
use crate::webhook::{AttemptRecord, Delivery, DeliveryProgress, Endpoint, PendingSecret};

/// Reader of the columns of a row, by name.
pub(super) trait RowReader {
    fn value<T: FromSql>(&self, name: &str) -> Result<T>;

    fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<T> {
        into_number(self.value(name)?)
    }

    fn optional_number<T: TryFrom<i64>>(&self, name: &str) -> Result<Option<T>> {
        let number: Option<i64> = self.value(name)?;
        number.map(into_number).transpose()
    }
}

impl RowReader for Row<'_> {
    fn value<T: FromSql>(&self, name: &str) -> Result<T> {
        self.get(name)
    }
}

fn into_number<T: TryFrom<i64>>(number: i64) -> Result<T> {
    T::try_from(number).map_err(|_| Error::IntegralValueOutOfRange(0, number))
}

row_decoders!(&Row<'_>);
