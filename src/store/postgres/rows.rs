//! Decoders of rows.

use super::execute::{Result, RowReader};
use crate::audit::{AuditActor, AuditEntry};
use crate::store::{
    AuditRecord, EndpointStats, LastDelivery, ResourceIds, ScopeList, StoredResponse, UsageCounts,
};
use crate::token::TokenRecord;
use crate::webhook::{AttemptRecord, Delivery, DeliveryProgress, Endpoint, PendingSecret};

row_decoders!(&mut RowReader<'_>);
