//! The board's settings: a row each, and effective at once.

use rusqlite::{Connection, OptionalExtension, Result, Savepoint};

/// A whole number that an administrator may set.
#[derive(Debug)]
pub struct Setting {
    /// Its name.
    pub key: &'static str,
    default: u32,
    /// The least value that it takes.
    pub least: u32,
}

/// How many characters a thread's title, or a message's subject, may have.
pub const TITLE_MAX: Setting = Setting::new("thread.title_max", 120, 1);
/// How many characters a post, or a message, may have.
pub const BODY_MAX: Setting = Setting::new("post.body_max", 20_000, 1);
/// How many seconds have to pass between two posts of a member who is not staff; 0 for none.
pub const POST_INTERVAL: Setting = Setting::new("post.interval_seconds", 15, 0);
/// How many posts a member may write in an hour.
pub const POSTS_PER_HOUR: Setting = Setting::new("post.per_hour", 60, 1);
/// How many recipients a message may have.
pub const RECIPIENTS_MAX: Setting = Setting::new("message.recipients_max", 5, 1);
/// How many messages a member may send in an hour.
pub const MESSAGES_PER_HOUR: Setting = Setting::new("message.per_hour", 20, 1);
/// How many messages an inbox has room for, receipts aside.
pub const INBOX_QUOTA: Setting = Setting::new("message.inbox_quota", 100, 1);

const ALL: [Setting; 7] = [
    TITLE_MAX,
    BODY_MAX,
    POST_INTERVAL,
    POSTS_PER_HOUR,
    RECIPIENTS_MAX,
    MESSAGES_PER_HOUR,
    INBOX_QUOTA,
];

impl Setting {
    const fn new(key: &'static str, default: u32, least: u32) -> Self {
        Self {
            key,
            default,
            least,
        }
    }

    /// Its value now.
    pub fn get(&self, connection: &Connection) -> Result<u32> {
        let mut query = connection.prepare_cached("SELECT value FROM setting WHERE key = ?1")?;
        let value: Option<String> = query.query_row([self.key], |row| row.get(0)).optional()?;
        Ok(value
            .and_then(|value| value.parse().ok())
            .unwrap_or(self.default))
    }

    /// Sets it to what `text` says; `None` when that is not a value for it, and nothing is changed.
    pub fn set(&self, tx: &Savepoint<'_>, text: &str) -> Result<Option<()>> {
        let value = text.parse().ok().filter(|value| *value >= self.least);
        value
            .map(|value: u32| put(tx, self.key, &value.to_string()))
            .transpose()
    }
}

/// All settings with their values now.
pub fn all(connection: &Connection) -> Result<Vec<(&'static str, u32)>> {
    let values = ALL
        .iter()
        .map(|setting| Ok((setting.key, setting.get(connection)?)));
    values.collect()
}

/// The setting of this name.
pub fn named(key: &str) -> Option<Setting> {
    ALL.into_iter().find(|setting| setting.key == key)
}

/// Takes the board offline, or online again.
pub fn set_offline(tx: &Savepoint<'_>, offline: bool) -> Result<()> {
    if offline {
        return put(tx, "board.offline", "true");
    }
    tx.execute("DELETE FROM setting WHERE key = 'board.offline'", [])?;
    Ok(())
}

fn put(tx: &Savepoint<'_>, key: &str, value: &str) -> Result<()> {
    tx.execute(
        "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value",
        [key, value],
    )?;
    Ok(())
}
