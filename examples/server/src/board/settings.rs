//! The board's settings. Each is a row of the table `setting`; a change takes effect at once.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::time::Duration;

use forum_api::model::Timestamp;
use forum_api::{BoardDescription, async_trait};
use serde_json::Value;

use super::db::{Connection, DbResult, Row, Transaction, bind};
use super::edit_rules::EditWindow;

/// A setting of the board.
#[derive(Debug)]
pub struct Setting<T> {
    pub key: &'static str,
    pub default: T,
    min: T,
    /// The largest value for which all commands work on SQLite and on Postgres.
    pub max: T,
    description: &'static str,
}

/// Largest length of a text in characters. The body of a request has at most 1 MiB.
const MAX_LENGTH: u32 = 1_000_000;
/// Largest interval in seconds: a year.
const MAX_SECONDS: u32 = 31_536_000;
/// Largest limit of a number per hour, per day or per inbox.
const MAX_LIMIT: u32 = 1_000_000_000;
/// Largest number of items that one command writes or reads at once.
const MAX_ITEMS: u32 = 1_000;

/// Declares settings: the type, the key, the default, the range of the values, and the description.
macro_rules! settings {
    ($($name:ident: $type:ty = $key:literal, $default:expr, $min:expr, $max:expr; $description:literal)+) => {
        $(pub const $name: Setting<$type> = Setting {
            key: $key,
            default: $default,
            min: $min,
            max: $max,
            description: $description,
        };)+

        const ALL: &[&dyn AnySetting] = &[$(&$name),+];
    };
}

settings! {
    TITLE_MAX: u32 = "thread.title_max", 120, 1, MAX_LENGTH;
        "Maximum length of thread titles, message subjects, poll questions, poll options and edit reasons, in characters"
    BODY_MAX: u32 = "post.body_max", 20_000, 1, MAX_LENGTH;
        "Maximum length of posts, messages and rating comments, in characters"
    POST_INTERVAL: u32 = "post.interval_seconds", 15, 0, MAX_SECONDS;
        "Minimum time between two posts of a member who is not staff, in seconds; 0 for no minimum"
    POSTS_PER_HOUR: u32 = "post.per_hour", 60, 1, MAX_LIMIT;
        "Maximum number of posts of a member per hour"
    EDITS_PER_HOUR: u32 = "post.edits_per_hour", 60, 1, MAX_LIMIT;
        "Maximum number of edits of posts and polls per hour by a member who is not staff"
    EDIT_WINDOW: EditWindow = "post.edit_window_minutes", EditWindow::Minutes(30), EditWindow::Minutes(0), EditWindow::Unlimited;
        "Time in which an author may edit and delete a post, in minutes, or unlimited; 0 forbids both"
    RECIPIENTS_MAX: u32 = "message.recipients_max", 5, 1, MAX_ITEMS;
        "Maximum number of recipients of a message"
    MESSAGES_PER_HOUR: u32 = "message.per_hour", 20, 1, MAX_LIMIT;
        "Maximum number of messages of a member per hour"
    INBOX_QUOTA: u32 = "message.inbox_quota", 100, 1, MAX_LIMIT;
        "Maximum number of unread messages in an inbox, not counting receipts"
    ALLOW_NEGATIVE: bool = "reputation.allow_negative", false, false, true;
        "true allows ratings with negative points"
    ALLOW_EMPTY_COMMENT: bool = "reputation.allow_empty_comment", false, false, true;
        "true allows ratings without a comment"
    MAX_POINTS: u32 = "reputation.max_points", 5, 1, 1_000_000;
        "Maximum absolute value of the points of a rating"
    RATINGS_PER_DAY: u32 = "reputation.per_day", 10, 1, MAX_LIMIT;
        "Maximum number of ratings by a member per day"
    OPTIONS_MAX: u32 = "poll.options_max", 20, 2, MAX_ITEMS;
        "Maximum number of options of a poll"
    MAX_RANKED_MATCHES: u32 = "search.max_ranked_matches", 1_000, 1, 10 * MAX_ITEMS;
        "Number of the newest matches that a search ranks by relevance"
}

impl<T: SettingType> Setting<T> {
    pub async fn get(&self, connection: &Connection<'_>) -> DbResult<T> {
        let find = "SELECT value FROM setting WHERE key = ?1";
        let read = |row: &Row<'_>| Ok(self.read(row.text("value")?));
        let value = connection.first(find, bind![self.key], read).await?;
        Ok(value.unwrap_or(self.default))
    }

    /// Parses a stored value. Returns the default if the value is missing or invalid.
    pub fn read(&self, stored: Option<&str>) -> T {
        stored
            .and_then(|value| value.parse().ok())
            .unwrap_or(self.default)
    }
}

/// All stored settings at one time.
#[derive(Debug, Default)]
pub struct SettingValues(HashMap<String, String>);

impl SettingValues {
    pub async fn load(connection: &Connection<'_>) -> DbResult<Self> {
        let read = |row: &Row<'_>| Ok((row.value("key")?, row.value("value")?));
        let stored = connection
            .all("SELECT key, value FROM setting", &[], read)
            .await?;
        Ok(Self(stored.into_iter().collect()))
    }

    /// Column that [`read`](Self::read) expects: a line for each stored setting, or null.
    pub const COLUMN: &str =
        "(SELECT string_agg(key || '=' || value, '\n') FROM setting) AS settings";

    pub fn read(row: &Row<'_>) -> DbResult<Self> {
        let lines = row.text("settings")?.unwrap_or_default().lines();
        let stored = lines.filter_map(|line| line.split_once('='));
        let stored = stored.map(|(key, value)| (key.into(), value.into()));
        Ok(Self(stored.collect()))
    }

    pub fn of<T: SettingType>(&self, setting: &Setting<T>) -> T {
        setting.read(self.0.get(setting.key).map(String::as_str))
    }

    /// Describes the board in the OpenAPI document.
    pub fn describe(&self) -> BoardDescription {
        let interval = self.of(&POST_INTERVAL);
        let mut board = BoardDescription::default();
        board.markup = "Markdown (CommonMark without HTML)".into();
        board.title_max = Some(self.of(&TITLE_MAX));
        board.body_max = Some(self.of(&BODY_MAX));
        board.post_interval = (interval > 0).then(|| Duration::from_secs(interval.into()));
        board.notes = "The operators of the board can change these limits.".into();
        board
    }
}

/// Type of a setting's value.
pub trait SettingType:
    Copy + Debug + Display + FromStr + Into<Value> + PartialOrd + Send + Sync
{
    /// Describes the values from `min` to `max`.
    fn rule(min: Self, max: Self) -> String;
}

impl SettingType for u32 {
    fn rule(min: Self, max: Self) -> String {
        format!("a whole number from {min} to {max}")
    }
}

impl SettingType for bool {
    fn rule(_: Self, _: Self) -> String {
        "true or false".into()
    }
}

impl SettingType for EditWindow {
    fn rule(min: Self, max: Self) -> String {
        format!("a whole number from {min} to {}, or {max}", u32::MAX)
    }
}

/// A setting of any type.
#[async_trait]
pub trait AnySetting: Sync {
    fn key(&self) -> &'static str;

    /// Describes the setting with its unit.
    fn description(&self) -> &'static str;

    fn rule(&self) -> String;

    async fn value(&self, connection: &Connection<'_>) -> DbResult<Value>;

    /// Sets a value. Returns `None` for an invalid one, and `Some(false)` if the setting has this value already.
    async fn set(&self, tx: &Transaction<'_>, text: &str) -> DbResult<Option<bool>>;
}

#[async_trait]
impl<T: SettingType> AnySetting for Setting<T> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn rule(&self) -> String {
        T::rule(self.min, self.max)
    }

    async fn value(&self, connection: &Connection<'_>) -> DbResult<Value> {
        self.get(connection).await.map(T::into)
    }

    async fn set(&self, tx: &Transaction<'_>, text: &str) -> DbResult<Option<bool>> {
        let unsigned = (!text.starts_with('+')).then_some(text);
        let value = unsigned
            .and_then(|text| text.parse().ok())
            .filter(|value: &T| (self.min..=self.max).contains(value));
        match value {
            Some(value) if value == self.get(tx).await? => Ok(Some(false)),
            Some(value) => put(tx, self.key, &value.to_string()).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Returns all settings with their values.
pub async fn all(connection: &Connection<'_>) -> DbResult<Vec<(&'static dyn AnySetting, Value)>> {
    let mut values = Vec::new();
    for setting in ALL.iter().copied() {
        values.push((setting, setting.value(connection).await?));
    }
    Ok(values)
}

/// Returns the keys of all settings, separated by commas.
pub fn keys() -> String {
    let keys: Vec<_> = ALL.iter().map(|setting| setting.key()).collect();
    keys.join(", ")
}

pub fn named(key: &str) -> Option<&'static dyn AnySetting> {
    ALL.iter().copied().find(|setting| setting.key() == key)
}

/// Takes the board offline, with the time at which it is expected to be online again, or online. Returns `false` if the
/// board is already in this state.
pub async fn set_offline(
    tx: &Transaction<'_>,
    offline: bool,
    until: Option<Timestamp>,
) -> DbResult<bool> {
    if offline {
        let value = until.map_or("true".into(), |until| until.to_string());
        return put(tx, "board.offline", &value).await;
    }
    let delete = "DELETE FROM setting WHERE key = 'board.offline'";
    Ok(tx.execute(delete, &[]).await? > 0)
}

/// Returns whether the board is online, for people.
pub async fn availability(connection: &Connection<'_>) -> DbResult<String> {
    let find = "SELECT value FROM setting WHERE key = 'board.offline'";
    let until: Option<String> = connection
        .first(find, &[], |row| row.value("value"))
        .await?;
    Ok(match until.as_deref() {
        None => "online".into(),
        Some("true") => "offline".into(),
        Some(until) => format!("offline until {until}"),
    })
}

/// Stores a value. Returns `false` if this value is stored already.
async fn put(tx: &Transaction<'_>, key: &str, value: &str) -> DbResult<bool> {
    let put = "
        INSERT INTO setting (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE setting.value <> excluded.value";
    Ok(tx.execute(put, bind![key, value]).await? > 0)
}
