//! Accounts of the board.

use std::collections::HashMap;

use forum_api::host::BoardResult;
use forum_api::model::{UserId, UserRef};

use crate::board::accounts::passwords;
use crate::board::{ReferenceBoard, accounts};

pub use crate::board::accounts::Login as Account;

/// Returns the account of this member; `None` if it does not exist or cannot sign in.
pub async fn account(board: &ReferenceBoard, user: UserRef) -> BoardResult<Option<Account>> {
    board.read(move |connection| Box::pin(accounts::login(connection, user))).await
}

/// Returns the account if the password is correct. Takes the same time if there is no account.
pub async fn with_password(
    account: Option<Account>,
    password: &str,
) -> BoardResult<Option<Account>> {
    let Some(account) = account else {
        return passwords::hash(password.into()).await.map(|_| None);
    };
    let is_valid = passwords::verify(password.into(), account.password_hash.clone()).await?;
    Ok(is_valid.then_some(account))
}

/// Returns the id of the member of this name.
pub async fn id(board: &ReferenceBoard, name: &str) -> BoardResult<Option<i64>> {
    let name = UserRef::Name(name.to_owned());
    board
        .read(move |connection| Box::pin(async move { accounts::find(connection, &name).await }))
        .await
}

/// Returns the names of these members, by one query. Members whose account is gone are absent.
pub async fn names(
    board: &ReferenceBoard,
    members: Vec<UserId>,
) -> BoardResult<HashMap<UserId, String>> {
    board.read(move |connection| Box::pin(accounts::names(connection, members))).await
}

/// Returns the names of the members who were active last and can own a token.
pub async fn last_active(board: &ReferenceBoard, limit: u32) -> BoardResult<Vec<String>> {
    board.read(move |connection| Box::pin(accounts::last_active(connection, limit))).await
}
