//! Looks up the recipients of a message, and checks that they accept it.

use std::collections::HashSet;
use std::sync::LazyLock;

use forum_api::host::{BackendResult, BoardError, BoardResult};
use forum_api::model::{Author, UserRef};
use serde_json::{Value, json};

use crate::board::db::{Connection, Row, bind};
use crate::board::settings::{INBOX_QUOTA, RECIPIENTS_MAX, SettingValues};
use crate::board::texts::{Texts, fill};

/// SQL expression of the id of the member that `named`, a row with an element of [`distinct_names`], identifies.
pub const NAMED_MEMBER_ID: &str = "coalesce(
    CAST(named.value ->> 'id' AS BIGINT),
    (SELECT id FROM member WHERE lower(username) = named.value ->> 'name')
)";

/// Returns one row for each named member, and one row for all unknown names.
static FIND: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT
            member.id, member.username, member.avatar_url, member.inbox_used,
            EXISTS (SELECT 1 FROM member_ignore WHERE member_id = member.id AND ignored_id = :sender)
                AS ignores_sender
        FROM json_each(:named) AS named
        LEFT JOIN member ON member.id = {NAMED_MEMBER_ID}
        GROUP BY member.id ORDER BY min(named.key)"
    )
});

#[derive(Clone, Debug)]
struct Recipient {
    author: Author,
    inbox_used: i64,
    ignores_sender: bool,
}

/// Returns the members in `to`, in order and without duplicates, if all of them accept a message from
/// `sender`. Banned members accept messages.
pub async fn find_recipients(
    connection: &Connection<'_>,
    sender: i64,
    to: &[UserRef],
    settings: &SettingValues,
    texts: &Texts,
) -> BoardResult<Vec<Author>> {
    let most = settings.of(&RECIPIENTS_MAX);
    let named = check_names(to, most, texts)?.to_string();
    let parameters = bind! { ":named": named, ":sender": sender };
    let found = connection
        .all(&FIND, parameters, read_recipient)
        .await?
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| BoardError::not_found(texts.recipient_unknown).with_field("to"))?;
    if found.len() > most as usize {
        return Err(too_many(most, texts));
    }
    let quota = settings.of(&INBOX_QUOTA);
    found.into_iter().map(|recipient| recipient.check_accepts(quota, texts)).collect()
}

/// Returns the names in `to` without duplicates, as a JSON list.
pub fn distinct(to: &[UserRef]) -> String {
    Value::from(distinct_names(to, RECIPIENTS_MAX.max)).to_string()
}

/// Returns the names in `to` without duplicates.
fn check_names(to: &[UserRef], most: i64, texts: &Texts) -> BoardResult<Value> {
    let names = distinct_names(to, most);
    match names.len() {
        0 => Err(BoardError::validation("to", texts.no_recipients).with_reason("required")),
        count if count > most_names(most) => Err(too_many(most, texts)),
        _ => Ok(names.into()),
    }
}

/// Returns the names in `to` without duplicates, and at most one name more than [`most_names`].
fn distinct_names(to: &[UserRef], most: i64) -> Vec<Value> {
    let mut seen = HashSet::new();
    to.iter()
        .map(name_in_json)
        .filter(|name| seen.insert(name.clone()))
        .take(most_names(most) + 1)
        .collect()
}

/// Returns the maximum number of names for `most` recipients. It is twice as large, because each recipient can be named
/// by id and by username.
const fn most_names(most: i64) -> usize {
    2 * most as usize
}

/// Converts an id, or a username in lower case, to JSON. An invalid id becomes null.
fn name_in_json(user: &UserRef) -> Value {
    match user {
        UserRef::Id(id) => json!({ "id": id.to_i64().ok() }),
        UserRef::Name(name) => json!({ "name": name.to_ascii_lowercase() }),
    }
}

/// Returns `None` for an unknown member.
fn read_recipient(row: &Row<'_>) -> BackendResult<Option<Recipient>> {
    let Some(author) = row.author(["id", "username", "avatar_url"])? else {
        return Ok(None);
    };
    Ok(Some(Recipient {
        author,
        inbox_used: row.value("inbox_used")?,
        ignores_sender: row.value("ignores_sender")?,
    }))
}

fn too_many(most: i64, texts: &Texts) -> BoardError {
    BoardError::validation("to", fill(texts.too_many_recipients, most)).with_reason("too_long")
}

impl Recipient {
    /// Returns the member. Fails if the member ignores the sender, or if the inbox has reached its quota.
    fn check_accepts(self, quota: i64, texts: &Texts) -> BoardResult<Author> {
        let name = &self.author.username;
        if self.ignores_sender {
            let error = BoardError::forbidden(fill(texts.sender_ignored, name));
            return Err(error.with_reason("not_allowed").with_field("to"));
        }
        if self.inbox_used >= quota {
            let error = BoardError::validation("to", fill(texts.inbox_full, name));
            return Err(error.with_reason("inbox_full"));
        }
        Ok(self.author)
    }
}
