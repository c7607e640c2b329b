//! What a new database begins with: the administrator's account, the demo board, and a token to try it with.

use forum_api::clock::{Clock, SystemClock, SystemEntropy};
use forum_api::host::{Refusal, Result};
use forum_api::model::UserId;
use forum_api::scope::Surface;
use forum_api::store::sqlite::{Database, SqliteTokens};
use forum_api::token::{Issue, PlainToken, issue};

use crate::board::demo::{self, Trial};
use crate::board::{Board, passwords};
use crate::cli::Serve;
use crate::commands::token::scopes;
use crate::greeting::{New, Try};
use crate::password;

/// Begins a board in a new database; gives nothing for one that has a board.
pub async fn begin(database: &Database, board: &Board, options: &Serve) -> Result<Option<New>> {
    if board.is_there().await? {
        if options.admin_password_stdin {
            tracing::warn!(
                "--admin-password-stdin is ignored: the board has its administrator already"
            );
        }
        return board.migrate().await.map(|()| None);
    }
    let given = options.admin_password_stdin;
    let password = if given {
        password::from_stdin()?
    } else {
        password::random()?
    };
    let (hash, empty) = (passwords::hash(password.clone()).await?, options.empty);
    let begun = board.begin(move |tx, now| demo::begin(tx, &hash, empty, now));
    let Some(trial) = begun.await? else {
        return Ok(None);
    };
    let password = (!given).then_some(password);
    let trial = match trial {
        Some(Trial {
            member,
            name,
            thread,
        }) => {
            let token = token(database, member, options.surface.into()).await?;
            Some(Try {
                token,
                owner: name,
                thread,
            })
        }
        None => None,
    };
    Ok(Some(New { password, trial }))
}

/// A token with all scopes that never expires.
async fn token(database: &Database, owner: i64, surface: Surface) -> Result<PlainToken> {
    let wanted = Issue {
        owner: &UserId::from(owner),
        label: "first steps",
        scopes: &scopes("all", surface),
        expires_in_days: "",
    };
    let tokens = SqliteTokens::new(database.clone());
    let issued = issue(&tokens, &SystemEntropy, surface, wanted, SystemClock.now()).await;
    issued.map(|(token, _)| token).map_err(Refusal::failed)
}
