//! The content of a new database: the administrator's account, the demo board, and a token for first calls.

use forum_api::host::{BoardResult, OrInternal};
use forum_api::model::UserId;
use forum_api::runtime::{Clock, OsRandom, SystemClock};
use forum_api::scope::Surface;
use forum_api::token::{TokenRequest, issue_token};
use tokio::task::spawn_blocking;

use crate::board::ReferenceBoard;
use crate::board::accounts::passwords;
use crate::board::demo;
use crate::options::ServeArgs;
use crate::prompt;
use crate::startup_banner::{ExampleCalls, NewBoard};

/// The administrator's password for a new board.
#[derive(Debug)]
pub struct Password {
    text: String,
    given: bool,
}

/// Reads or generates the password of a new board; `None` for an existing one.
pub async fn password(options: &ServeArgs, is_board: bool) -> BoardResult<Option<Password>> {
    let given = options.admin_password_stdin;
    if is_board {
        if given {
            tracing::warn!(
                "--admin-password-stdin ignored: the board already has an administrator"
            );
        }
        return Ok(None);
    }
    let text = if given {
        // Reads on another thread, so that a signal can end the process during the wait for the line.
        spawn_blocking(|| prompt::first_line_of_stdin("a password")).await.or_internal()??
    } else {
        prompt::random_password()?
    };
    passwords::check_length(&text)?;
    Ok(Some(Password { text, given }))
}

/// Creates a board. Returns `None` if another server has created it meanwhile.
pub async fn create(
    board: &ReferenceBoard,
    options: &ServeArgs,
    password: Password,
) -> BoardResult<Option<NewBoard>> {
    let Password { text, given } = password;
    let hash = passwords::hash_new(text.clone()).await?;
    let empty = options.empty;
    let Some(trial) = board
        .begin(move |tx, now| Box::pin(async move { demo::begin(tx, &hash, empty, now).await }))
        .await?
    else {
        return Ok(None);
    };
    let mut new = NewBoard { password: (!given).then_some(text), example_calls: None };
    if let Some(trial) = trial {
        let tokens = board.database.stores().tokens;
        let surface = Surface::from(options.surface);
        let owner = UserId::from(trial.member);
        let scopes = Vec::from_iter(surface.scopes());
        let wanted = TokenRequest::new(&owner, &scopes).owner_name(trial.name).label("first steps");
        let (token, _) = issue_token(&*tokens, &OsRandom, surface, wanted, SystemClock.now())
            .await
            .or_internal()?;
        new.example_calls = Some(ExampleCalls { token, owner: trial.name, thread: trial.thread });
    }
    Ok(Some(new))
}
