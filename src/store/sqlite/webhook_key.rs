//! Replacement of the key that encrypts the secrets of endpoints.

use rusqlite::{Connection, params, params_from_iter};

use super::execute::{Result, change, change_audited, first};
use crate::audit::AuditEntry;
use crate::store::sql::endpoints::{self, KEY_ID, UPDATE};
use crate::webhook::{Endpoint, KeyId};

const VERSION: &str = "SELECT version FROM forum_api_endpoints WHERE id = ?1";

const SET: &str = "
    INSERT INTO forum_api_webhook_key (only_row, key_id) VALUES (1, ?1)
    ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id";

/// Returns `false`, and changes nothing, if the key is not `former` or an endpoint has another version.
pub(super) fn replace(
    connection: &Connection,
    former: Option<&KeyId>,
    key: &KeyId,
    endpoints: &[Endpoint],
    audit: Option<&AuditEntry>,
) -> Result<bool> {
    let stored: Option<KeyId> = first(connection, KEY_ID, [], |row| row.value("key_id"))?;
    if stored.as_ref() != former {
        return Ok(false);
    }
    for endpoint in endpoints {
        let version = first(connection, VERSION, params![endpoint.id], |row| row.value("version"))?;
        if version != Some(endpoint.version) {
            return Ok(false);
        }
    }
    match audit {
        Some(audit) => change_audited(connection, SET, [key], audit).map(drop)?,
        None => change(connection, SET, [key]).map(drop)?,
    }
    for endpoint in endpoints {
        let values = params_from_iter(endpoints::values(endpoint));
        change(connection, UPDATE, values)?;
    }
    Ok(true)
}
