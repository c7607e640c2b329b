//! Commands other than `serve`.

use forum_api::host::BoardResult;
use forum_api::model::UserId;

use crate::board::{ReferenceBoard, accounts};
use crate::sign_in::accounts::names;

pub mod audit;
pub mod backup;
pub mod board;
pub mod config;
mod content;
pub mod copy;
pub mod delivery;
pub mod member;
pub mod restore;
pub mod token;
pub mod webhook;
pub mod worker;

async fn member_named(board: &ReferenceBoard, name: String) -> BoardResult<UserId> {
    let member = board
        .read(move |connection| Box::pin(async move { accounts::named(connection, &name).await }));
    member.await.map(UserId::from)
}

/// Returns the username of a member, or the id if the account was removed.
async fn username(board: &ReferenceBoard, member: &UserId) -> BoardResult<String> {
    let mut names = names(board, vec![member.clone()]).await?;
    Ok(names.remove(member).unwrap_or_else(|| member.to_string()))
}
