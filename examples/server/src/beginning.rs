//! What a new database begins with: the administrator's account, the demo board, and a token to try it with.

use forum_api::host::{Refusal, Result};
use forum_api::model::UserId;
use forum_api::runtime::{Clock, SystemClock, SystemEntropy};
use forum_api::scope::Surface;
use forum_api::token::{Issue, PlainToken, issue};

use crate::board::db::Database;
use crate::board::demo::{self, Trial};
use crate::board::{Board, passwords};
use crate::cli::Serve;
use crate::commands::token::scopes;
use crate::greeting::{New, Try};
use crate::password;

/// The administrator's password of a board to be.
#[derive(Debug)]
pub struct Password {
    text: String,
    given: bool,
}

/// The password of a board that is not there yet; `None` for one that has its administrator already.
pub fn password(options: &Serve, is_board: bool) -> Result<Option<Password>> {
    let given = options.admin_password_stdin;
    if is_board && given {
        tracing::warn!(
            "--admin-password-stdin is ignored: the board has its administrator already"
        );
    }
    if is_board {
        return Ok(None);
    }
    let text = if given {
        password::from_stdin()?
    } else {
        password::random()?
    };
    passwords::must_be_long_enough(&text)?;
    Ok(Some(Password { text, given }))
}

/// Begins a board with this password, if there is none yet; gives nothing for one that is there.
pub async fn begin(
    database: &Database,
    board: &Board,
    options: &Serve,
    password: Option<Password>,
) -> Result<Option<New>> {
    let Some(Password { text, given }) = password else {
        return board.migrate().await.map(|()| None);
    };
    let (hash, empty) = (passwords::hash_new(text.clone()).await?, options.empty);
    let begun = board
        .begin(move |tx, now| Box::pin(async move { demo::begin(tx, &hash, empty, now).await }));
    let Some(trial) = begun.await? else {
        return Ok(None);
    };
    let password = (!given).then_some(text);
    let trial = match trial {
        Some(trial) => Some(a_try(database, trial, options.surface.into()).await?),
        None => None,
    };
    Ok(Some(New { password, trial }))
}

async fn a_try(database: &Database, trial: Trial, surface: Surface) -> Result<Try> {
    let Trial {
        member,
        name,
        thread,
    } = trial;
    let token = token(database, member, surface).await?;
    Ok(Try {
        token,
        owner: name,
        thread,
    })
}

/// A token with all scopes that never expires.
async fn token(database: &Database, owner: i64, surface: Surface) -> Result<PlainToken> {
    let wanted = Issue {
        owner: &UserId::from(owner),
        label: "first steps",
        scopes: &scopes("all", surface),
        expires_in_days: "",
    };
    let tokens = database.stores().tokens;
    let issued = issue(&*tokens, &SystemEntropy, surface, wanted, SystemClock.now()).await;
    issued.map(|(token, _)| token).map_err(Refusal::failed)
}
