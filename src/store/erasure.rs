//! Erasure of a member from the library's SQL tables.

use std::ops::Range;

use serde_json::Value;

use crate::audit::{owner_text, stored_text};
use crate::model::{Timestamp, UserId};

/// A statement for SQLite and PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErasureStatement {
    /// The statement.
    pub sql: &'static str,
    /// Its parameters `$1`, `$2` and so on, as text.
    pub parameters: Vec<String>,
}

impl ErasureStatement {
    fn new(sql: &'static str, parameters: impl Into<Vec<String>>) -> Self {
        Self { sql, parameters: parameters.into() }
    }
}

/// A member whose account a host removes for good, with all personal data.
///
/// The host runs these statements in the transaction that removes the account, with any driver:
///
/// 1. each of [`statements`](Self::statements), which remove the member's tokens, stored responses and endpoints with their
///    deliveries, and replace the member's data in the audit log by `#` and the id;
/// 2. the query [`FIND_EVENTS_SQL`](Self::FIND_EVENTS_SQL) until it returns no row, and for each body the statements of
///    [`of_event`](Self::of_event).
///
/// On a large board, this transaction can take minutes. To keep it short, a host first bans the account, and then removes most
/// rows in short transactions, which can be repeated after a crash: each of [`batches`](Self::batches) until it changes no
/// row, [`other_responses`](Self::other_responses) for each span of time up to the one that
/// [`NEXT_RESPONSES_SQL`](Self::NEXT_RESPONSES_SQL) returns, and the statements of the events. The transaction that removes
/// the account is then left with the later responses ([`statements_since`](Self::statements_since)) and events.
///
/// On Postgres a worker that fans out or sends the same events can cause a deadlock: run the transaction again if it ends
/// with the code `40P01`.
///
/// The library caches none of these rows, so that all nodes follow from the next request on. A delivery that a worker
/// is sending meanwhile is still sent; its result is not recorded, and it is sent again without the member. The host
/// replaces names in its own entries of the audit log.
///
/// ```
/// use forum_api::model::UserId;
/// use forum_api::store::ErasedMember;
///
/// let member = ErasedMember::new(UserId::from(7), "mallory");
/// let body = r#"{"data":{"post":{"author":{"userId":"7","username":"mallory"}}},"topic":"post.created"}"#;
/// let statements = member.of_event("evt_1", body);
/// assert!(statements[0].sql.starts_with("UPDATE forum_api_events"));
/// assert_eq!(statements[0].parameters[0], r#"{"data":{"post":{"author":null}},"topic":"post.created"}"#);
/// ```
#[derive(Clone, Debug)]
pub struct ErasedMember {
    id: UserId,
    name: String,
    with_content: bool,
}

impl ErasedMember {
    /// Query for the next 500 events, in order. Its parameters are [`event_pattern`](Self::event_pattern) and the `number` after
    /// which it begins, at first 0. Its columns are `number`, an integer, and the texts `id` and `body`; `body` is null for an
    /// event that does not contain the member. An event `message.sent` contains ids only, and keeps them.
    pub const FIND_EVENTS_SQL: &'static str = "
        SELECT number, id, CASE WHEN body LIKE CAST($1 AS TEXT) THEN body END AS body
        FROM forum_api_events WHERE number > $2 ORDER BY number LIMIT 500";

    /// Query for the time until which the next stored responses began, in milliseconds; null if there are none. It selects up
    /// to 500 responses with up to 4 MiB together, and always those that began at the earliest time. Its parameter `$1` is
    /// the time from which they began.
    pub const NEXT_RESPONSES_SQL: &'static str = "
        SELECT coalesce(max(CASE WHEN bytes <= 4194304 THEN began_at END), min(began_at)) AS began_at FROM (
            SELECT began_at, sum(coalesce(bytes, 0)) OVER (ORDER BY began_at) AS bytes FROM (
                SELECT began_at, length(body) AS bytes FROM forum_api_idempotency_keys
                WHERE began_at >= $1 ORDER BY began_at LIMIT 500
            ) AS page
        ) AS summed";

    /// Query for the `number` of the latest event; null if there is none.
    pub const LAST_EVENT_SQL: &'static str = "SELECT max(number) AS number FROM forum_api_events";

    /// Creates a member with the username that the audit log contains. The member's content stays, without author.
    pub fn new(id: UserId, username: &str) -> Self {
        Self { id, name: username.into(), with_content: false }
    }

    /// Removes also the events about content of the member, except those of its deletion, which lose its texts.
    #[must_use]
    pub fn with_content(mut self) -> Self {
        self.with_content = true;
        self
    }

    /// Returns the parameter of [`FIND_EVENTS_SQL`](Self::FIND_EVENTS_SQL).
    pub fn event_pattern(&self) -> String {
        format!("%{}%", self.id_in_json())
    }

    fn id_in_json(&self) -> String {
        format!(r#""userId":"{}""#, self.id)
    }

    /// Returns the statements for all tables except the events, in order.
    ///
    /// Responses to other members that contain the member get an unknown outcome: a repeat of their requests gets 409.
    pub fn statements(&self) -> Vec<ErasureStatement> {
        self.statements_since(Timestamp::from_millis(i64::MIN))
    }

    /// Returns the statements for all tables except the events, in order, for a host that has run
    /// [`other_responses`](Self::other_responses) for the requests before `since`.
    pub fn statements_since(&self, since: Timestamp) -> Vec<ErasureStatement> {
        let id = self.id.to_string();
        let name = stored_text(&self.name, usize::MAX).replace('\\', "\\\\").replace('_', "\\_");
        let owner = format!("; owner {};%", name.replace('%', "\\%"));
        let unnamed_owner = format!("owner {};", owner_text(None, &self.id));
        let by_id = |sql| ErasureStatement::new(sql, [id.clone()]);
        vec![
            ErasureStatement::new(AUDIT_DETAILS, [id.clone(), owner, unnamed_owner]),
            by_id("UPDATE forum_api_audit_log SET address = NULL WHERE actor = $1"),
            by_id(OWN_RESPONSES),
            self.other_responses(since..Timestamp::from_millis(i64::MAX)),
            by_id(DELIVERIES),
            by_id("DELETE FROM forum_api_endpoints WHERE owner = $1"),
            by_id("DELETE FROM forum_api_tokens WHERE owner = $1"),
        ]
    }

    /// Returns statements that remove up to 100 stored responses, and up to 100 deliveries of the member's endpoints.
    pub fn batches(&self) -> [ErasureStatement; 2] {
        [OWN_RESPONSES_BATCH, DELIVERIES_BATCH]
            .map(|sql| ErasureStatement::new(sql, [self.id.to_string()]))
    }

    /// Returns the statement for responses to other members that contain the member, to requests that began in a span of time.
    /// They get an unknown outcome: a repeat of their requests gets 409.
    pub fn other_responses(&self, began_at: Range<Timestamp>) -> ErasureStatement {
        // The text of bytes is hexadecimal in PostgreSQL.
        let hex = base16ct::lower::encode_string(self.id_in_json().as_bytes());
        let texts = [self.id_in_json(), hex];
        let span = [began_at.start, began_at.end].map(|time| time.as_millis().to_string());
        ErasureStatement::new(OTHER_RESPONSES, [span, texts].concat())
    }

    /// Returns the statements for an event with this id and this body. If they remove an event of the feed, its id stays a
    /// position of the feed until the retention has passed.
    pub fn of_event(&self, id: &str, body: &str) -> Vec<ErasureStatement> {
        if !body.contains(&self.id_in_json()) {
            return Vec::new();
        }
        let of_event = |sql| ErasureStatement::new(sql, [id.into()]);
        match self.erased(body) {
            Some(erased) => vec![
                ErasureStatement::new(UPDATE_EVENT, [erased, id.into()]),
                of_event(END_LEASES),
                of_event(REMOVE_ANSWERS),
            ],
            None => vec![
                // Before the deliveries, so that a fan-out in progress ends first.
                of_event(CLEAR_EVENT),
                of_event("DELETE FROM forum_api_deliveries WHERE event = $1"),
                of_event("DELETE FROM forum_api_events WHERE id = $1 AND NOT in_feed"),
            ],
        }
    }

    /// Returns the body without the member; `None` if the event is removed.
    fn erased(&self, body: &str) -> Option<String> {
        let mut body: Value = serde_json::from_str(body).ok()?;
        let topic = body.get("topic").and_then(Value::as_str);
        let is_deletion = matches!(topic, Some("post.deleted" | "thread.deleted"));
        let is_rating = topic == Some("member.rated");
        let data = body.get_mut("data")?;
        let is_of = |pointer| self.is_id(data.pointer(pointer));
        let has_own_thread = is_of("/thread/author/userId");
        let is_own = has_own_thread || is_of("/post/author/userId");
        // Ratings of the member are removed with the account.
        if is_rating && is_of("/member/userId") || self.with_content && is_own && !is_deletion {
            return None;
        }
        if self.with_content
            && has_own_thread
            && let Some(title) = data.pointer_mut("/thread/title")
        {
            *title = "".into();
        }
        self.remove_from(data);
        serde_json::to_string(&body).ok()
    }

    fn is_id(&self, value: Option<&Value>) -> bool {
        let text = value.and_then(Value::as_str);
        text.and_then(|text| UserId::parse(text).ok()).as_ref() == Some(&self.id)
    }

    fn remove_from(&self, value: &mut Value) {
        match value {
            Value::Object(fields)
                if fields.contains_key("username") && self.is_id(fields.get("userId")) =>
            {
                *value = Value::Null;
            }
            Value::Object(fields) => fields.values_mut().for_each(|value| self.remove_from(value)),
            Value::Array(items) => items.iter_mut().for_each(|value| self.remove_from(value)),
            _ => {}
        }
    }
}

/// Replaces details that contain the owner, a label, or a URL. `#` distinguishes the id from a username of digits. The owner
/// of a token is searched for at the beginning only, because a label after it can contain any text. The owner of an endpoint
/// is searched for anywhere, because earlier builds wrote it at the end. The database lower-cases both sides, because
/// Postgres also lower-cases letters outside ASCII. An owner whose name was unknown is `#` and the id, at the beginning.
const AUDIT_DETAILS: &str = r"
    UPDATE forum_api_audit_log SET details = 'owner #' || CAST($1 AS TEXT)
    WHERE details <> '' AND (action LIKE 'token.%' OR action LIKE 'endpoint.%') AND (
        '; ' || lower(details) || ';'
            LIKE lower(CASE WHEN action LIKE 'token.%' THEN '' ELSE '%' END || CAST($2 AS TEXT)) ESCAPE '\'
        OR substr(details || ';', 1, length(CAST($3 AS TEXT))) = CAST($3 AS TEXT)
        OR target IN (
            SELECT lookup FROM forum_api_tokens WHERE owner = CAST($1 AS TEXT)
            UNION ALL
            SELECT id FROM forum_api_endpoints WHERE owner = CAST($1 AS TEXT)
            UNION ALL
            SELECT target FROM forum_api_audit_log
            WHERE action IN ('token.issued', 'endpoint.added', 'endpoint.updated') AND (
                '; ' || lower(details) || ';'
                    LIKE lower(CASE WHEN action LIKE 'token.%' THEN '' ELSE '%' END || CAST($2 AS TEXT)) ESCAPE '\'
                OR substr(details || ';', 1, length(CAST($3 AS TEXT))) = CAST($3 AS TEXT)
            )
        )
    )";

const OWN_RESPONSES: &str = "
    DELETE FROM forum_api_idempotency_keys
    WHERE namespace IN (SELECT lookup FROM forum_api_tokens WHERE owner = $1)";

const OWN_RESPONSES_BATCH: &str = "
    DELETE FROM forum_api_idempotency_keys WHERE (namespace, key) IN (
        SELECT namespace, key FROM forum_api_idempotency_keys
        WHERE namespace IN (SELECT lookup FROM forum_api_tokens WHERE owner = $1) LIMIT 100
    )";

/// The parameters are numbered in the order in which they occur, as SQLite numbers them. `replace` finds a text exactly, where
/// `LIKE` ignores case in SQLite, and `_` of an id is a wildcard.
const OTHER_RESPONSES: &str = "
    UPDATE forum_api_idempotency_keys
    SET status = NULL, location = NULL, body = NULL, forum_id = NULL, thread_id = NULL, post_id = NULL
    WHERE began_at >= CAST(CAST($1 AS TEXT) AS BIGINT) AND began_at < CAST(CAST($2 AS TEXT) AS BIGINT)
        AND (
            replace(CAST(body AS TEXT), CAST($3 AS TEXT), '') <> CAST(body AS TEXT)
            OR replace(CAST(body AS TEXT), CAST($4 AS TEXT), '') <> CAST(body AS TEXT)
        )";

/// A trigger removes the events that were fanned out to these endpoints only.
const DELIVERIES: &str = "
    DELETE FROM forum_api_deliveries
    WHERE endpoint IN (SELECT id FROM forum_api_endpoints WHERE owner = $1)";

const DELIVERIES_BATCH: &str = "
    DELETE FROM forum_api_deliveries WHERE id IN (
        SELECT id FROM forum_api_deliveries
        WHERE endpoint IN (SELECT id FROM forum_api_endpoints WHERE owner = $1) LIMIT 100
    )";

/// Removes the content of an event of the feed, and keeps its id, which can be the position of a client. The feed returns no
/// events with the topic `ping`. An event with `fanned_out_at` is not fanned out again.
const CLEAR_EVENT: &str = "
    UPDATE forum_api_events
    SET topic = 'ping', request_id = NULL, body = '{}', fanned_out_at = coalesce(fanned_out_at, occurred_at)
    WHERE id = $1 AND in_feed";

const UPDATE_EVENT: &str = "UPDATE forum_api_events SET body = $1 WHERE id = $2";

/// Workers that have read the former body do not begin to send it, and do not record what receivers answer.
const END_LEASES: &str = "
    UPDATE forum_api_deliveries SET lease = lease + 1, leased = FALSE, sending = FALSE
    WHERE event = $1 AND due_at IS NOT NULL";

/// Removes what receivers have answered, because they can quote the event.
const REMOVE_ANSWERS: &str = "
    UPDATE forum_api_attempts SET answer = NULL, response_headers = NULL
    WHERE delivery IN (SELECT id FROM forum_api_deliveries WHERE event = $1)";

#[cfg(test)]
mod tests {
    use super::ErasedMember;
    use crate::model::UserId;

    /// Statements of the same tables are tested with a board on both databases.
    #[test]
    fn events_lose_the_member_or_are_removed() {
        let stays = ErasedMember::new(UserId::from(7), "Mallory");
        let goes = stays.clone().with_content();
        let own = r#"{"userId":"7","username":"mallory"}"#;
        let other = r#"{"userId":"77","username":"bob"}"#;
        let event = |topic: &str, data: String| format!(r#"{{"data":{data},"topic":"{topic}"}}"#);
        let post = |topic, thread: &str, author: &str, title| {
            let thread = format!(r#"{{"author":{thread},"title":"{title}"}}"#);
            let body = format!(r#"{{"post":{{"author":{author}}},"thread":{thread}}}"#);
            event(topic, body)
        };
        let rating = |member, actor| {
            let body = format!(r#"{{"actor":{actor},"member":{member}}}"#);
            event("member.rated", body)
        };
        let erased = || event("member.erased", r#"{"member":{"userId":"7"}}"#.into());
        let [created, deleted] = ["post.created", "post.deleted"];
        let without_member = post(created, other, "null", "T");
        for (body, expected_to_stay, expected_to_go) in [
            (post(created, other, own, "T"), Some(without_member), None),
            (post(created, own, other, "T"), Some(post(created, "null", other, "T")), None),
            (
                post(deleted, own, other, "T"),
                Some(post(deleted, "null", other, "T")),
                Some(post(deleted, "null", other, "")),
            ),
            (rating(own, other), None, None),
            (erased(), Some(erased()), Some(erased())),
            (
                event("badge.given", format!(r#"{{"member":{own}}}"#)),
                Some(event("badge.given", r#"{"member":null}"#.into())),
                Some(event("badge.given", r#"{"member":null}"#.into())),
            ),
            (rating(other, own), Some(rating(other, "null")), Some(rating(other, "null"))),
        ] {
            assert_eq!(stays.erased(&body), expected_to_stay, "{body}");
            assert_eq!(goes.erased(&body), expected_to_go, "{body}");
        }
        let unrelated = post(created, other, other, "T");
        assert!(goes.of_event("evt_1", &unrelated).is_empty());
    }
}
