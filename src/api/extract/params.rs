//! The parameters of an endpoint, in its query or its body.

use std::io::Write;

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::{InputError, InputErrorKind};
use super::value::InputValue;
use crate::model::{
    Expected, ListMessagesParams, ListPostsParams, ListSubscriptionsParams, ListThreadsParams,
    MarkRead, NewMessage, NewPost, NewRating, NewSubscription, NewThread, NewVote, PageKey,
    PollUpdate, PostUpdate, SearchParams,
};

/// Where the parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Query,
    Body,
}

/// The parameters of an endpoint.
pub(crate) trait Params: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const SOURCE: Source = Source::Query;

    /// Checks what a schema cannot say.
    fn check(&self) -> Result<(), InputError> {
        Ok(())
    }

    /// The same parameters of a request with this method.
    fn for_method(self, _: &Method) -> Self {
        self
    }

    /// The cursor of a list; `None` where there is no list.
    fn after(&mut self) -> Option<&mut Option<PageKey>> {
        None
    }

    /// Writes what narrows a list, to which a cursor is bound.
    fn write_filters(&self, _: &mut dyn Write) -> serde_json::Result<()> {
        Ok(())
    }

    fn decode(value: InputValue<'_>, method: &Method) -> Result<Self, InputError> {
        let params: Self = deserialize(value)?;
        params.check()?;
        Ok(params.for_method(method))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        match Self::SOURCE {
            Source::Query => Self::json_schema(generator),
            Source::Body => generator.subschema_for::<Self>(),
        }
    }
}

/// An expectation of no particular field is one of the whole body.
fn deserialize<T: DeserializeOwned>(value: InputValue<'_>) -> Result<T, InputError> {
    T::deserialize(value).map_err(|mut error| {
        let is_expectation = !matches!(
            error.kind,
            InputErrorKind::Missing | InputErrorKind::Repeated | InputErrorKind::Unknown
        );
        if error.name.is_empty() && is_expectation {
            error.name = "body".into();
        }
        error
    })
}

/// No parameters at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

impl Params for NoParams {}

/// No parameters either; the method decides whether the message is marked as read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenMessage {
    #[serde(skip, default = "read")]
    pub(crate) opening: MarkRead,
}

fn read() -> MarkRead {
    MarkRead::Yes
}

impl Params for OpenMessage {
    fn for_method(self, method: &Method) -> Self {
        let opening = match *method {
            Method::HEAD => MarkRead::No,
            _ => MarkRead::Yes,
        };
        Self { opening }
    }
}

/// The parameters of a list.
macro_rules! list_params {
    ($($type:ident $(, check: $check:path)?;)+) => {$(
        impl Params for $type {
            $(fn check(&self) -> Result<(), InputError> {
                $check(self)
            })?

            fn after(&mut self) -> Option<&mut Option<PageKey>> {
                Some(&mut self.after)
            }

            fn write_filters(&self, to: &mut dyn Write) -> serde_json::Result<()> {
                serde_json::to_writer(to, self)
            }
        }
    )+};
}

list_params! {
    ListThreadsParams;
    ListPostsParams, check: reject_from_with_after;
    ListMessagesParams;
    ListSubscriptionsParams;
    SearchParams;
}

fn reject_from_with_after(list: &ListPostsParams) -> Result<(), InputError> {
    if list.from.is_some() && list.after.is_some() {
        return Err(InputError::expected("from", Expected::NoAfter));
    }
    Ok(())
}

/// The parameters in a body.
macro_rules! body_params {
    ($($type:ident $(, check: $check:path)?;)+) => {$(
        impl Params for $type {
            const SOURCE: Source = Source::Body;

            $(fn check(&self) -> Result<(), InputError> {
                $check(self)
            })?
        }
    )+};
}

body_params! {
    NewThread;
    NewPost;
    PostUpdate;
    NewRating;
    NewMessage;
    NewVote;
    PollUpdate, check: require_change;
    NewSubscription;
}

fn require_change(edit: &PollUpdate) -> Result<(), InputError> {
    let PollUpdate {
        question,
        options,
        max_choices,
        can_change_vote,
        closes_at,
        expected_version: _,
    } = edit;
    let has_change = question.is_some()
        || options.is_some()
        || max_choices.is_some()
        || can_change_vote.is_some()
        || closes_at.is_some();
    if has_change {
        return Ok(());
    }
    Err(InputError::expected("body", Expected::Change))
}
