//! The board's settings: a row each, and effective at once.

use rusqlite::{Connection, OptionalExtension, Result, Savepoint};
use serde_json::Value;

/// Something that an administrator may set.
#[derive(Debug)]
pub struct Setting<T> {
    key: &'static str,
    default: T,
    form: Form<T>,
}

/// Which values a setting takes.
#[derive(Debug)]
struct Form<T> {
    name: &'static str,
    read: fn(&str) -> Option<T>,
}

const FROM_0: Form<u32> = Form {
    name: "a whole number from 0",
    read: |text| text.parse().ok(),
};

const FROM_1: Form<u32> = Form {
    name: "a whole number from 1",
    read: |text| text.parse().ok().filter(|number| *number >= 1),
};

const FROM_2: Form<u32> = Form {
    name: "a whole number from 2",
    read: |text| text.parse().ok().filter(|number| *number >= 2),
};

const TRUE_OR_FALSE: Form<bool> = Form {
    name: "true or false",
    read: |text| text.parse().ok(),
};

/// How many characters a thread's title may have, a poll's question and each of its options.
pub const TITLE_MAX: Setting<u32> = Setting::new("thread.title_max", 120, FROM_1);
/// How many characters a post may have, and the comment of a rating.
pub const BODY_MAX: Setting<u32> = Setting::new("post.body_max", 20_000, FROM_1);
/// How many seconds have to pass between two posts of a member who is not staff; 0 for none.
pub const POST_INTERVAL: Setting<u32> = Setting::new("post.interval_seconds", 15, FROM_0);
/// How many posts a member may write in an hour.
pub const POSTS_PER_HOUR: Setting<u32> = Setting::new("post.per_hour", 60, FROM_1);
/// Whether points may be taken from a member.
pub const ALLOW_NEGATIVE: Setting<bool> =
    Setting::new("reputation.allow_negative", false, TRUE_OR_FALSE);
/// Whether a rating may come without a comment.
pub const ALLOW_EMPTY_COMMENT: Setting<bool> =
    Setting::new("reputation.allow_empty_comment", false, TRUE_OR_FALSE);
/// How many points one rating may give or take.
pub const MAX_POINTS: Setting<u32> = Setting::new("reputation.max_points", 5, FROM_1);
/// How many ratings a member may give in a day.
pub const RATINGS_PER_DAY: Setting<u32> = Setting::new("reputation.per_day", 10, FROM_1);
/// How many options a poll may have.
pub const OPTIONS_MAX: Setting<u32> = Setting::new("poll.options_max", 20, FROM_2);

/// All settings, in the order in which they are listed.
pub const ALL: [&dyn Row; 9] = [
    &TITLE_MAX,
    &BODY_MAX,
    &POST_INTERVAL,
    &POSTS_PER_HOUR,
    &ALLOW_NEGATIVE,
    &ALLOW_EMPTY_COMMENT,
    &MAX_POINTS,
    &RATINGS_PER_DAY,
    &OPTIONS_MAX,
];

impl<T: Copy> Setting<T> {
    const fn new(key: &'static str, default: T, form: Form<T>) -> Self {
        Self { key, default, form }
    }

    /// Its value now.
    pub fn get(&self, connection: &Connection) -> Result<T> {
        let mut query = connection.prepare_cached("SELECT value FROM setting WHERE key = ?1")?;
        let stored: Option<String> = query.query_row([self.key], |row| row.get(0)).optional()?;
        let value = stored.as_deref().and_then(self.form.read);
        Ok(value.unwrap_or(self.default))
    }
}

/// A setting, whatever its values are.
pub trait Row: Sync {
    /// Its name.
    fn key(&self) -> &'static str;

    /// The values that it takes, in words.
    fn takes(&self) -> &'static str;

    /// Its value now.
    fn value(&self, connection: &Connection) -> Result<Value>;

    /// Sets it to what `text` says; `None` when that is not a value for it, and nothing is changed.
    fn set(&self, tx: &Savepoint<'_>, text: &str) -> Result<Option<()>>;
}

impl<T: Copy + Into<Value> + Sync> Row for Setting<T> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn takes(&self) -> &'static str {
        self.form.name
    }

    fn value(&self, connection: &Connection) -> Result<Value> {
        self.get(connection).map(Into::into)
    }

    fn set(&self, tx: &Savepoint<'_>, text: &str) -> Result<Option<()>> {
        let value = (self.form.read)(text).map(Into::into);
        value
            .map(|value| put(tx, self.key, &plain(&value)))
            .transpose()
    }
}

/// The setting of this name.
pub fn named(key: &str) -> Option<&'static dyn Row> {
    ALL.into_iter().find(|setting| setting.key() == key)
}

/// A setting's value as text: a word without quotes.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
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
    let insert = "INSERT INTO setting (key, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    tx.execute(insert, [key, value])?;
    Ok(())
}
