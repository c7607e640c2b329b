//! Entries of the audit log for commands.

use std::env;

use forum_api::audit::{AuditAction, AuditActor, AuditEntry};
use forum_api::host::{BoardResult, OrInternal};
use forum_api::runtime::{Clock, OsRandom, SystemClock};

pub const BOARD_OFFLINE: AuditAction = AuditAction::from_static("board.offline");
pub const BOARD_ONLINE: AuditAction = AuditAction::from_static("board.online");
pub const CONTENT_GENERATED: AuditAction = AuditAction::from_static("content.generated");
pub const DATABASE_RESTORED: AuditAction = AuditAction::from_static("database.restored");
pub const FORUM_ADDED: AuditAction = AuditAction::from_static("forum.added");
pub const FORUM_MODERATOR_ADDED: AuditAction = AuditAction::from_static("forum.moderator_added");
pub const MEMBER_ADDED: AuditAction = AuditAction::from_static("member.added");
pub const MEMBER_BANNED: AuditAction = AuditAction::from_static("member.banned");
pub const MEMBER_GROUPS_CHANGED: AuditAction = AuditAction::from_static("member.groups_changed");
pub const MEMBER_PASSWORD_CHANGED: AuditAction =
    AuditAction::from_static("member.password_changed");
pub const MEMBER_UNBANNED: AuditAction = AuditAction::from_static("member.unbanned");
pub const POST_APPROVED: AuditAction = AuditAction::from_static("post.approved");
pub const POST_RESTORED: AuditAction = AuditAction::from_static("post.restored");
pub const SETTING_CHANGED: AuditAction = AuditAction::from_static("setting.changed");
pub const THREAD_LOCKED: AuditAction = AuditAction::from_static("thread.locked");
pub const THREAD_PINNED: AuditAction = AuditAction::from_static("thread.pinned");
pub const THREAD_UNLOCKED: AuditAction = AuditAction::from_static("thread.unlocked");
pub const THREAD_UNPINNED: AuditAction = AuditAction::from_static("thread.unpinned");

/// Returns the user of the operating system who runs the command; with `sudo`, the user who ran `sudo`.
pub fn actor() -> AuditActor {
    let names = ["SUDO_USER", "USER", "LOGNAME"].into_iter();
    let mut names = names.filter_map(|variable| env::var(variable).ok());
    AuditActor::command_line(names.find(|name| !name.is_empty()))
}

/// Creates the entry of a change by this command.
pub fn entry(action: AuditAction, target: impl ToString) -> BoardResult<AuditEntry> {
    let entry = actor().entry(&OsRandom, SystemClock.now(), action, target);
    Ok(entry.or_internal()?)
}
