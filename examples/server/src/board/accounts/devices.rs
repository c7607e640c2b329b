//! Key that signs the cookies of browsers that have signed in. It is created with the first sign-in.

use forum_api::host::{BoardError, BoardResult};

use crate::board::db::{Connection, Transaction, bind};

/// The key.
pub type DeviceKey = [u8; 32];

/// Returns the key; `None` before the first sign-in.
pub async fn key(connection: &Connection<'_>) -> BoardResult<Option<DeviceKey>> {
    let find = "SELECT key FROM sign_in_key";
    let key: Option<Vec<u8>> = connection.first(find, &[], |row| row.value("key")).await?;
    Ok(key.and_then(|key| key.try_into().ok()))
}

/// Returns the key. Stores `new` if there is no key.
pub async fn key_or(tx: &Transaction<'_>, new: DeviceKey) -> BoardResult<DeviceKey> {
    let insert = "INSERT INTO sign_in_key (only_row, key) VALUES (1, ?1) ON CONFLICT DO NOTHING";
    tx.execute(insert, bind![new.as_slice()]).await?;
    key(tx)
        .await?
        .ok_or_else(|| BoardError::internal("the key of the sign-in cookies is malformed"))
}
