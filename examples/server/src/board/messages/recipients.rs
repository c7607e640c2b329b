//! Who a message is for, and whether they take it.

use std::collections::HashSet;

use forum_api::host::{Refusal, Result};
use forum_api::model::UserRef;
use serde_json::{Value, json};

use super::super::db::{self, Columns, Connection, bind};
use super::super::settings::{INBOX_QUOTA, RECIPIENTS_MAX};
use super::super::texts::{Texts, fill};

/// A row for each member that is named, and one for all that nobody has.
const FIND: &str = "
    SELECT
        member.id, member.username, member.inbox_used,
        EXISTS (SELECT 1 FROM member_ignore WHERE member_id = member.id AND ignored_id = :sender)
    FROM json_each(:named) AS named
    LEFT JOIN member ON member.id = coalesce(
        CAST(named.value ->> 'id' AS BIGINT),
        (SELECT id FROM member WHERE lower(username) = named.value ->> 'name')
    )
    GROUP BY member.id ORDER BY min(named.key)";

/// A member to whom a message is sent.
#[derive(Clone, Debug)]
struct Recipient {
    id: i64,
    name: String,
    inbox_used: i64,
    ignores_sender: bool,
}

/// The ids of the members whom `to` names, in its order and each once, if all of them take a message from `sender`. A
/// banned member takes one like any other, and finds it when the ban is taken back.
pub async fn find(
    connection: &Connection<'_>,
    sender: i64,
    to: &[UserRef],
    say: &Texts,
) -> Result<Vec<i64>> {
    let most = RECIPIENTS_MAX.get(connection).await?;
    let named = named(to, most, say)?;
    let found = look_up(connection, sender, &named).await?;
    let unknown = || Refusal::NotFound(say.recipient_unknown.into());
    let found = found.ok_or_else(unknown)?;
    if found.len() > most as usize {
        return Err(too_many(most, say));
    }
    let quota = INBOX_QUOTA.get(connection).await?;
    let takers = found.iter().map(|recipient| recipient.take(quota, say));
    takers.collect()
}

/// The names in `to`, each once. Nobody has more than two, an id and a username, so that there may be twice as many of
/// them as recipients; more are not even looked up.
fn named(to: &[UserRef], most: u32, say: &Texts) -> Result<Value> {
    let (mut seen, room) = (HashSet::new(), 2 * most as usize);
    let names = to.iter().map(name);
    let names = names.filter(|name| seen.insert(name.clone()));
    let names: Vec<Value> = names.take(room + 1).collect();
    match names.len() {
        0 => Err(Refusal::invalid("to", say.no_recipients)),
        count if count > room => Err(too_many(most, say)),
        _ => Ok(names.into()),
    }
}

/// An id, which is null if nobody can have it, or a username.
fn name(user: &UserRef) -> Value {
    match user {
        UserRef::Id(id) => json!({ "id": id.number().ok() }),
        UserRef::Name(name) => json!({ "name": name.to_ascii_lowercase() }),
    }
}

/// `None` when one of them does not exist.
async fn look_up(
    connection: &Connection<'_>,
    sender: i64,
    named: &Value,
) -> db::Result<Option<Vec<Recipient>>> {
    let named = named.to_string();
    let parameters = bind! { ":named": named, ":sender": sender };
    let found = connection.all(FIND, parameters, recipient);
    Ok(found.await?.into_iter().collect())
}

fn recipient(columns: &mut Columns<'_>) -> db::Result<Option<Recipient>> {
    let Some(id) = columns.value()? else {
        return Ok(None);
    };
    Ok(Some(Recipient {
        id,
        name: columns.value()?,
        inbox_used: columns.value()?,
        ignores_sender: columns.value()?,
    }))
}

fn too_many(most: u32, say: &Texts) -> Refusal {
    Refusal::invalid("to", fill(say.too_many_recipients, most))
}

impl Recipient {
    /// Their id, if they take a message into an inbox that has room for `quota`.
    fn take(&self, quota: u32, say: &Texts) -> Result<i64> {
        if self.ignores_sender {
            return Err(Refusal::Forbidden(fill(say.ignored, &self.name)));
        }
        let has_room = self.inbox_used < i64::from(quota);
        has_room
            .then_some(self.id)
            .ok_or_else(|| Refusal::invalid("to", fill(say.inbox_full, &self.name)))
    }
}

#[cfg(test)]
mod tests {
    use forum_api::Language;
    use forum_api::host::Refusal;
    use forum_api::model::UserRef;
    use serde_json::{Value, json};

    use super::{Recipient, Texts, named};

    const SAY: &Texts = Texts::of(Language::English);

    fn names(to: &[&str], most: u32) -> Option<Value> {
        let to: Vec<UserRef> = to.iter().map(|text| UserRef::new(text).unwrap()).collect();
        named(&to, most, SAY).ok()
    }

    #[test]
    fn a_name_given_twice_is_one_and_nobody_has_three() {
        for (to, named) in [
            (vec![], None),
            (vec!["7", "7", "7"], Some(json!([{ "id": 7 }]))),
            (
                vec!["@Bob", "7", "@bob"],
                Some(json!([{ "name": "bob" }, { "id": 7 }])),
            ),
            (
                vec!["@7", "007", "x"],
                Some(json!([{ "name": "7" }, { "id": null }])),
            ),
            (
                vec!["1", "2", "@a", "@b"],
                Some(json!([{ "id": 1 }, { "id": 2 }, { "name": "a" }, { "name": "b" }])),
            ),
            (vec!["1", "2", "@a", "@b", "3"], None),
        ] {
            assert_eq!(names(&to, 2), named, "{to:?}");
        }
    }

    #[test]
    fn an_inbox_is_full_at_its_quota_and_an_ignored_sender_is_not_told_so() {
        let bob = |inbox_used, ignores_sender| Recipient {
            id: 7,
            name: "bob".into(),
            inbox_used,
            ignores_sender,
        };
        assert_eq!(bob(9, false).take(10, SAY).unwrap(), 7);
        let full = bob(10, false).take(10, SAY);
        assert!(
            matches!(full, Err(Refusal::Invalid { field: "to", message }) if message == "the inbox of bob is full.")
        );
        let ignored = bob(10, true).take(10, SAY);
        assert!(matches!(ignored, Err(Refusal::Forbidden(text)) if text.contains("bob")));
    }
}
