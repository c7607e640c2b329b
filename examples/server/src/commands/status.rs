//! Command `status`.

use std::path::{Path, PathBuf};

use clap::Args;
use forum_api::host::BoardResult;
use forum_api::runtime::{Clock, SystemClock};
use forum_api::store::SchemaStatus;
use forum_api::webhook::KeyId;
use serde_json::json;

use super::webhook::listings;
use crate::board::db::{BoardDatabase, ReadKind};
use crate::board::listings::nodes_of_postgres;
use crate::board::{ReferenceBoard, settings};
use crate::connect;
use crate::database_lock::{DatabaseLock, Node, running_nodes};
use crate::keys::WebhookCipher;
use crate::options::{NODE, without_password};
use crate::output::{Output, Table, counted, labelled};

/// Shows the state of the database, the key, the queue of deliveries, failing endpoints and running servers.
#[derive(Debug, Args)]
pub struct StatusCommand {
    /// File of the key that encrypts webhook secrets [default with SQLite: the path of the database followed by .key]
    #[arg(long, value_name = "PATH")]
    secret_key_file: Option<PathBuf>,
}

impl StatusCommand {
    pub async fn run(self, url: &str) -> BoardResult<Output> {
        let _lock = DatabaseLock::shared(url)?;
        let board = connect::open_unmigrated(url).await?;
        let shown = self.show(url, &board).await;
        board.database.close().await;
        shown
    }

    async fn show(self, url: &str, board: &ReferenceBoard) -> BoardResult<Output> {
        let database = &board.database;
        let shown_url = without_password(url);
        let library = database.library_schema_status().await?;
        let schemas = [library, board.schema_status().await?];
        let migrations = if schemas.contains(&SchemaStatus::Newer) {
            "the schema is newer than this program".to_owned()
        } else if schemas.contains(&SchemaStatus::Pending) {
            let pending = board.pending_migrations().await?;
            format!("pending: {}; run `migrate`", pending.join(", "))
        } else {
            "up to date".to_owned()
        };
        let mut pairs = vec![
            ("program", NODE.to_owned()),
            ("database", shown_url.clone()),
            ("migrations", migrations.clone()),
        ];
        if schemas.contains(&SchemaStatus::Pending) {
            let json = json!({ "program": NODE, "database": shown_url, "migrations": migrations });
            return Output::new(labelled(&pairs), json);
        }
        let availability =
            board.read_short(|connection| Box::pin(settings::availability(connection))).await?;
        let key = describe_key(url, self.secret_key_file.as_deref(), database).await?;
        let webhooks = database.webhooks();
        let queue = webhooks.queue_stats(SystemClock.now()).await?;
        let age = queue.oldest_age.unwrap_or_default().as_secs();
        let mut failing = listings(&webhooks, board).await?;
        failing.retain(|endpoint| endpoint.failing_since.is_some());
        let nodes = find_nodes(url, database).await?;
        let queued = match queue.oldest_age {
            Some(_) => format!("{} due, the oldest for {age} s", queue.depth),
            None => format!("{} due", queue.depth),
        };
        pairs.extend([
            ("board", availability.clone()),
            ("key", key.clone()),
            ("queue", queued),
            ("dead", counted(queue.dead, "delivery", "deliveries")),
            ("disabled", counted(queue.disabled_endpoints, "endpoint", "endpoints")),
            ("failing", counted(failing.len() as u64, "endpoint", "endpoints")),
        ]);
        if nodes.is_empty() {
            pairs.push(("nodes", "none".into()));
        }
        for (index, node) in nodes.iter().enumerate() {
            let label = if index == 0 { "nodes" } else { "" };
            let Node { version, process, address } = node;
            pairs.push((label, format!("{version} at {address}, process {process}")));
        }
        let mut text = labelled(&pairs);
        if !failing.is_empty() {
            text += &format!("\n{}", Table::of(&failing));
        }
        let failing = failing.iter().map(|endpoint| {
            json!({
                "id": endpoint.id,
                "url": endpoint.url,
                "failingSince": endpoint.failing_since,
                "lastStatus": endpoint.last.as_ref().and_then(|last| last.status),
            })
        });
        let json = json!({
            "program": NODE,
            "database": shown_url,
            "migrations": migrations,
            "board": availability,
            "key": key,
            "queue": {
                "due": queue.depth,
                "oldestSeconds": age,
                "dead": queue.dead,
                "disabledEndpoints": queue.disabled_endpoints,
            },
            "failingEndpoints": failing.collect::<Vec<_>>(),
            "nodes": nodes,
        });
        Output::new(text, json)
    }
}

/// Compares the key file with the recorded key.
async fn describe_key(
    url: &str,
    option: Option<&Path>,
    database: &BoardDatabase,
) -> BoardResult<String> {
    let Some(recorded) = database.webhooks().key_id().await? else {
        return Ok("none recorded".into());
    };
    let found = WebhookCipher::find(url, option).map(|cipher| cipher.0.key_id());
    Ok(match found {
        _ if recorded == KeyId::plaintext() => "none; the webhook secrets are in plain text".into(),
        Ok(found) if found == recorded => recorded.to_string(),
        Ok(found) if found != KeyId::plaintext() => {
            format!("{recorded}, but the key file contains {found}")
        }
        _ => format!("{recorded}, whose file this command does not have"),
    })
}

/// Returns the running servers and workers.
async fn find_nodes(url: &str, database: &BoardDatabase) -> BoardResult<Vec<Node>> {
    if matches!(database, BoardDatabase::Sqlite(_)) {
        return Ok(running_nodes(url));
    }
    database.read(ReadKind::One, |connection| Box::pin(nodes_of_postgres(connection))).await
}
