//! The parts of a server that its options determine.

use std::sync::Arc;

use deadpool_postgres::Pool;
use forum_api::host::BoardResult;
use forum_api::store::redis::RedisRateLimitStore;

use crate::connect::{self, DatabaseUrl};
use crate::keys::WebhookCipher;
use crate::options::{Common, ServeArgs};

/// Checked parts of a server, created before the database.
pub struct ServerParts {
    pub url: DatabaseUrl,
    pub replicas: Vec<Pool>,
    pub cipher: WebhookCipher,
    /// `None` for rate limits in memory.
    pub redis: Option<Arc<RedisRateLimitStore>>,
}

impl ServerParts {
    /// Checks the options, and whether a missing database can be created.
    pub async fn new(common: &Common, options: &ServeArgs) -> BoardResult<Self> {
        let key_file = options.webhooks.secret_key_file.as_deref();
        let url = DatabaseUrl::parse(&common.database, &options.connections, true)?;
        url.check_file(&common.database)?;
        let redis = match options.redis.as_deref() {
            Some(redis) => Some(connect::redis(redis, options.redis_timeout).await?),
            None => None,
        };
        Ok(Self {
            replicas: url.replicas(options)?,
            url,
            cipher: WebhookCipher::find(&common.database, key_file)?,
            redis,
        })
    }
}
