//! Ids and names of members.

use forum_api::host::BoardResult;
use forum_api::model::UserId;

use crate::board::{ReferenceBoard, accounts};
use crate::sign_in::accounts::names;

/// Returns the id of the member with this name.
pub async fn member_id(board: &ReferenceBoard, name: String) -> BoardResult<i64> {
    board
        .read(move |connection| Box::pin(async move { accounts::find_id(connection, &name).await }))
        .await
}

/// Returns the id of the member with this name as the API represents it.
pub async fn member_named(board: &ReferenceBoard, name: String) -> BoardResult<UserId> {
    member_id(board, name).await.map(UserId::from)
}

/// Returns the id and the username of the member with this name, whose upper and lower case can differ.
pub async fn id_and_username(board: &ReferenceBoard, name: String) -> BoardResult<(i64, String)> {
    let member = member_id(board, name).await?;
    Ok((member, username(board, &UserId::from(member)).await?))
}

/// Returns the username of a member, or the id if the account was removed.
pub async fn username(board: &ReferenceBoard, member: &UserId) -> BoardResult<String> {
    let mut found = names(board, vec![member.clone()]).await?;
    Ok(found.remove(member).unwrap_or_else(|| member.to_string()))
}
