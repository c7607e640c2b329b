//! Changes that the backup of a restore lacks and that must not come undone: revoked tokens, bans, changed passwords, lost
//! groups, erased members, removed, changed and disabled endpoints, and rotated secrets.
//!
//! The audit log of the replaced database names them. Their values are those of its tables, or of the log if the replaced
//! database is an older backup that does not have the member. A restore copies the entries into the restored database, so
//! that the next restore finds them as well. In the copies, `#` and the id replace the name of a member whom the restored
//! database does not have: another member can get the name later, and `member erase` removes the names of present members
//! only. So each name in the log is that of a member of the same database.

use std::collections::{BTreeMap, BTreeSet};

use forum_api::audit::AuditAction;
use rusqlite::{Connection, OptionalExtension, Result, Row, params_from_iter};

use super::access::groups::Groups;
use super::settings;
use crate::audit;

/// Actions whose entries a restore compares and copies.
const ACTIONS: [AuditAction; 12] = [
    AuditAction::TOKEN_REVOKED,
    audit::MEMBER_BANNED,
    audit::MEMBER_UNBANNED,
    audit::MEMBER_PASSWORD_CHANGED,
    audit::MEMBER_GROUPS_CHANGED,
    audit::MEMBER_ERASED,
    AuditAction::ENDPOINT_REMOVED,
    AuditAction::ENDPOINT_UPDATED,
    AuditAction::ENDPOINT_DISABLED,
    AuditAction::ENDPOINT_ENABLED,
    AuditAction::ENDPOINT_SECRET_ROTATED,
    AuditAction::ENDPOINT_SECRET_ACTIVATED,
];

/// Actions whose targets are members.
const OF_MEMBERS: [AuditAction; 4] = [
    audit::MEMBER_BANNED,
    audit::MEMBER_UNBANNED,
    audit::MEMBER_PASSWORD_CHANGED,
    audit::MEMBER_GROUPS_CHANGED,
];

/// Details of the entry of an erasure that removed the posts of the member.
pub const WITH_POSTS: &str = "with posts";

/// Changes to repeat in a restored database.
#[derive(Debug, Default)]
pub struct CarriedChanges {
    /// Lookups of the tokens to revoke.
    pub revoked_tokens: Vec<String>,
    pub members: Vec<ChangedMember>,
    /// Names of the members whose last password neither database has.
    pub lost_passwords: Vec<String>,
    pub erased_members: Vec<ErasedMember>,
    pub endpoints: Vec<ChangedEndpoint>,
    /// The entries of the audit log that the restored database lacks, as parameters of
    /// [`AuditEntry::INSERT_SQL`](forum_api::audit::AuditEntry::INSERT_SQL).
    pub entries: Vec<Vec<String>>,
}

/// A member whose account the restored database changes.
#[derive(Debug)]
pub struct ChangedMember {
    pub id: i64,
    pub name: String,
    pub is_banned: bool,
    pub password_hash: Option<String>,
    pub groups: Option<Groups>,
}

/// A member of the backup whom the replaced database no longer has.
#[derive(Debug)]
pub struct ErasedMember {
    pub name: String,
    pub with_posts: bool,
}

/// An endpoint of the backup that was changed since then.
#[derive(Debug)]
pub struct ChangedEndpoint {
    pub id: String,
    pub change: EndpointChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointChange {
    Removed,
    Updated(EndpointValues),
    Disabled,
    /// The restored database does not have the last owner: the endpoint would send the events of the former one.
    OwnerLost,
    SecretRotated,
    SecretActivated,
}

/// Values of an endpoint that differ from those of the backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointValues {
    pub url: Option<String>,
    /// Topics, separated by commas.
    pub topics: Option<String>,
    /// Username of the owner.
    pub owner: Option<String>,
}

/// Minimum length in bytes of a URL in details that can have lost its end: details have up to 1,000 characters, with the
/// owner and the topics before the URL.
const MIN_CUT_URL_LEN: usize = 400;

impl EndpointValues {
    fn read(row: &Row<'_>) -> Result<Self> {
        let topics: String = row.get("topics")?;
        let names = serde_json::from_str(&topics).ok();
        Ok(Self {
            url: row.get("url")?,
            topics: names.map(|names: Vec<String>| names.join(",")),
            owner: row.get("username")?,
        })
    }

    fn find(board: &Connection, id: &str) -> Result<Option<Self>> {
        let find = "
            SELECT url, topics, username FROM forum_api_endpoints
            LEFT JOIN member ON member.id = CAST(owner AS INTEGER)
            WHERE forum_api_endpoints.id = ?1";
        board.query_row(find, [id], Self::read).optional()
    }

    /// Sets the values in the details of an entry, in which a URL has no query.
    fn set(&mut self, details: &str) {
        for part in details.split("; ") {
            let (field, value) = part.split_once(' ').unwrap_or_default();
            match field {
                "url" => self.url = Some(value.into()),
                "topics" => self.topics = Some(value.into()),
                "owner" => self.owner = Some(value.into()),
                _ => {}
            }
        }
    }

    /// Replaces the URL with the one of the table, if it can be the same: details have no query of a URL, and only the
    /// beginning of a long one.
    fn complete_url(&mut self, stored: Option<String>) {
        let logged = self.url.as_deref();
        let without_query = stored.as_deref().and_then(|url| url.split(['?', '#']).next());
        let is_same = without_query.zip(logged).is_some_and(|(stored, logged)| {
            stored == logged || logged.len() >= MIN_CUT_URL_LEN && stored.starts_with(logged)
        });
        if is_same {
            self.url = stored;
        }
    }

    /// Replaces `#` and the id of an owner with the username, if the restored database has the same member, and the
    /// username of an owner with `#` and the id, if it does not.
    fn with_owner_in(mut self, restored: &Connection, replaced: &Connection) -> Result<Self> {
        let Some(owner) = self.owner.as_deref() else {
            return Ok(self);
        };
        if let Some(id) = audit::parse_marked_id(owner) {
            let id = id.parse().ok();
            let find = |board: &Connection| id.map(|id| Account::find(board, id)).transpose();
            let last = find(replaced)?.flatten();
            // Another member has the id in the restored database if the id was assigned again.
            if let Some(found) = find(restored)?.flatten()
                && last.is_none_or(|last| last.name == found.name)
            {
                self.owner = Some(found.name);
            }
        } else if let Some(lost) = NamedMember::find_lost(owner, restored, replaced)? {
            self.owner = Some(audit::marked_id(lost));
        }
        Ok(self)
    }

    /// Returns the values that differ from `other`.
    fn without(self, other: &Self) -> Self {
        let differs = |value: Option<String>, other| value.filter(|value| Some(value) != other);
        Self {
            url: differs(self.url, other.url.as_ref()),
            topics: differs(self.topics, other.topics.as_ref()),
            owner: differs(self.owner, other.owner.as_ref()),
        }
    }
}

struct Account {
    id: i64,
    name: String,
    is_banned: bool,
    password_hash: Option<String>,
    groups: Groups,
}

impl Account {
    fn read(row: &Row<'_>) -> Result<Self> {
        let groups: String = row.get("groups")?;
        Ok(Self {
            id: row.get("id")?,
            name: row.get("username")?,
            is_banned: row.get("banned")?,
            password_hash: row.get("password_hash")?,
            groups: groups.parse().unwrap_or_default(),
        })
    }

    fn find(board: &Connection, id: i64) -> Result<Option<Self>> {
        let find = "SELECT * FROM member WHERE id = ?1";
        board.prepare_cached(find)?.query_row([id], Self::read).optional()
    }

    fn find_by_name(board: &Connection, name: &str) -> Result<Option<Self>> {
        let find = "SELECT * FROM member WHERE lower(username) = lower(?1)";
        board.prepare_cached(find)?.query_row([name], Self::read).optional()
    }
}

/// Member of the replaced database, found by name.
struct NamedMember {
    id: i64,
    /// `true` if the restored database has the member with the same id and name.
    is_restored: bool,
}

impl NamedMember {
    fn find(name: &str, restored: &Connection, replaced: &Connection) -> Result<Option<Self>> {
        let Some(Account { id, name, .. }) = Account::find_by_name(replaced, name)? else {
            return Ok(None);
        };
        let same = Account::find(restored, id)?;
        Ok(Some(Self { id, is_restored: same.is_some_and(|same| same.name == name) }))
    }

    /// Returns the id of a member whom the restored database does not have.
    fn find_lost(name: &str, restored: &Connection, replaced: &Connection) -> Result<Option<i64>> {
        let found = Self::find(name, restored, replaced)?;
        Ok(found.filter(|member| !member.is_restored).map(|lost| lost.id))
    }
}

/// The entries that a restored database lacks.
#[derive(Default)]
struct NewEntries {
    /// By action and target, the number and the details of the last entry. The target of an entry about a member is the id.
    last: BTreeMap<(String, String), (usize, String)>,
    /// Ids of the members whom an erasure removed with their posts.
    erased_with_posts: BTreeSet<String>,
    /// By endpoint the last values that the entries set.
    updated_endpoints: BTreeMap<String, EndpointValues>,
    /// By endpoint the id of an owner. If this member was erased, the erasure replaced the details of all entries about the
    /// endpoint.
    hidden_endpoints: BTreeMap<String, String>,
    parameters: Vec<Vec<String>>,
}

impl NewEntries {
    fn find(restored: &Connection, replaced: &Connection) -> Result<Self> {
        const COLUMNS: [&str; 10] = [
            "id",
            "occurred_at",
            "actor",
            "os_user",
            "origin",
            "address",
            "action",
            "target",
            "details",
            "count",
        ];
        let actions = ACTIONS.map(|action| action.to_string());
        let columns = COLUMNS.map(|column| format!("CAST(coalesce({column}, '') AS TEXT)"));
        // The rows are in the order of the changes. The times are not in this order if the clock was set back.
        let find = format!(
            "SELECT {} FROM forum_api_audit_log WHERE action IN ({}) ORDER BY rowid",
            columns.join(", "),
            vec!["?"; actions.len()].join(", "),
        );
        let mut known_entry =
            restored.prepare("SELECT 1 FROM forum_api_audit_log WHERE id = ?1")?;
        let mut entries = replaced.prepare(&find)?;
        let mut rows = entries.query(params_from_iter(actions))?;
        let mut found = Self::default();
        while let Some(row) = rows.next()? {
            let columns = 0..COLUMNS.len();
            let mut texts: Vec<String> =
                columns.map(|column| row.get(column)).collect::<Result<_>>()?;
            if let [id, .., action, target, details, _] = &mut texts[..]
                && !known_entry.exists([id.as_str()])?
            {
                found.add(action, target, details, restored, replaced)?;
                found.parameters.push(texts);
            }
        }
        Ok(found)
    }

    /// Adds an entry. In its target and its details, `#` and the id replace the name of a member whom the restored database
    /// does not have.
    fn add(
        &mut self,
        action: &str,
        target: &mut String,
        details: &mut String,
        restored: &Connection,
        replaced: &Connection,
    ) -> Result<()> {
        let mut about = target.clone();
        if action == AuditAction::ENDPOINT_UPDATED.as_str() {
            let only_owner = details.strip_prefix("owner ").filter(|owner| !owner.contains(';'));
            if let Some(owner) = only_owner.and_then(audit::parse_marked_id) {
                self.hidden_endpoints.insert(about.clone(), owner.into());
            }
            let mut parts: Vec<_> = details.split("; ").map(str::to_owned).collect();
            for part in &mut parts {
                if let Some(owner) = part.strip_prefix("owner ")
                    && let Some(lost) = NamedMember::find_lost(owner, restored, replaced)?
                {
                    *part = format!("owner {}", audit::marked_id(lost));
                }
            }
            *details = parts.join("; ");
            self.updated_endpoints.entry(about.clone()).or_default().set(details);
        } else if OF_MEMBERS.iter().any(|one| one.as_str() == action) {
            if let Some(id) = audit::parse_marked_id(target) {
                about = id.into();
            } else if let Some(member) = NamedMember::find(target, restored, replaced)? {
                about = member.id.to_string();
                if !member.is_restored {
                    *target = audit::marked_id(member.id);
                }
            } else {
                return Ok(());
            }
        }
        if action == audit::MEMBER_ERASED.as_str() && details == WITH_POSTS {
            self.erased_with_posts.insert(about.clone());
        }
        let entry = (self.parameters.len(), details.to_owned());
        self.last.insert((action.to_owned(), about), entry);
        Ok(())
    }

    /// Returns the targets of the entries of an action.
    fn targets(&self, action: &AuditAction) -> Vec<&str> {
        let entries = self.last.keys().filter(|(found, _)| found == action.as_str());
        entries.map(|(_, target)| target.as_str()).collect()
    }

    fn last(&self, action: &AuditAction, target: &str) -> Option<&(usize, String)> {
        self.last.get(&(action.to_string(), target.to_owned()))
    }

    /// Returns whether the last of the entries of two actions about a target is one of the first action.
    fn is_last(&self, action: &AuditAction, opposite: &AuditAction, target: &str) -> bool {
        let number = |action| self.last(action, target).map(|(number, _)| number);
        number(action) > number(opposite)
    }

    /// Returns the last groups of a member.
    fn groups(&self, member: &str) -> Option<Groups> {
        let (_, details) = self.last(&audit::MEMBER_GROUPS_CHANGED, member)?;
        details.strip_prefix("groups ")?.split(", ").next()?.parse().ok()
    }
}

impl CarriedChanges {
    /// Compares a `restored` database with the one that it replaces. Returns `None` if they are different boards.
    pub fn find(restored: &Connection, replaced: &Connection) -> Result<Option<Self>> {
        let id = board_id(restored)?;
        if id.is_none() || id != board_id(replaced)? {
            return Ok(None);
        }
        let entries = NewEntries::find(restored, replaced)?;
        let mut changes = Self::default();
        for lookup in entries.targets(&AuditAction::TOKEN_REVOKED) {
            let find_valid =
                "SELECT 1 FROM forum_api_tokens WHERE lookup = ?1 AND revoked_at IS NULL";
            if restored.prepare_cached(find_valid)?.exists([lookup])? {
                changes.revoked_tokens.push(lookup.into());
            }
        }
        changes.add_members(&entries, restored, replaced)?;
        for id in entries.targets(&audit::MEMBER_ERASED) {
            let Ok(member) = id.parse() else {
                continue;
            };
            if let Some(Account { name, .. }) = Account::find(restored, member)? {
                let with_posts = entries.erased_with_posts.contains(id);
                changes.erased_members.push(ErasedMember { name, with_posts });
            }
        }
        changes.add_endpoints(&entries, restored, replaced)?;
        changes.entries = entries.parameters;
        Ok(Some(changes))
    }

    fn add_members(
        &mut self,
        entries: &NewEntries,
        restored: &Connection,
        replaced: &Connection,
    ) -> Result<()> {
        let passwords = entries.targets(&audit::MEMBER_PASSWORD_CHANGED);
        let banned = entries.targets(&audit::MEMBER_BANNED);
        let regrouped = entries.targets(&audit::MEMBER_GROUPS_CHANGED);
        let ids: BTreeSet<_> = [&banned[..], &regrouped, &passwords].concat().into_iter().collect();
        for id in ids {
            // The erasure is repeated, and includes the other changes.
            if entries.last(&audit::MEMBER_ERASED, id).is_some() {
                continue;
            }
            let Ok(member) = id.parse() else {
                continue;
            };
            let Some(former) = Account::find(restored, member)? else {
                continue;
            };
            let last = match Account::find(replaced, member)? {
                // The id was assigned again, after a restore that could not read the database that it replaced.
                Some(last) if last.name != former.name => continue,
                Some(last) => last,
                None => {
                    if passwords.contains(&id) {
                        self.lost_passwords.push(former.name.clone());
                    }
                    Account {
                        id: former.id,
                        name: former.name.clone(),
                        is_banned: entries.is_last(
                            &audit::MEMBER_BANNED,
                            &audit::MEMBER_UNBANNED,
                            id,
                        ),
                        password_hash: None,
                        groups: entries.groups(id).unwrap_or(former.groups),
                    }
                }
            };
            let has_lost_a_group = former.groups.without(last.groups) != Groups::default();
            let member = ChangedMember {
                id: former.id,
                name: former.name,
                is_banned: last.is_banned && !former.is_banned,
                password_hash: last.password_hash.filter(|hash| {
                    passwords.contains(&id) && Some(hash) != former.password_hash.as_ref()
                }),
                groups: (has_lost_a_group && regrouped.contains(&id)).then_some(last.groups),
            };
            if member.is_banned || member.password_hash.is_some() || member.groups.is_some() {
                self.members.push(member);
            }
        }
        self.members.sort_by(|one, other| one.name.cmp(&other.name));
        self.lost_passwords.sort();
        Ok(())
    }

    fn add_endpoints(
        &mut self,
        entries: &NewEntries,
        restored: &Connection,
        replaced: &Connection,
    ) -> Result<()> {
        let changed = [
            AuditAction::ENDPOINT_REMOVED,
            AuditAction::ENDPOINT_UPDATED,
            AuditAction::ENDPOINT_DISABLED,
            AuditAction::ENDPOINT_SECRET_ROTATED,
            AuditAction::ENDPOINT_SECRET_ACTIVATED,
        ];
        let ids: BTreeSet<_> = changed.iter().flat_map(|action| entries.targets(action)).collect();
        for id in ids {
            let find = "SELECT enabled FROM forum_api_endpoints WHERE id = ?1";
            let enabled = restored.query_row(find, [id], |row| row.get(0)).optional()?;
            let Some(was_enabled) = enabled else {
                continue;
            };
            let mut add = |change| self.endpoints.push(ChangedEndpoint { id: id.into(), change });
            if entries.last(&AuditAction::ENDPOINT_REMOVED, id).is_some() {
                add(EndpointChange::Removed);
                continue;
            }
            let mut is_owner_lost = false;
            if let Some(updated) = entries.updated_endpoints.get(id)
                && let Some(former) = EndpointValues::find(restored, id)?
            {
                let present = EndpointValues::find(replaced, id)?;
                let owner = entries.hidden_endpoints.get(id);
                let is_hidden =
                    owner.is_some_and(|id| entries.last(&audit::MEMBER_ERASED, id).is_some());
                let last_values = match present {
                    Some(present) if is_hidden => present,
                    None if is_hidden => {
                        add(EndpointChange::Removed);
                        continue;
                    }
                    present => {
                        let mut logged = updated.clone();
                        // The table has another URL if an update was not repeated after an earlier restore.
                        logged.complete_url(present.and_then(|present| present.url));
                        logged
                    }
                };
                let mut last = last_values.with_owner_in(restored, replaced)?;
                let is_marked = |owner: &mut String| audit::parse_marked_id(owner).is_some();
                is_owner_lost = last.owner.take_if(is_marked).is_some();
                let values = last.without(&former);
                if values != EndpointValues::default() {
                    add(EndpointChange::Updated(values));
                }
            }
            if entries.last(&AuditAction::ENDPOINT_SECRET_ROTATED, id).is_some() {
                add(EndpointChange::SecretRotated);
            }
            let is_activated = entries.is_last(
                &AuditAction::ENDPOINT_SECRET_ACTIVATED,
                &AuditAction::ENDPOINT_SECRET_ROTATED,
                id,
            );
            if is_activated {
                add(EndpointChange::SecretActivated);
            }
            let is_disabled = entries.is_last(
                &AuditAction::ENDPOINT_DISABLED,
                &AuditAction::ENDPOINT_ENABLED,
                id,
            );
            if was_enabled && is_disabled {
                add(EndpointChange::Disabled);
            } else if was_enabled && is_owner_lost {
                add(EndpointChange::OwnerLost);
            }
        }
        Ok(())
    }
}

/// Returns the id of a board, which its backups have as well.
fn board_id(board: &Connection) -> Result<Option<String>> {
    let find = "SELECT value FROM setting WHERE key = ?1";
    board.query_row(find, [settings::BOARD_ID], |row| row.get(0)).optional()
}
