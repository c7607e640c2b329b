//! Entries of the audit log: time, action, target and actor of each change.
//!
//! Each store method that makes an administrator's change takes an [`AuditEntry`], and writes it in the transaction of
//! the change. [`AuditStore`](crate::store::AuditStore) lists the entries. A host writes entries of its own changes in
//! its own transactions, with [`AuditEntry::INSERT_SQL`], as the example shows.
//!
//! Entries are not removed. A change without effect adds no entry: a second revocation, or an update to the present
//! values. The details contain the new values without secrets, and name members by username, or by `#` and the id if
//! they were erased. An endpoint's URL is stored without its query, which can contain a secret of the receiver. The removal
//! of `delivered`, `gone` and `withheld` deliveries after their retention adds no entry.
//!
//! ```
//! use forum_api::audit::{AuditAction, AuditActor};
//! use forum_api::runtime::{Clock, OsRandom, SystemClock};
//!
//! const BANNED: AuditAction = AuditAction::from_static("member.banned");
//!
//! let entry = AuditActor::command_line(Some("root".into()))
//!     .entry(&OsRandom, SystemClock.now(), BANNED, "mallory")?
//!     .with_details("for 7 days");
//! assert_eq!(entry.insert_parameters(1).len(), 10); // the change affects one record
//! # Ok::<_, forum_api::runtime::RandomError>(())
//! ```

use std::borrow::Cow;
use std::net::IpAddr;

use crate::base62;
use crate::error::{ParseError, impl_as_str, impl_from_str, named_variants};
use crate::model::{AuditEntryId, Timestamp, UserId, is_dotted_name, is_single_line_char};
use crate::runtime::{RandomError, RandomSource};

/// Maximum length of a target or of the name of a system user, in characters. The rest is dropped.
const MAX_TARGET_CHARS: usize = 200;

/// Maximum length of details, in characters. The rest is dropped.
const MAX_DETAILS_CHARS: usize = 1000;

/// Name of a kind of change: `[a-z_]+(\.[a-z_]+)+` of at most 64 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditAction(Cow<'static, str>);

macro_rules! actions {
    ($($(#[$doc:meta])+ $constant:ident $name:literal)+) => {
        impl AuditAction {
            $($(#[$doc])+ pub const $constant: Self = Self::from_static($name);)+

            /// The actions that the library records.
            pub const STANDARD: &[Self] = &[$(Self::$constant),+];
        }
    };
}

actions! {
    /// A token was issued. The target is its lookup.
    TOKEN_ISSUED "token.issued"
    /// A token was revoked. The target is its lookup.
    TOKEN_REVOKED "token.revoked"
    /// The label of a token was changed. The target is its lookup.
    TOKEN_UPDATED "token.updated"
    /// Expired and revoked tokens were removed. The target is empty.
    TOKEN_PURGED "token.purged"
    /// A webhook endpoint was added. The target is its id.
    ENDPOINT_ADDED "endpoint.added"
    /// The URL, the topics or the owner of an endpoint was changed. The target is the endpoint's id.
    ENDPOINT_UPDATED "endpoint.updated"
    /// A new, pending secret was generated. The target is the endpoint's id.
    ENDPOINT_SECRET_ROTATED "endpoint.secret_rotated"
    /// The pending secret was activated. The target is the endpoint's id.
    ENDPOINT_SECRET_ACTIVATED "endpoint.secret_activated"
    /// An endpoint was enabled. The target is its id.
    ENDPOINT_ENABLED "endpoint.enabled"
    /// An administrator or the worker disabled an endpoint. The target is its id.
    ENDPOINT_DISABLED "endpoint.disabled"
    /// An endpoint was removed with its deliveries. The target is its id.
    ENDPOINT_REMOVED "endpoint.removed"
    /// All secrets were encrypted with another key. The target is the id of the key.
    KEY_REPLACED "key.replaced"
    /// A delivery was queued again, and the target is its id. Or all dead deliveries of an endpoint were queued again,
    /// and the target is the id of the endpoint.
    DELIVERY_REDELIVERED "delivery.redelivered"
    /// A delivery was removed. The target is its id.
    DELIVERY_REMOVED "delivery.removed"
    /// Old deliveries of one state were removed. The target is empty.
    DELIVERY_PURGED "delivery.purged"
}

impl AuditAction {
    /// Creates an action for a constant of the host.
    ///
    /// # Panics
    /// If the name is not `[a-z_]+(\.[a-z_]+)+` of at most 64 characters. In a constant this is a compile error.
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_dotted_name(name), "the name of the action is malformed");
        Self(Cow::Borrowed(name))
    }

    /// Parses a name.
    ///
    /// # Errors
    /// [`ParseError`] unless the name is `[a-z_]+(\.[a-z_]+)+` of at most 64 characters.
    pub fn parse(name: &str) -> Result<Self, ParseError> {
        if is_dotted_name(name) {
            Ok(Self(name.to_owned().into()))
        } else {
            Err(ParseError::new("an action, for example token.revoked"))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl_from_str!(AuditAction);
impl_as_str!(AuditAction);

named_variants! {
    /// Interface through which a change was made.
    pub enum AuditOrigin: "an origin, for example panel" {
        /// The control panel, or another page of the host.
        Panel = "panel",
        /// A command of a command line.
        CommandLine = "command_line",
        /// The program itself, for example the webhook worker.
        System = "system",
    }
}

/// Actor of a change: an administrator, a user of the operating system, or the program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditActor {
    /// The administrator; `None` if the actor is not a member of the board.
    pub user_id: Option<UserId>,
    /// Name of the user of the operating system who ran a command; `None` for other origins, or if it is unknown.
    pub system_user: Option<String>,
    /// Interface through which the change is made.
    pub origin: AuditOrigin,
    /// Client address of the administrator; `None` if it is unknown, and for origins other than the panel.
    pub address: Option<IpAddr>,
}

impl AuditActor {
    /// The program itself.
    pub const SYSTEM: Self = Self::of(AuditOrigin::System);

    const fn of(origin: AuditOrigin) -> Self {
        Self { user_id: None, system_user: None, origin, address: None }
    }

    /// Creates the actor for an administrator who uses the control panel, or a page of the host.
    pub fn panel(user_id: UserId, address: Option<IpAddr>) -> Self {
        Self { user_id: Some(user_id), address, ..Self::of(AuditOrigin::Panel) }
    }

    /// Creates the actor for a user of the operating system who runs a command.
    pub fn command_line(system_user: Option<String>) -> Self {
        Self { system_user, ..Self::of(AuditOrigin::CommandLine) }
    }

    /// Creates an entry with a new id and no details.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn entry(
        &self,
        random: &dyn RandomSource,
        now: Timestamp,
        action: AuditAction,
        target: impl ToString,
    ) -> Result<AuditEntry, RandomError> {
        Ok(AuditEntry {
            id: AuditEntryId::generate(random)?,
            occurred_at: now,
            actor: self.clone(),
            action,
            target: target.to_string(),
            details: String::new(),
        })
    }
}

impl AuditEntryId {
    /// Generates an id: `aud_` and 22 random characters.
    ///
    /// # Errors
    /// [`RandomError`] if the random source fails.
    pub fn generate(random: &dyn RandomSource) -> Result<Self, RandomError> {
        let id = base62::with_prefix("aud_", base62::random(random)?);
        Ok(Self::from_valid_text(id))
    }
}

/// Entry of the audit log: a change, its time and its actor. Contains no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Unique id. If an entry is written again with the same id, for example for each batch of a purge, the store adds up
    /// the numbers of changed records.
    pub id: AuditEntryId,
    /// Time of the change.
    pub occurred_at: Timestamp,
    /// Actor of the change.
    pub actor: AuditActor,
    /// Kind of change.
    pub action: AuditAction,
    /// Target of the change, such as the lookup of a token or the id of an endpoint; can be empty. At most 200 characters
    /// are stored. Characters that a [single-line text](crate::model::is_single_line) cannot contain are stored as spaces.
    pub target: String,
    /// New values, as text for an administrator; can be empty. At most 1000 characters are stored, with the same
    /// replacements.
    pub details: String,
}

impl AuditEntry {
    /// SQL statement that adds an entry to the log, for SQLite and PostgreSQL. Its parameters are
    /// [`insert_parameters`](Self::insert_parameters). If the log contains an entry with this id, the statement adds the
    /// number of affected records to the count of that entry.
    ///
    /// A host runs the statement in the transaction of the change, so that the change and the entry are committed
    /// together. A host does not run the statement if the change affected no record.
    pub const INSERT_SQL: &'static str = "
        INSERT INTO forum_api_audit_log AS entry
            (id, occurred_at, actor, os_user, origin, address, action, target, details, count)
        VALUES ($1, CAST(CAST($2 AS TEXT) AS BIGINT), NULLIF($3, ''), NULLIF($4, ''), $5, NULLIF($6, ''), $7, $8, $9,
            CAST(CAST($10 AS TEXT) AS BIGINT))
        ON CONFLICT (id) DO UPDATE SET count = entry.count + excluded.count";

    /// Sets the details.
    #[must_use]
    pub fn with_details(mut self, details: impl ToString) -> Self {
        self.details = details.to_string();
        self
    }

    /// Returns the key by which lists are ordered: the time, and the text of the id for entries with the same time.
    pub(crate) fn sort_key(&self) -> (Timestamp, String) {
        (self.occurred_at, self.id.to_string())
    }

    /// Returns the entry as it is stored: texts without control characters and of limited length.
    pub(crate) fn into_stored(self) -> Self {
        let AuditActor { system_user, .. } = self.actor;
        Self {
            actor: AuditActor {
                system_user: system_user.map(|name| stored_text(&name, MAX_TARGET_CHARS)),
                ..self.actor
            },
            target: stored_text(&self.target, MAX_TARGET_CHARS),
            details: stored_text(&self.details, MAX_DETAILS_CHARS),
            ..self
        }
    }

    /// Returns the parameters `$1`, `$2` and so on of [`INSERT_SQL`](Self::INSERT_SQL) as text. `count` is the number of
    /// records that the change affected.
    pub fn insert_parameters(&self, count: u64) -> Vec<String> {
        self.to_texts(count).into()
    }

    /// Returns the columns of the log.
    pub(crate) fn to_texts(&self, count: u64) -> [String; 10] {
        let Self { id, occurred_at, actor, action, target, details } = self.clone().into_stored();
        fn text(value: Option<impl ToString>) -> String {
            value.map(|value| value.to_string()).unwrap_or_default()
        }
        [
            id.to_string(),
            occurred_at.as_millis().to_string(),
            text(actor.user_id),
            text(actor.system_user),
            actor.origin.as_str().into(),
            text(actor.address),
            action.to_string(),
            target,
            details,
            count.to_string(),
        ]
    }

    /// Parses the columns of the log: the entry, and the number of records that the change affected.
    pub(crate) fn from_texts(texts: [String; 10]) -> Result<(Self, u64), ParseError> {
        let [
            id,
            occurred_at,
            user_id,
            system_user,
            origin,
            address,
            action,
            target,
            details,
            count,
        ] = texts;
        let millis = occurred_at.parse().map_err(|_| ParseError::new("a time in milliseconds"))?;
        let entry = Self {
            id: AuditEntryId::parse(&id)?,
            occurred_at: Timestamp::from_millis(millis),
            actor: AuditActor {
                user_id: optional(&user_id, UserId::parse)?,
                system_user: Some(system_user).filter(|name| !name.is_empty()),
                origin: AuditOrigin::parse(&origin)?,
                address: optional(&address, |address| {
                    let address = address.parse();
                    address.map_err(|_| ParseError::new("an IP address"))
                })?,
            },
            action: AuditAction::parse(&action)?,
            target,
            details,
        };
        let count = count.parse().map_err(|_| ParseError::new("a count"))?;
        Ok((entry, count))
    }
}

/// Parses a text; `None` for the empty text.
fn optional<T>(
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<Option<T>, ParseError> {
    (!text.is_empty()).then(|| parse(text)).transpose()
}

/// Returns the username of an owner as details contain it, or `#` and the id if the name is unknown. `#` distinguishes an id
/// from a username of digits.
pub(crate) fn owner_text(name: Option<&str>, owner: &UserId) -> String {
    name.map_or_else(|| format!("#{owner}"), str::to_owned)
}

/// Returns the beginning of a text as an entry contains it: a character that does not belong in a line is a space.
pub(crate) fn stored_text(text: &str, max_chars: usize) -> String {
    let printable = |char| if is_single_line_char(char) { char } else { ' ' };
    text.chars().take(max_chars).map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::OsRandom;

    /// Stored entries and filters of hosts have these names.
    #[test]
    fn names_of_actions_do_not_change() {
        let names: Vec<_> = AuditAction::STANDARD.iter().map(AuditAction::as_str).collect();
        let expected = [
            "token.issued",
            "token.revoked",
            "token.updated",
            "token.purged",
            "endpoint.added",
            "endpoint.updated",
            "endpoint.secret_rotated",
            "endpoint.secret_activated",
            "endpoint.enabled",
            "endpoint.disabled",
            "endpoint.removed",
            "key.replaced",
            "delivery.redelivered",
            "delivery.removed",
            "delivery.purged",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn names_of_actions_have_at_least_two_words() {
        for action in AuditAction::STANDARD {
            assert_eq!(AuditAction::parse(action.as_str()).as_ref(), Ok(action));
        }
        for name in ["", "member", "member.", ".banned", "member..banned", "Member.banned"] {
            assert!(AuditAction::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn texts_are_stored_without_control_characters_and_in_limited_length() {
        let actor = AuditActor::command_line(Some("ro\not".into()));
        let entry = actor
            .entry(
                &OsRandom,
                Timestamp::from_millis(17),
                AuditAction::TOKEN_REVOKED,
                "a\u{1b}[31mb\0",
            )
            .unwrap()
            .with_details("ä".repeat(2000));
        let [id, texts @ .., details, count] = entry.to_texts(7);
        assert_eq!((id.len(), &*count), (26, "7"));
        let expected = ["17", "", "ro ot", "command_line", "", "token.revoked", "a [31mb "];
        assert_eq!(texts, expected);
        assert_eq!(details.chars().count(), 1000);
        let long = "ä".repeat(201);
        let actor = AuditActor::command_line(Some(long.clone()));
        let entry =
            actor.entry(&OsRandom, Timestamp::from_millis(17), AuditAction::TOKEN_REVOKED, long);
        let [_, _, _, system_user, _, _, _, target, ..] = entry.unwrap().to_texts(7);
        let longest = "ä".repeat(200);
        assert_eq!([system_user, target], [longest.clone(), longest]);
    }

    #[test]
    fn an_entry_is_parsed_from_its_columns() {
        let actor = AuditActor {
            system_user: Some("root".into()),
            ..AuditActor::panel(UserId::from(3), "192.0.2.1".parse().ok())
        };
        let now = Timestamp::from_millis(-17);
        let entry =
            actor.entry(&OsRandom, now, AuditAction::TOKEN_REVOKED, "x").unwrap().with_details("y");
        let texts = entry.to_texts(7);
        assert_eq!(AuditEntry::from_texts(texts.clone()), Ok((entry, 7)));
        for malformed in [0, 1, 2, 4, 5, 6, 9] {
            let mut malformed_texts = texts.clone();
            malformed_texts[malformed] = "?".into();
            assert!(AuditEntry::from_texts(malformed_texts).is_err(), "{malformed}");
        }
    }
}
