//! Commands other than `serve`.

use forum_api::host::BoardResult;
use forum_api::model::UserId;

use crate::board::{ReferenceBoard, accounts};

pub mod audit;
pub mod backup;
pub mod board;
pub mod config;
mod content;
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
