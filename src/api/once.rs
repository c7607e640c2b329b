//! Step 9: `Idempotency-Key`, at most once whatever happens (contract, section 5).

use std::future::Future;

use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};

use super::answer::Answer;
use super::complaint::Complaint;
use super::problem::{Code, KeyConflict, Problem};
use super::row::Row;
use super::service::Core;
use crate::measure;
use crate::store::{Attempt, Begin, Kept, Outcome, Ticket};
use crate::token::Lookup;
use crate::unwind::caught;

const KEY: &str = "idempotency-key";

/// The store of first answers, as it is counted.
const STORE: &str = "idempotency";

/// The request's key, if its row takes one and it has one: 1-64 visible ASCII characters.
pub(super) fn key(row: &Row, headers: &HeaderMap) -> Result<Option<String>, Complaint> {
    let mut values = headers.get_all(KEY).iter();
    let Some(value) = values.next().filter(|_| row.takes_key()) else {
        return Ok(None);
    };
    let legal = |key: &&str| {
        (1..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = value
        .to_str()
        .ok()
        .filter(legal)
        .filter(|_| values.next().is_none());
    key.map(|key| Some(key.to_owned()))
        .ok_or_else(|| Complaint::expected(KEY, "1 to 64 visible ASCII characters"))
}

/// The request as its key knows it: method, path and body, byte for byte.
pub(super) fn attempt(
    token: Option<Lookup>,
    key: Option<String>,
    head: &Parts,
    body: &[u8],
) -> Option<Attempt> {
    let (token, key) = token.zip(key)?;
    let mut hash = Sha256::new();
    for part in [
        head.method.as_str().as_bytes(),
        head.uri.path().as_bytes(),
        body,
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let request = hash.finalize().into();
    Some(Attempt {
        token,
        key,
        request,
    })
}

/// Runs `command` unless its key was answered already. Without a key it always runs.
pub(super) async fn once(
    core: &Core,
    attempt: Option<Attempt>,
    request_id: &str,
    command: impl Future<Output = Result<Answer, Problem>>,
) -> Result<Answer, Problem> {
    let Some(attempt) = attempt else {
        return command.await;
    };
    let store = &core.stores.idempotency;
    let begun = store.begin(&attempt, core.clock.now()).await;
    match begun.inspect_err(|_| measure::store_failed(STORE))? {
        Begin::First(ticket) => first(core, &ticket, request_id, command).await,
        Begin::Repeat(kept) => Ok(kept.into()),
        Begin::Running => Err(Problem::Key(KeyConflict::Running)),
        Begin::Unknown => Err(Problem::Key(KeyConflict::Unknown)),
        Begin::OtherRequest => Err(Problem::Key(KeyConflict::OtherRequest)),
    }
}

async fn first(
    core: &Core,
    ticket: &Ticket,
    request_id: &str,
    command: impl Future<Output = Result<Answer, Problem>>,
) -> Result<Answer, Problem> {
    let result = caught(command).await;
    let outcome = match &result {
        Ok(answer) => Outcome::Answered(answer.into()),
        Err(problem) => refused(core, problem, request_id),
    };
    if let Err(fault) = core.stores.idempotency.settle(ticket, outcome).await {
        measure::store_failed(STORE);
        tracing::error!(%fault, request_id, "the outcome of an Idempotency-Key was not noted");
    }
    result
}

/// The board's own refusals are answers like any other, but for its flood limits, which pass.
fn refused(core: &Core, problem: &Problem, request_id: &str) -> Outcome {
    match problem {
        Problem::Internal(_) | Problem::Withheld => Outcome::Unknown,
        Problem::Board(code, ..) if *code != Code::BoardRateLimited => {
            Outcome::Answered(Kept::from(&Answer::refusal(
                problem,
                &core.settings.messages,
                request_id,
            )))
        }
        _ => Outcome::DidNotRun,
    }
}
