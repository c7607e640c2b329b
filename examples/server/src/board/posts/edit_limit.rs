//! Limit of a member's edits of posts and polls per hour.

use forum_api::host::BoardResult;
use forum_api::model::Timestamp;

use super::post_insert::CLOCK_TOLERANCE;
use crate::board::access::actor::Actor;
use crate::board::db::{Bound, DbResult, Transaction, bind};
use crate::board::rules;
use crate::board::texts::Texts;

/// Refuses an edit beyond the limit. Staff is exempt. The caller must have locked the member's row.
pub async fn check(
    tx: &Transaction<'_>,
    actor: &Actor,
    now: Timestamp,
    most: u32,
    texts: &Texts,
) -> BoardResult<()> {
    let Some(member) = limited(actor) else {
        return Ok(());
    };
    let parameters = bind! {
        ":member": member, ":since": now.saturating_sub(rules::HOUR),
        ":until": now.saturating_add(CLOCK_TOLERANCE), ":others": i64::from(most) - 1,
    };
    let oldest = tx
        .first(
            "SELECT edited_at FROM member_edit
             WHERE member_id = :member AND edited_at > :since AND edited_at <= :until
             ORDER BY edited_at DESC LIMIT 1 OFFSET :others",
            parameters,
            |row| row.value("edited_at"),
        )
        .await?;
    rules::check_frequency(oldest, now, most, rules::HOUR, texts.too_many_edits)
}

/// Runs the statements of an edit, and counts the edit.
pub async fn run_counted(
    tx: &Transaction<'_>,
    actor: &Actor,
    now: Timestamp,
    mut statements: Vec<&'static str>,
    mut parameters: Vec<Bound<'_>>,
) -> DbResult<()> {
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
    tx.execute_all(&statements, &parameters).await.map(drop)
}

fn limited(actor: &Actor) -> Option<i64> {
    actor.member.filter(|_| !actor.groups.are_staff())
}
