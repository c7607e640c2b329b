//! A command behind a row, with its types: token rule, decoding and schemas follow from them.

use std::pin::pin;
use std::sync::Arc;

use http::Method;
use http::request::Parts;
use schemars::{Schema, SchemaGenerator};

use super::access;
use super::extract::query;
use super::hex::Hex;
use super::row::Row;
use super::service::Core;
use crate::api::error::{Problem, Unauthenticated};
use crate::api::extract::body::{self, Unread};
use crate::api::extract::params::{Args, Nothing, Source};
use crate::api::extract::path::{At, Vars};
use crate::api::idempotency::{self, Keyed, once};
use crate::api::output::{Reply, View};
use crate::api::pagination::List;
use crate::api::response::Answer;
use crate::host::{Board, Caller, Member, Place, Result as BoardResult};
use crate::runtime::BoxFuture;
use crate::store::Attempt;
use crate::token::Lookup;

/// As much memory as an answer gets to begin with, in bytes.
const SMALL: usize = 1024;

/// What a caller has to be: this is the table's token column.
pub(super) trait Actor: Sync + Send + 'static {
    const NEEDS_TOKEN: bool;

    fn of(caller: &Caller) -> Option<&Self>;
}

impl Actor for Caller {
    const NEEDS_TOKEN: bool = false;

    fn of(caller: &Caller) -> Option<&Self> {
        Some(caller)
    }
}

impl Actor for Member {
    const NEEDS_TOKEN: bool = true;

    fn of(caller: &Caller) -> Option<&Self> {
        caller.member()
    }
}

/// A method of the board, called.
pub(super) type Command<W, P, A, T> =
    for<'a> fn(&'a dyn Board, &'a W, P, A) -> BoxFuture<'a, BoardResult<T>>;

/// A command: token rule, decoding and schemas follow from its types.
pub(super) struct Op<W, P, A, T> {
    command: Command<W, P, A, T>,
    status: u16,
}

impl<W, P, A, T> Op<W, P, A, T> {
    /// Answers 200.
    pub(super) const fn ok(command: Command<W, P, A, T>) -> Self {
        Self::answering(200, command)
    }

    /// Answers 201.
    pub(super) const fn created(command: Command<W, P, A, T>) -> Self {
        Self::answering(201, command)
    }

    /// Answers 204.
    pub(super) const fn gone(command: Command<W, P, A, T>) -> Self {
        Self::answering(204, command)
    }

    const fn answering(status: u16, command: Command<W, P, A, T>) -> Self {
        Self { command, status }
    }
}

/// A request that passed steps 1 to 6.
pub(super) struct Input<'a> {
    pub(super) row: &'static Row,
    pub(super) vars: Vars<'a>,
    pub(super) head: &'a Parts,
    pub(super) body: Unread<'a>,
    pub(super) caller: Caller,
    pub(super) token: Option<Lookup>,
    /// Set while the body is awaited: what ends then is the client's fault.
    pub(super) reading: &'a mut bool,
}

/// A command with its types erased.
pub(super) trait Operation: Sync {
    fn needs_token(&self) -> bool;
    /// Whether it is a read that changes something.
    fn opens(&self) -> bool;
    /// The statuses of success.
    fn statuses(&self) -> Vec<u16>;
    fn describe(&self, inputs: &mut SchemaGenerator, outputs: &mut SchemaGenerator) -> Described;
    /// Steps 7 to 10.
    fn run<'a>(
        &'static self,
        core: &'a Arc<Core>,
        request_id: Hex,
        input: Input<'a>,
    ) -> BoxFuture<'a, Result<Answer, Problem>>;
}

/// The schemas of a command.
pub(super) struct Described {
    pub(super) variables: Vec<(&'static str, Schema)>,
    pub(super) source: Source,
    pub(super) arguments: Schema,
    pub(super) reply: Schema,
    /// Headers that the reply brings.
    pub(super) headers: &'static [&'static str],
}

impl<W: Actor, P: At, A: Args, T: Reply> Operation for Op<W, P, A, T> {
    fn needs_token(&self) -> bool {
        W::NEEDS_TOKEN
    }

    fn opens(&self) -> bool {
        A::OPENS
    }

    fn statuses(&self) -> Vec<u16> {
        [&[self.status], T::STATUSES].concat()
    }

    fn describe(&self, inputs: &mut SchemaGenerator, outputs: &mut SchemaGenerator) -> Described {
        Described {
            variables: P::NAMES.iter().copied().zip(P::schemas(inputs)).collect(),
            source: A::SOURCE,
            arguments: A::schema(inputs),
            reply: outputs.subschema_for::<T::Wire>(),
            headers: T::HEADERS,
        }
    }

    fn run<'a>(
        &'static self,
        core: &'a Arc<Core>,
        request_id: Hex,
        input: Input<'a>,
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let Input {
                row,
                vars,
                head,
                body,
                caller,
                token,
                reading,
            } = input;
            let at = P::parse(vars).ok_or(Problem::NotFound)?;
            let query = query::parse(head.uri.query())?;
            let (mut args, attempt) = match A::SOURCE {
                Source::Query => (A::decode(query, head.method == Method::HEAD)?, None),
                Source::Body => {
                    let Nothing {} = Nothing::decode(query, false)?;
                    let key = idempotency::key(row, &head.headers)?;
                    let bytes = body::json(&head.headers, body, reading).await?;
                    let node = body::parse(&bytes)?;
                    let field_scope = access::field_scope(row, &node, &caller);
                    let args = A::decode(node, false)?;
                    field_scope?;
                    (args, idempotency::attempt(token, key, head, &bytes))
                }
            };
            let list = bind::<W>(&mut args, head.uri.path(), &caller)?;
            let prepared = Prepared {
                op: self,
                row,
                core: Arc::clone(core),
                at,
                args,
                list,
            };
            if row.acts() {
                let rest = async move { prepared.run(&caller, attempt, request_id).await };
                core.to_its_end(Box::pin(rest), request_id).await
            } else {
                access::sees(&*core.board, &caller, prepared.at.place(), row).await?;
                prepared.command(&caller).await
            }
        })
    }
}

/// Opens the cursor, if there is one, with the list that it must belong to.
fn bind<W: Actor>(
    args: &mut impl Args,
    path: &str,
    caller: &Caller,
) -> Result<Option<List>, Problem> {
    let Some(filters) = args.filters() else {
        return Ok(None);
    };
    let owner = caller.user().filter(|_| W::NEEDS_TOKEN);
    let filters = filters.map_err(Problem::internal)?;
    let list = List::new(path, &filters, owner);
    if let Some(after) = args.after() {
        *after = list.open(after)?;
    }
    Ok(Some(list))
}

/// A command with all that it needs.
struct Prepared<W: 'static, P: 'static, A: 'static, T: 'static> {
    op: &'static Op<W, P, A, T>,
    row: &'static Row,
    core: Arc<Core>,
    at: P,
    args: A,
    list: Option<List>,
}

impl<W: Actor, P: At, A: Args, T: Reply> Prepared<W, P, A, T> {
    /// Steps 8 to 10.
    async fn run(
        self,
        caller: &Caller,
        attempt: Option<Attempt>,
        request_id: Hex,
    ) -> Result<Answer, Problem> {
        let core = Arc::clone(&self.core);
        access::sees(&*core.board, caller, self.at.place(), self.row).await?;
        let request = Keyed {
            attempt,
            request_id: request_id.as_str(),
            caller,
            names_place: self.at.place() != Place::Nowhere,
            named_member: self.at.member().cloned(),
        };
        let command = pin!(self.command(caller));
        once(&core, request, command).await
    }

    /// Step 10, and step 8 on its result.
    async fn command(self, caller: &Caller) -> Result<Answer, Problem> {
        let Self {
            op,
            row,
            core,
            at,
            args,
            list,
        } = self;
        let who = W::of(caller).ok_or(Problem::Unauthenticated(Unauthenticated::Absent))?;
        let reply = (op.command)(&*core.board, who, at, args).await?;
        answer(op.status, reply, View::new(caller, list, row.name))
    }
}

fn answer<T: Reply>(status: u16, reply: T, mut view: View<'_>) -> Result<Answer, Problem> {
    let wire = reply.wire(&mut view)?;
    let status = view.status.unwrap_or(status);
    let mut body = Vec::new();
    if status != 204 {
        body.reserve(SMALL);
        serde_json::to_writer(&mut body, &wire).map_err(Problem::internal)?;
    }
    let location = view.location.filter(|_| status == 201);
    Ok(Answer {
        status,
        body: body.into(),
        location,
        next: view.next,
        resource: view.resource,
        ..Answer::default()
    })
}
