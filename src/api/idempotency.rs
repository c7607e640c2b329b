//! Step 9: `Idempotency-Key`, at most once whatever happens (contract, section 5).

use std::future::Future;

use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest, Sha256};

use super::row::Row;
use super::service::Core;
use crate::api::access;
use crate::api::error::{KeyConflict, Problem};
use crate::api::extract::error::Complaint;
use crate::api::response::Answer;
use crate::host::Caller;
use crate::metrics::recorder;
use crate::model::UserRef;
use crate::store::{Attempt, Begin, Outcome, Ticket};
use crate::task::catch_panic;
use crate::token::Lookup;

const KEY: &str = "idempotency-key";

/// The store, as it is counted.
const STORE: &str = "idempotency";

/// A request at step 9.
pub(super) struct Keyed<'a> {
    /// `None` without a key.
    pub(super) attempt: Option<Attempt>,
    pub(super) request_id: &'a str,
    pub(super) caller: &'a Caller,
    /// True if the path names a place in a forum.
    pub(super) names_place: bool,
    /// The member that the path names, if any.
    pub(super) named_member: Option<UserRef>,
}

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

/// Runs `command` unless its key has a response already, which the caller receives if they can still see what it is
/// about. Without a key it always runs.
pub(super) async fn once(
    core: &Core,
    request: Keyed<'_>,
    command: impl Future<Output = Result<Answer, Problem>>,
) -> Result<Answer, Problem> {
    let Keyed {
        attempt,
        request_id,
        caller,
        names_place,
        named_member,
    } = request;
    let Some(attempt) = attempt else {
        return command.await;
    };
    let store = &core.stores.idempotency;
    let begun = store.begin(&attempt, core.environment.clock.now()).await;
    match begun.inspect_err(|_| recorder::record_store_error(STORE))? {
        Begin::First(ticket) => first(core, &ticket, request_id, command).await,
        Begin::Repeat(kept) => {
            if let Some(member) = named_member {
                access::still_there(&*core.board, caller, member).await?;
            }
            access::still_sees(&*core.board, caller, &kept.resource, names_place).await?;
            Ok(kept.into())
        }
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
    let result = catch_panic(command).await;
    let outcome = match &result {
        Ok(answer) => Outcome::Answered(answer.into()),
        Err(problem) => refused(problem),
    };
    if let Err(fault) = core.stores.idempotency.settle(ticket, outcome).await {
        recorder::record_store_error(STORE);
        tracing::error!(%fault, request_id, "the outcome of an Idempotency-Key was not noted");
    }
    result
}

/// Outcome of a command that failed: a refusal changed nothing; after an internal error, or a result that the caller
/// cannot see, the outcome is unknown.
fn refused(problem: &Problem) -> Outcome {
    match problem {
        Problem::Internal(_) | Problem::Withheld => Outcome::Unknown,
        _ => Outcome::DidNotRun,
    }
}
