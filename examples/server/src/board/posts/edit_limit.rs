//! Limit of a member's edits of posts and polls per hour.

use forum_api::host::BoardResult;
use forum_api::model::Timestamp;

use super::post_insert::CLOCK_TOLERANCE;
use crate::board::access::actor::Actor;
use crate::board::db::{Transaction, bind, bind_owned};
use crate::board::rules;
use crate::board::texts::Texts;

/// Counts an edit that changes something, or refuses it. Staff is exempt. The caller must have locked the member's row.
pub async fn charge(
    tx: &Transaction<'_>,
    actor: &Actor,
    now: Timestamp,
    most: u32,
    texts: &Texts,
) -> BoardResult<()> {
    let Some(member) = actor.member.filter(|_| !actor.groups.are_staff()) else {
        return Ok(());
    };
    let since = now.saturating_sub(rules::HOUR);
    let parameters = bind! {
        ":member": member, ":since": since, ":until": now.saturating_add(CLOCK_TOLERANCE),
        ":others": i64::from(most) - 1,
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
    rules::check_frequency(oldest, now, most, rules::HOUR, texts.too_many_edits)?;
    tx.defer_all(
        &[
            "DELETE FROM member_edit WHERE member_id = :member AND edited_at <= :since",
            "INSERT INTO member_edit (member_id, edited_at) VALUES (:member, :now)",
        ],
        bind_owned! { ":member": member, ":since": since, ":now": now },
    )?;
    Ok(())
}
