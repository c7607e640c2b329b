//! What signing in asks of the board.

use std::collections::HashMap;

use forum_api::host::{Refusal, Result};
use forum_api::model::UserId;

use crate::board::{Board, accounts, passwords};

pub use crate::board::accounts::Login as Account;

/// The account of this name, if it can sign in.
pub async fn named(board: &Board, name: &str) -> Result<Option<Account>> {
    match id(board, name).await? {
        Some(member) => account(board, member).await,
        None => Ok(None),
    }
}

/// The account of this member, if it can sign in.
pub async fn account(board: &Board, member: i64) -> Result<Option<Account>> {
    let login = board.read(move |connection| {
        Box::pin(async move { Ok(accounts::login(connection, member).await?) })
    });
    login.await
}

/// The account, if this is its password. Where there is no account, it takes as long to say so.
pub async fn with_password(account: Option<Account>, password: &str) -> Result<Option<Account>> {
    let Some(account) = account else {
        return passwords::hash(password.into()).await.map(|_| None);
    };
    let right = passwords::is_right(password.into(), account.password_hash.clone()).await?;
    Ok(right.then_some(account))
}

/// The member of this name.
pub async fn id(board: &Board, name: &str) -> Result<Option<i64>> {
    let name = name.to_owned();
    let found = board
        .read(move |connection| Box::pin(async move { accounts::named(connection, &name).await }));
    match found.await {
        Err(Refusal::NotFound(_)) => Ok(None),
        found => found.map(Some),
    }
}

/// A member's name; `None` when the account is gone.
pub async fn name(board: &Board, member: &UserId) -> Result<Option<String>> {
    let Ok(member) = member.number() else {
        return Ok(None);
    };
    let name = board.read(move |connection| Box::pin(accounts::name(connection, member)));
    name.await
}

/// Returns the names of these members, by one query. Members whose account is gone are absent.
pub async fn names(board: &Board, members: &[UserId]) -> Result<HashMap<UserId, String>> {
    let members = members.to_vec();
    let names = board.read(move |connection| {
        Box::pin(async move { accounts::names(connection, &members).await })
    });
    names.await
}
