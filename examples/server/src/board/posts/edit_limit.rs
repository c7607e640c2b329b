//! Limit of a member's edits of posts and polls per hour.

use forum_api::host::BoardResult;
use forum_api::model::Timestamp;

use crate::board::access::actor::Actor;
use crate::board::db::{Bound, Transaction, bind};
use crate::board::rules;
use crate::board::settings::EDITS_PER_HOUR;
use crate::board::texts::Texts;

/// Column of the oldest of the last N edits within an hour, where N is the limit. The caller must have locked the
/// member's row.
pub const OLDEST: &str = "
    (
        SELECT edited_at FROM member_edit
        WHERE member_id = :member AND edited_at > :since AND edited_at <= :until
        ORDER BY edited_at DESC LIMIT 1 OFFSET :offset
    ) AS oldest_edit";

/// Refuses an edit beyond the limit. Staff is exempt.
pub fn check(
    actor: &Actor,
    oldest: Option<Timestamp>,
    now: Timestamp,
    texts: &Texts,
) -> BoardResult<()> {
    let oldest = oldest.filter(|_| limited(actor).is_some());
    let most = actor.settings.of(&EDITS_PER_HOUR);
    rules::check_frequency(oldest, now, most, rules::HOUR, texts.too_many_edits)
}

/// Runs the statements of an edit, and counts the edit.
pub async fn run_counted(
    tx: &Transaction<'_>,
    actor: &Actor,
    now: Timestamp,
    mut statements: Vec<&'static str>,
    mut parameters: Vec<Bound<'_>>,
) -> BoardResult<()> {
    let member = limited(actor);
    let since = now.saturating_sub(rules::HOUR);
    if member.is_some() {
        statements.extend([
            "DELETE FROM member_edit WHERE member_id = :member AND edited_at <= :since",
            "INSERT INTO member_edit (member_id, edited_at) VALUES (:member, :edited_at)",
        ]);
        parameters.extend_from_slice(bind! {
            ":member": member, ":since": since, ":edited_at": now,
        });
    }
    tx.execute_independent(&statements, &parameters).await.map(drop)
}

fn limited(actor: &Actor) -> Option<i64> {
    actor.member.filter(|_| !actor.groups.are_staff())
}
