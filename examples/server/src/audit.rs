//! Entries of the audit log for commands.

use std::fmt::Display;
use std::fs;

use forum_api::audit::{AuditAction, AuditActor, AuditEntry};
use forum_api::host::{BoardResult, OrInternal};
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use rustix::process::getuid;

pub const BOARD_OFFLINE: AuditAction = AuditAction::from_static("board.offline");
pub const BOARD_ONLINE: AuditAction = AuditAction::from_static("board.online");
pub const CONTENT_GENERATED: AuditAction = AuditAction::from_static("content.generated");
pub const DATABASE_COPIED: AuditAction = AuditAction::from_static("database.copied");
pub const DATABASE_RESTORED: AuditAction = AuditAction::from_static("database.restored");
pub const FORUM_ADDED: AuditAction = AuditAction::from_static("forum.added");
pub const FORUM_MODERATOR_ADDED: AuditAction = AuditAction::from_static("forum.moderator_added");
pub const MEMBER_ADDED: AuditAction = AuditAction::from_static("member.added");
pub const MEMBER_BANNED: AuditAction = AuditAction::from_static("member.banned");
pub const MEMBER_ERASED: AuditAction = AuditAction::from_static("member.erased");
pub const MEMBER_GROUPS_CHANGED: AuditAction = AuditAction::from_static("member.groups_changed");
pub const MEMBER_PASSWORD_CHANGED: AuditAction =
    AuditAction::from_static("member.password_changed");
pub const MEMBER_UNBANNED: AuditAction = AuditAction::from_static("member.unbanned");
pub const POST_APPROVED: AuditAction = AuditAction::from_static("post.approved");
pub const POST_DELETED: AuditAction = AuditAction::from_static("post.deleted");
pub const POST_RESTORED: AuditAction = AuditAction::from_static("post.restored");
pub const SETTING_CHANGED: AuditAction = AuditAction::from_static("setting.changed");
pub const THREAD_LOCKED: AuditAction = AuditAction::from_static("thread.locked");
pub const THREAD_PINNED: AuditAction = AuditAction::from_static("thread.pinned");
pub const THREAD_UNLOCKED: AuditAction = AuditAction::from_static("thread.unlocked");
pub const THREAD_UNPINNED: AuditAction = AuditAction::from_static("thread.unpinned");

/// Returns the user of the operating system who runs the command, by the real user id of the process.
pub fn actor() -> AuditActor {
    let accounts = fs::read("/etc/passwd").unwrap_or_default();
    let user = system_user(getuid().as_raw(), &String::from_utf8_lossy(&accounts));
    AuditActor::command_line(Some(user))
}

/// Formats a user id with its name, for example `uid 1000 (alice)`. `accounts` has the format of `/etc/passwd`; an id
/// that it does not contain has no name.
fn system_user(id: u32, accounts: &str) -> String {
    let name = accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let is_id = fields.nth(1)?.parse() == Ok(id);
        is_id.then_some(name)
    });
    match name {
        Some(name) => format!("uid {id} ({name})"),
        None => format!("uid {id}"),
    }
}

/// Mark before the id of a member whom the log does not name. No username contains it.
const ID_MARK: char = '#';

/// Returns the text that replaces the username of a member who was erased, or whom a restored database does not have.
pub fn marked_id(member: impl Display) -> String {
    format!("{ID_MARK}{member}")
}

/// Returns the id in a text of [`marked_id`]; `None` for a username.
pub fn parse_marked_id(text: &str) -> Option<&str> {
    text.strip_prefix(ID_MARK)
}

/// Creates the entry of a change by this command.
pub fn entry(action: AuditAction, target: impl ToString) -> BoardResult<AuditEntry> {
    Ok(actor().entry(&OsRandom, SystemClock.now(), action, target).or_internal()?)
}

#[cfg(test)]
mod tests {
    use super::system_user;

    #[test]
    fn a_system_user_has_the_first_name_of_the_id() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\n# no account\n:x:7::::\nalice:x:1000:1000::/:\nalias:x:1000:1::/:\nbob:x:10000:0::/:\n";
        assert_eq!(system_user(0, accounts), "uid 0 (root)");
        assert_eq!(system_user(1000, accounts), "uid 1000 (alice)");
        for unnamed in [7, 100] {
            assert_eq!(system_user(unnamed, accounts), format!("uid {unnamed}"));
        }
        assert_eq!(system_user(0, ""), "uid 0");
    }
}
