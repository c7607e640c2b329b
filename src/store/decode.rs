//! Encoders and decoders that the SQL backends share.

use std::sync::Arc;

use crate::model::{EventId, ForumId, Timestamp};
use crate::webhook::{Event, Topic};

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

/// Decoders of rows. The row type of a backend has the methods `value`, `number` and `optional_number`. They read the
/// column with the given name, or ignore the name and read the next column.
macro_rules! row_decoders {
    ($row:ty) => {
        pub(super) fn read_token(row: $row) -> Result<TokenRecord> {
            Ok(TokenRecord {
                lookup: row.value("lookup")?,
                digest: row.value("digest")?,
                owner: row.value("owner")?,
                label: row.value("label")?,
                scopes: row.value::<ScopeList>("scopes")?.0,
                created_at: row.value("created_at")?,
                expires_at: row.value("expires_at")?,
                revoked_at: row.value("revoked_at")?,
                last_used_at: row.value("last_used_at")?,
            })
        }

        pub(super) fn read_audit_record(row: $row) -> Result<AuditRecord> {
            Ok(AuditRecord {
                entry: AuditEntry {
                    id: row.value("id")?,
                    occurred_at: row.value("occurred_at")?,
                    actor: AuditActor {
                        user_id: row.value("actor")?,
                        system_user: row.value("system_user")?,
                        origin: row.value("origin")?,
                        address: {
                            let address: Option<String> = row.value("address")?;
                            address.and_then(|address| address.parse().ok())
                        },
                    },
                    action: row.value("action")?,
                    target: row.value("target")?,
                    details: row.value("details")?,
                },
                number: row.value("number")?,
                count: row.number("count")?,
            })
        }

        pub(super) fn read_usage_counts(row: $row) -> Result<UsageCounts> {
            Ok(UsageCounts {
                requests: row.number("requests")?,
                units: row.number("units")?,
                rate_limited: row.number("rate_limited")?,
                unauthenticated: row.number("unauthenticated")?,
                forbidden: row.number("forbidden")?,
                errors: row.number("errors")?,
            })
        }

        /// Returns `None` for an unknown outcome, which has no status.
        pub(super) fn read_response(row: $row) -> Result<Option<StoredResponse>> {
            let Some(status) = row.optional_number("status")? else {
                return Ok(None);
            };
            let location = row.value("location")?;
            let body: Vec<u8> = row.value("body")?;
            Ok(Some(StoredResponse {
                status,
                location,
                body: body.into(),
                resource: ResourceIds {
                    forum_id: row.value("forum_id")?,
                    thread_id: row.value("thread_id")?,
                    post_id: row.value("post_id")?,
                },
            }))
        }

        pub(super) fn read_endpoint(row: $row) -> Result<Endpoint> {
            Ok(Endpoint {
                id: row.value("id")?,
                url: row.value("url")?,
                topics: row.value("topics")?,
                owner: row.value("owner")?,
                enabled: row.value("enabled")?,
                created_at: row.value("created_at")?,
                secret: row.value("secret")?,
                pending_secret: {
                    let secret: Option<_> = row.value("pending_secret")?;
                    let activates_at: Option<_> = row.value("pending_from")?;
                    let pending = secret.zip(activates_at);
                    pending.map(|(secret, activates_at)| PendingSecret {
                        secret,
                        activates_at,
                    })
                },
                version: row.value("version")?,
                failing_since: row.value("failing_since")?,
                auto_disabled: row.value("auto_disabled")?,
            })
        }

        pub(super) fn read_endpoint_stats(row: $row) -> Result<EndpointStats> {
            Ok(EndpointStats {
                endpoint_id: row.value("id")?,
                delivered: row.number("delivered")?,
                failed: row.number("failed")?,
                last: {
                    let id: Option<_> = row.value("last")?;
                    let state: Option<_> = row.value("state")?;
                    let attempted_at: Option<_> = row.value("at")?;
                    let status = row.optional_number("status")?;
                    let last = id.zip(state).zip(attempted_at);
                    last.map(|((id, state), attempted_at)| LastDelivery {
                        id,
                        state,
                        attempted_at,
                        status,
                    })
                },
            })
        }

        pub(super) fn read_delivery(row: $row) -> Result<Delivery> {
            Ok(Delivery {
                id: row.value("id")?,
                event_id: row.value("event")?,
                topic: row.value("topic")?,
                endpoint_id: row.value("endpoint")?,
                created_at: row.value("created_at")?,
                progress: DeliveryProgress {
                    state: row.value("state")?,
                    attempts: row.number("attempts")?,
                    due_at: row.value("due_at")?,
                },
            })
        }

        /// Returns `None` for a delivery without attempts.
        pub(super) fn read_attempt(row: $row) -> Result<Option<AttemptRecord>> {
            let Some(attempt) = row.optional_number("attempt")? else {
                return Ok(None);
            };
            Ok(Some(AttemptRecord {
                attempt,
                started_at: row.value("at")?,
                status: row.optional_number("status")?,
                error: row.value("error")?,
                duration_ms: row.number("duration_ms")?,
                response_excerpt: row.value("answer")?,
                request_headers: row.value("request_headers")?,
                response_headers: row.value("response_headers")?,
            }))
        }
    };
}

/// Scopes of a token, stored as a JSON array.
#[derive(Debug)]
pub(crate) struct ScopeList(pub(crate) Arc<[String]>);

impl ScopeList {
    pub(crate) fn from_json(text: &str) -> serde_json::Result<Self> {
        let scopes: Vec<String> = serde_json::from_str(text)?;
        Ok(Self(scopes.into()))
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::json!(*self.0).to_string()
    }
}

/// Decodes an event. `Err` holds the reason if a column is malformed.
pub(crate) fn decode_event(
    id: &str,
    topic: &str,
    occurred_at: Timestamp,
    forum_id: Option<&str>,
    body: &str,
) -> Result<Event, &'static str> {
    let forum_id = forum_id.map(|id| ForumId::parse(id).map_err(|_| "the forum is malformed"));
    Ok(Event {
        id: EventId::parse(id).map_err(|_| "the id is malformed")?,
        topic: Topic::parse(topic).map_err(|_| "the topic is malformed")?,
        occurred_at,
        forum_id: forum_id.transpose()?,
        body: body.into(),
    })
}

/// Logs and counts a row that cannot be decoded and is skipped.
pub(crate) fn report_unreadable(table: &'static str, id: &str, reason: &str) {
    crate::metrics::recorder::record_unreadable_row(table);
    tracing::error!(table, id, reason, "failed to decode row; row skipped");
}
