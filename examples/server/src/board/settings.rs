//! The board's settings. Each is a row of the table `setting`; a change takes effect at once.

use std::collections::HashMap;
use std::time::Duration;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::BoardDescription;
use forum_api::host::{BackendResult, BoardResult};
use forum_api::model::Timestamp;
use forum_api::runtime::{OsRandom, RandomSource};
use serde_json::Value;

use super::db::{Connection, Row, Transaction, bind};

/// A setting of the board. Its value is a number.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    kind: Kind,
    pub default: i64,
    min: i64,
    /// The largest value for which all commands work on SQLite and on Postgres.
    pub max: i64,
    /// The meaning of the setting, with its unit.
    pub description: &'static str,
}

/// Texts of a setting's values.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Number,
    /// 0 is `false`, and 1 is `true`.
    Flag,
    /// A number, or [`UNLIMITED`].
    Minutes,
}

/// Value that is larger than each number, with the text `unlimited`.
pub const UNLIMITED: i64 = i64::MAX;

/// Largest length of a text in characters. The body of a request has at most 1 MiB.
const MAX_LENGTH: i64 = 1_000_000;
/// Largest interval in seconds: a year.
const MAX_SECONDS: i64 = 31_536_000;
/// Largest limit of a number per hour, per day or per inbox.
const MAX_LIMIT: i64 = 1_000_000_000;
/// Largest number of items that one command writes or reads at once.
const MAX_ITEMS: i64 = 1_000;

/// Declares settings: the kind, the key, the default, the range of the values, and the description.
macro_rules! settings {
    ($($name:ident: $kind:ident = $key:literal, $default:expr, $min:expr, $max:expr; $description:literal)+) => {
        $(pub const $name: Setting = Setting {
            key: $key,
            kind: Kind::$kind,
            default: $default,
            min: $min,
            max: $max,
            description: $description,
        };)+

        const ALL: &[&Setting] = &[$(&$name),+];
    };
}

settings! {
    TITLE_MAX: Number = "thread.title_max", 120, 1, MAX_LENGTH;
        "Maximum length of thread titles, message subjects, poll questions, poll options and edit reasons, in characters"
    BODY_MAX: Number = "post.body_max", 20_000, 1, MAX_LENGTH;
        "Maximum length of posts, messages and rating comments, in characters"
    POST_INTERVAL: Number = "post.interval_seconds", 15, 0, MAX_SECONDS;
        "Minimum time between two posts of a member who is not staff, in seconds; 0 for no minimum"
    POSTS_PER_HOUR: Number = "post.per_hour", 60, 1, MAX_LIMIT;
        "Maximum number of posts of a member per hour"
    EDITS_PER_HOUR: Number = "post.edits_per_hour", 60, 1, MAX_LIMIT;
        "Maximum number of edits of posts and polls per hour by a member who is not staff"
    EDIT_WINDOW: Minutes = "post.edit_window_minutes", 30, 0, UNLIMITED;
        "Time in which an author may edit and delete a post, in minutes, or unlimited; 0 forbids both"
    RECIPIENTS_MAX: Number = "message.recipients_max", 5, 1, MAX_ITEMS;
        "Maximum number of recipients of a message"
    MESSAGES_PER_HOUR: Number = "message.per_hour", 20, 1, MAX_LIMIT;
        "Maximum number of messages of a member per hour"
    INBOX_QUOTA: Number = "message.inbox_quota", 100, 1, MAX_LIMIT;
        "Maximum number of unread messages in an inbox, not counting receipts"
    ALLOW_NEGATIVE: Flag = "reputation.allow_negative", 0, 0, 1;
        "true allows ratings with negative points"
    ALLOW_EMPTY_COMMENT: Flag = "reputation.allow_empty_comment", 0, 0, 1;
        "true allows ratings without a comment"
    MAX_POINTS: Number = "reputation.max_points", 5, 1, 1_000_000;
        "Maximum absolute value of the points of a rating"
    RATINGS_PER_DAY: Number = "reputation.per_day", 10, 1, MAX_LIMIT;
        "Maximum number of ratings by a member per day"
    OPTIONS_MAX: Number = "poll.options_max", 20, 2, MAX_ITEMS;
        "Maximum number of options of a poll"
    MAX_RANKED_MATCHES: Number = "search.max_ranked_matches", 1_000, 1, 10 * MAX_ITEMS;
        "Number of the newest matches that a search ranks by relevance"
}

impl Setting {
    pub async fn get(&self, connection: &Connection<'_>) -> BoardResult<i64> {
        let find = "SELECT value FROM setting WHERE key = ?1";
        let read = |row: &Row<'_>| Ok(self.read(row.text("value")?));
        let value = connection.first(find, bind![self.key], read).await?;
        Ok(value.unwrap_or(self.default))
    }

    /// Parses a stored value. Returns the default if the value is missing or invalid.
    pub fn read(&self, stored: Option<&str>) -> i64 {
        stored.and_then(|text| self.parse(text)).unwrap_or(self.default)
    }

    fn parse(&self, text: &str) -> Option<i64> {
        match (self.kind, text) {
            (Kind::Flag, "false") => Some(0),
            (Kind::Flag, "true") => Some(1),
            (Kind::Flag, _) => None,
            (Kind::Minutes, "unlimited") => Some(UNLIMITED),
            _ => text.parse::<u32>().ok().map(i64::from),
        }
    }

    /// Returns a value as JSON: a number, a boolean or a text.
    pub fn json(&self, value: i64) -> Value {
        match (self.kind, value) {
            (Kind::Flag, _) => (value != 0).into(),
            (Kind::Minutes, UNLIMITED) => "unlimited".into(),
            _ => value.into(),
        }
    }

    /// Returns a value as it is stored and shown.
    pub fn text(&self, value: i64) -> String {
        match self.json(value) {
            Value::String(word) => word,
            value => value.to_string(),
        }
    }

    /// Describes the valid values.
    pub fn rule(&self) -> String {
        let (min, max) = (self.min, self.max);
        match self.kind {
            Kind::Number => format!("a whole number from {min} to {max}"),
            Kind::Flag => "true or false".into(),
            Kind::Minutes => format!("a whole number from {min} to {}, or unlimited", u32::MAX),
        }
    }

    /// Sets a value. Returns `None` for an invalid one, and `Some(false)` if the setting has this value already.
    pub async fn set(&self, tx: &Transaction<'_>, text: &str) -> BoardResult<Option<bool>> {
        let parsed = if text.starts_with('+') { None } else { self.parse(text) };
        match parsed.filter(|value| (self.min..=self.max).contains(value)) {
            Some(value) if value == self.get(tx).await? => Ok(Some(false)),
            Some(value) => put(tx, self.key, &self.text(value)).await.map(Some),
            None => Ok(None),
        }
    }
}

/// All stored settings at one time.
#[derive(Debug, Default)]
pub struct SettingValues(HashMap<String, String>);

impl SettingValues {
    /// Reads the column `settings`: a line for each stored setting, or null.
    pub fn read(row: &Row<'_>) -> BackendResult<Self> {
        let lines = row.text("settings")?.unwrap_or_default().lines();
        let stored = lines.filter_map(|line| line.split_once('='));
        Ok(Self(stored.map(|(key, value)| (key.into(), value.into())).collect()))
    }

    pub fn of(&self, setting: &Setting) -> i64 {
        setting.read(self.0.get(setting.key).map(String::as_str))
    }

    /// Returns the value of an offline board: the time at which it is expected to be online again, or `true`.
    pub fn offline(&self) -> Option<&str> {
        self.0.get("board.offline").map(String::as_str)
    }

    pub fn is_true(&self, flag: &Setting) -> bool {
        self.of(flag) != 0
    }

    /// Describes the board in the OpenAPI document.
    pub fn describe(&self) -> BoardDescription {
        let interval = self.of(&POST_INTERVAL);
        let mut board = BoardDescription::default();
        board.markup = "Markdown (CommonMark without HTML)".into();
        board.title_max = u32::try_from(self.of(&TITLE_MAX)).ok();
        board.body_max = u32::try_from(self.of(&BODY_MAX)).ok();
        board.post_interval = (interval > 0).then(|| Duration::from_secs(interval.unsigned_abs()));
        board.license = "MIT OR Apache-2.0".into();
        let [options, recipients, points, matches, posts, messages, edits, ratings, unread] = [
            OPTIONS_MAX,
            RECIPIENTS_MAX,
            MAX_POINTS,
            MAX_RANKED_MATCHES,
            POSTS_PER_HOUR,
            MESSAGES_PER_HOUR,
            EDITS_PER_HOUR,
            RATINGS_PER_DAY,
            INBOX_QUOTA,
        ]
        .map(|setting| self.of(&setting));
        let edit_window = match self.of(&EDIT_WINDOW) {
            0 => "An author cannot edit or delete a post.".into(),
            UNLIMITED => "An author can edit and delete a post at any time.".into(),
            minutes => {
                format!("Time in which an author can edit and delete a post: {minutes} min.")
            }
        };
        let comment_rule =
            if self.is_true(&ALLOW_EMPTY_COMMENT) { "" } else { " A rating needs a comment." };
        let points_rule = if self.is_true(&ALLOW_NEGATIVE) {
            ""
        } else {
            " The points of a rating are positive."
        };
        board.notes = format!(
            "Limits of this board: options of a poll: {options}; recipients of a message: {recipients}; points of a \
             rating, without the sign: {points}; newest matches that a search ranks by relevance: {matches}; unread messages \
             of an inbox, without receipts: {unread}. For each member: posts per hour: {posts}; messages per hour: \
             {messages}; ratings per day: {ratings}; edits per hour, except staff: {edits}. \
             {edit_window}{comment_rule}{points_rule} The operators of the board can change these limits."
        );
        board
    }
}

/// Returns all settings with their values.
pub async fn all(connection: &Connection<'_>) -> BoardResult<Vec<(&'static Setting, i64)>> {
    let mut values = Vec::new();
    for setting in ALL.iter().copied() {
        values.push((setting, setting.get(connection).await?));
    }
    Ok(values)
}

/// Returns the keys of all settings, separated by commas.
pub fn keys() -> String {
    let all: Vec<_> = ALL.iter().map(|setting| setting.key).collect();
    all.join(", ")
}

pub fn find(key: &str) -> Option<&'static Setting> {
    ALL.iter().copied().find(|setting| setting.key == key)
}

/// Key of the id of the board, which its backups and copies have as well.
pub const BOARD_ID: &str = "board.id";

/// Gives a new board a random id.
pub async fn set_board_id(tx: &Transaction<'_>) -> BoardResult<()> {
    let mut id = [0; 16];
    OsRandom.fill(&mut id)?;
    put(tx, BOARD_ID, &BASE64_URL_SAFE_NO_PAD.encode(id)).await.map(drop)
}

/// Key of the public URL of the server that was started last.
const BASE_URL: &str = "board.base_url";

/// Returns the URL that [`set_base_url`] last recorded; `None` if no server has recorded one.
pub async fn base_url(connection: &Connection<'_>) -> BoardResult<Option<String>> {
    let find = "SELECT value FROM setting WHERE key = ?1";
    connection.first(find, bind![BASE_URL], |row| row.value("value")).await
}

/// Records the public URL of a server.
pub async fn set_base_url(tx: &Transaction<'_>, url: &str) -> BoardResult<()> {
    put(tx, BASE_URL, url).await.map(drop)
}

/// Takes the board offline, with the time at which it is expected to be online again, or online. Returns `false` if the
/// board is already in this state.
pub async fn set_offline(
    tx: &Transaction<'_>,
    offline: bool,
    until: Option<Timestamp>,
) -> BoardResult<bool> {
    if offline {
        let value = until.map_or("true".into(), |until| until.to_string());
        return put(tx, "board.offline", &value).await;
    }
    let delete = "DELETE FROM setting WHERE key = 'board.offline'";
    Ok(tx.execute(delete, &[]).await? > 0)
}

/// Text of [`availability`] for a board that is online.
pub const ONLINE: &str = "online";

/// Returns whether the board is online, for people.
pub async fn availability(connection: &Connection<'_>) -> BoardResult<String> {
    let find = "SELECT value FROM setting WHERE key = 'board.offline'";
    let until: Option<String> = connection.first(find, &[], |row| row.value("value")).await?;
    Ok(match until.as_deref() {
        None => ONLINE.into(),
        Some("true") => "offline".into(),
        Some(until) => format!("offline, expected back at {until}"),
    })
}

/// Stores a value. Returns `false` if this value is stored already.
async fn put(tx: &Transaction<'_>, key: &str, value: &str) -> BoardResult<bool> {
    let upsert = "
        INSERT INTO setting (key, value) VALUES (?1, ?2)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE setting.value <> excluded.value";
    Ok(tx.execute(upsert, bind![key, value]).await? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_has_the_value_of_each_limit() {
        let values = [
            ("poll.options_max", "11"),
            ("message.recipients_max", "12"),
            ("reputation.max_points", "13"),
            ("search.max_ranked_matches", "20"),
            ("message.inbox_quota", "14"),
            ("post.per_hour", "15"),
            ("message.per_hour", "16"),
            ("reputation.per_day", "17"),
            ("post.edits_per_hour", "18"),
            ("post.edit_window_minutes", "19"),
        ];
        let texts = values.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let notes = SettingValues(HashMap::from(texts)).describe().notes;
        for limit in [
            "options of a poll: 11;",
            "recipients of a message: 12;",
            "without the sign: 13;",
            "ranks by relevance: 20;",
            "without receipts: 14.",
            "posts per hour: 15;",
            "messages per hour: 16;",
            "ratings per day: 17;",
            "except staff: 18.",
            "delete a post: 19 min.",
        ] {
            assert!(notes.contains(limit), "{limit} {notes}");
        }
    }

    #[test]
    fn the_description_has_the_rules_of_ratings() {
        for (allowed, is_stated) in [("false", true), ("true", false)] {
            let keys = ["reputation.allow_empty_comment", "reputation.allow_negative"];
            let texts = keys.map(|key| (key.to_owned(), allowed.to_owned()));
            let notes = SettingValues(HashMap::from(texts)).describe().notes;
            for rule in ["A rating needs a comment.", "The points of a rating are positive."] {
                assert_eq!(notes.contains(rule), is_stated, "{rule} {notes}");
            }
        }
    }

    #[test]
    fn an_edit_window_is_parsed_from_its_text() {
        for text in ["0", "30", "4294967295", "unlimited"] {
            let value = EDIT_WINDOW.parse(text);
            let shown = value.map(|value| EDIT_WINDOW.text(value));
            assert_eq!(shown.as_deref(), Some(text));
        }
        for text in ["", "-1", "1.5", "Unlimited", " unlimited", "never"] {
            assert_eq!(EDIT_WINDOW.parse(text), None, "{text:?}");
        }
    }
}
