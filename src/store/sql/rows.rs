//! Decoders of rows.

use super::{ColumnResult, Columns, ScopeList};
use crate::audit::{AuditActor, AuditEntry};
use crate::driver_error::ColumnError;
use crate::store::{
    AuditRecord, DeliveryCount, EndpointStats, IdempotencyProgress, IdempotencyRecord,
    LastDelivery, QueueStats, ResourceIds, StoredResponse, UsageCounts,
};
use crate::token::TokenRecord;
use crate::webhook::{
    AttemptRecord, Delivery, DeliveryProgress, Endpoint, Event, PendingSecret, TransportError,
};

/// Decodes a token from the columns `lookup`, `digest`, `owner`, `label`, `scopes`, `created_at`, `expires_at`,
/// `revoked_at` and `last_used_at` of the table `forum_api_tokens`, which it finds by name.
///
/// [`Authorizer::load_token`](crate::host::Authorizer::load_token) calls it for the row of its query. No earlier column
/// of the row may have one of these names.
///
/// # Errors
/// [`ColumnError`] if a column is missing or cannot be decoded.
pub fn read_token(row: &dyn Columns) -> Result<TokenRecord, ColumnError> {
    Ok(TokenRecord {
        lookup: row.value("lookup")?,
        digest: row.value("digest")?,
        owner: row.value("owner")?,
        label: row.value("label")?,
        scopes: row.value::<ScopeList>("scopes")?.0,
        created_at: row.value("created_at")?,
        expires_at: row.optional("expires_at")?,
        revoked_at: row.optional("revoked_at")?,
        last_used_at: row.optional("last_used_at")?,
    })
}

pub(super) fn read_audit_record(row: &dyn Columns) -> ColumnResult<AuditRecord> {
    let address = row.text("address")?;
    Ok(AuditRecord {
        entry: AuditEntry {
            id: row.value("id")?,
            occurred_at: row.value("occurred_at")?,
            actor: AuditActor {
                user_id: row.optional("actor")?,
                system_user: row.optional("os_user")?,
                origin: row.value("origin")?,
                address: address.and_then(|address| address.parse().ok()),
            },
            action: row.value("action")?,
            target: row.value("target")?,
            details: row.value("details")?,
        },
        count: row.value("count")?,
    })
}

pub(super) fn read_usage_counts(row: &dyn Columns) -> ColumnResult<UsageCounts> {
    Ok(UsageCounts {
        requests: row.value("requests")?,
        units: row.value("units")?,
        rate_limited: row.value("rate_limited")?,
        unauthenticated: row.value("unauthenticated")?,
        forbidden: row.value("forbidden")?,
        rejected: row.value("rejected")?,
        errors: row.value("errors")?,
    })
}

pub(crate) fn read_idempotency_record(row: &dyn Columns) -> ColumnResult<IdempotencyRecord> {
    let has_ended: bool = row.value("ended")?;
    Ok(IdempotencyRecord {
        fingerprint: row.value("request")?,
        started_at: row.value("began_at")?,
        progress: if has_ended {
            read_response(row)?.into()
        } else {
            IdempotencyProgress::InProgress
        },
    })
}

/// Returns `None` for an unknown outcome, which has no status.
fn read_response(row: &dyn Columns) -> ColumnResult<Option<StoredResponse>> {
    let Some(status) = row.optional("status")? else {
        return Ok(None);
    };
    let body: Vec<u8> = row.value("body")?;
    Ok(Some(StoredResponse {
        status,
        location: row.optional("location")?,
        body: body.into(),
        resource: ResourceIds {
            forum_id: row.optional("forum_id")?,
            thread_id: row.optional("thread_id")?,
            post_id: row.optional("post_id")?,
        },
    }))
}

pub(crate) fn read_endpoint(row: &dyn Columns) -> ColumnResult<Endpoint> {
    let pending_secret = row.optional("pending_secret")?;
    let pending_from = row.optional("pending_from")?;
    let pending_secret = pending_secret.zip(pending_from);
    Ok(Endpoint {
        id: row.value("id")?,
        url: row.value("url")?,
        topics: row.value("topics")?,
        owner: row.value("owner")?,
        enabled: row.value("enabled")?,
        created_at: row.value("created_at")?,
        secret: row.value("secret")?,
        pending_secret: pending_secret
            .map(|(secret, activates_at)| PendingSecret { secret, activates_at }),
        version: row.value("version")?,
        failing_since: row.optional("failing_since")?,
        is_slow: row.value("is_slow")?,
        auto_disabled: row.value("auto_disabled")?,
    })
}

pub(crate) fn read_delivery_count(row: &dyn Columns) -> ColumnResult<DeliveryCount> {
    Ok(DeliveryCount {
        hours_ago: row.value("hours_ago")?,
        endpoint_id: row.value("endpoint")?,
        state: row.value("state")?,
        count: row.value("count")?,
    })
}

pub(crate) fn read_endpoint_stats(row: &dyn Columns) -> ColumnResult<EndpointStats> {
    let last_id = row.optional("last")?;
    let state = row.optional("state")?;
    let attempted_at = row.optional("at")?;
    let status = row.optional("status")?;
    let last = last_id.zip(state).zip(attempted_at);
    Ok(EndpointStats {
        endpoint_id: row.value("id")?,
        delivered: row.value("delivered")?,
        failed: row.value("failed")?,
        last: last.map(|((id, state), attempted_at)| LastDelivery {
            id,
            state,
            attempted_at,
            status,
        }),
    })
}

pub(crate) fn read_queue_stats(row: &dyn Columns) -> ColumnResult<QueueStats> {
    Ok(QueueStats {
        depth: row.value("depth")?,
        oldest_age: row.optional("oldest_age")?,
        dead: row.value("dead")?,
        disabled_endpoints: row.value("disabled_endpoints")?,
        retrying: row.value("retrying")?,
        latest_retry_at: row.optional("latest_retry_at")?,
    })
}

pub(crate) fn read_delivery(row: &dyn Columns) -> ColumnResult<Delivery> {
    Ok(Delivery {
        id: row.value("id")?,
        event_id: row.value("event")?,
        topic: row.value("topic")?,
        endpoint_id: row.value("endpoint")?,
        created_at: row.value("created_at")?,
        progress: DeliveryProgress {
            state: row.value("state")?,
            attempts: row.value("attempts")?,
            due_at: row.optional("due_at")?,
        },
    })
}

pub(super) fn read_attempt(row: &dyn Columns) -> ColumnResult<AttemptRecord> {
    Ok(AttemptRecord {
        attempt: row.value("attempt")?,
        started_at: row.value("at")?,
        status: row.optional("status")?,
        error: row
            .optional("error")?
            .map(|reason| Ok(TransportError { reason, sent: row.value("sent")? }))
            .transpose()?,
        duration_ms: row.value("duration_ms")?,
        response_excerpt: row.optional("answer")?,
        request_headers: row.optional("request_headers")?,
        response_headers: row.optional("response_headers")?,
    })
}

pub(super) fn read_event(row: &dyn Columns) -> ColumnResult<Event> {
    Ok(Event {
        id: row.value("id")?,
        topic: row.value("topic")?,
        occurred_at: row.value("occurred_at")?,
        forum_id: row.optional("forum")?,
        request_id: row.optional("request_id")?,
        body: row.value("body")?,
    })
}

/// Reads the event of a delivery from the columns `occurred_at`, `forum`, `request_id` and `body`.
pub(crate) fn read_claimed_event(row: &dyn Columns, delivery: &Delivery) -> ColumnResult<Event> {
    Ok(Event {
        id: delivery.event_id.clone(),
        topic: delivery.topic.clone(),
        occurred_at: row.value("occurred_at")?,
        forum_id: row.optional("forum")?,
        request_id: row.optional("request_id")?,
        body: row.value("body")?,
    })
}

/// Logs and counts a row that cannot be decoded and is skipped.
pub(crate) fn report_unreadable(table: &'static str, id: &str, reason: &str) {
    // The id can be malformed, and as long as the row.
    let id: String = id.chars().take(64).collect();
    crate::metrics::recorder::record_unreadable_row(table);
    tracing::error!(table, id, reason, "failed to decode row; row skipped");
}
