//! Path variables, query parameters and bodies of the endpoints.

use std::borrow::Cow;
use std::io::Write;
use std::str::FromStr;

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::{InputError, InputErrorKind};
use super::value::InputValue;
use crate::host::ResourceRef;
use crate::http_util::percent_decode;
use crate::model::{
    DeletePostParams, Expected, ForumId, GetMeParams, GetMemberParams, GetPollParams,
    GetThreadParams, ListForumsParams, ListMessagesParams, ListPostsParams,
    ListSubscriptionsParams, ListThreadsParams, MarkRead, MessageId, NewMessage, NewPost,
    NewRating, NewSubscription, NewThread, NewVote, OpenMessageParams, PageKey, PollId, PollUpdate,
    PostId, PostPath, PostUpdate, SearchParams, SubscriptionTarget, SubscriptionTargetKind,
    TargetId, ThreadId, UnsubscribeParams, UserRef,
};
use crate::scope::Scope;

/// Variable segments of a path, still percent-encoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawPathParams<'a>(pub(crate) [&'a str; 2]);

impl RawPathParams<'_> {
    fn text(&self, index: usize) -> Option<Cow<'_, str>> {
        percent_decode(self.0.get(index)?)
    }

    fn parse<T: FromStr>(&self, index: usize) -> Option<T> {
        self.text(index)?.parse().ok()
    }
}

/// Path variables of an endpoint.
pub(crate) trait PathParams: Send + Sync + Sized + 'static {
    /// Names in the order of the path.
    const NAMES: &'static [&'static str];

    /// Decodes and parses the segments. Returns `None` if a segment cannot be an id; the response is then the same 404
    /// as for an unknown id.
    fn parse(raw: RawPathParams<'_>) -> Option<Self>;

    /// Returns the resource whose forum is checked before a write; [`ResourceRef::Global`] if no forum is checked.
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }

    /// Returns the member that the path names; `None` for other paths.
    fn member(&self) -> Option<&UserRef> {
        None
    }

    /// Returns the schemas of the variables, in the order of the path.
    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

impl PathParams for () {
    const NAMES: &'static [&'static str] = &[];

    fn parse(_: RawPathParams<'_>) -> Option<Self> {
        Some(())
    }

    fn schemas(_: &mut SchemaGenerator) -> Vec<Schema> {
        Vec::new()
    }
}

/// A path with one variable.
macro_rules! path_param {
    ($type:ident, $name:literal $(, $method:ident: $result:ty = $value:expr)?) => {
        impl PathParams for $type {
            const NAMES: &'static [&'static str] = &[$name];

            fn parse(raw: RawPathParams<'_>) -> Option<Self> {
                raw.parse(0)
            }

            $(fn $method(&self) -> $result {
                $value(self)
            })?

            fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
                vec![Self::json_schema(generator)]
            }
        }
    };
}

path_param!(ForumId, "forumId", resource: ResourceRef<'_> = ResourceRef::Forum);
path_param!(ThreadId, "threadId", resource: ResourceRef<'_> = ResourceRef::Thread);
path_param!(PollId, "pollId", resource: ResourceRef<'_> = ResourceRef::Poll);
path_param!(UserRef, "userId", member: Option<&UserRef> = Some);
path_param!(MessageId, "messageId");

impl PathParams for PostPath {
    const NAMES: &'static [&'static str] = &["threadId", "postId"];

    fn parse(raw: RawPathParams<'_>) -> Option<Self> {
        Some(Self {
            thread_id: raw.parse(0)?,
            post_id: raw.parse(1)?,
        })
    }

    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Post(&self.thread_id, &self.post_id)
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![
            ThreadId::json_schema(generator),
            PostId::json_schema(generator),
        ]
    }
}

/// Path of a subscription. Its target is not checked, because a caller can unsubscribe from a target that became
/// hidden.
impl PathParams for SubscriptionTarget {
    const NAMES: &'static [&'static str] = &["target", "targetId"];

    fn parse(raw: RawPathParams<'_>) -> Option<Self> {
        match &*raw.text(0)? {
            "thread" => raw.parse(1).map(Self::Thread),
            "forum" => raw.parse(1).map(Self::Forum),
            _ => None,
        }
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        let mut kind = generator.subschema_for::<SubscriptionTargetKind>();
        kind.insert(
            "description".into(),
            "Kind of the target: `thread` or `forum`.".into(),
        );
        vec![kind, TargetId::json_schema(generator)]
    }
}

/// Location of the parameters in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Query,
    Body,
}

/// A field of a body that requires an additional scope.
pub(crate) struct FieldScope<A> {
    /// Name of the field in the OpenAPI document.
    pub(crate) field: &'static str,
    pub(crate) scope: Scope,
    /// Returns `true` if the body requires the scope.
    pub(crate) is_set: fn(&A) -> bool,
}

/// Parameters of an endpoint.
pub(crate) trait Params: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const SOURCE: Source = Source::Query;

    /// True for the parameters of a paged list, which has a cursor in `after`.
    const IS_LIST: bool = false;

    /// The field of a body that requires an additional scope; `None` if no field does.
    const FIELD_SCOPE: Option<FieldScope<Self>> = None;

    /// Checks rules that the types cannot express.
    fn check(&self) -> Result<(), InputError> {
        Ok(())
    }

    /// Adapts the parameters to the method of the request.
    fn for_method(self, _: &Method) -> Self {
        self
    }

    /// Sets the page key that the cursor of a list contains.
    fn set_after(&mut self, _: PageKey) {}

    /// Writes the filters of a list. A cursor is valid only for the same filters.
    fn write_filters(&self, _: &mut dyn Write) -> serde_json::Result<()> {
        Ok(())
    }

    /// Decodes all parameters except the cursor. The caller must call [`check`](Self::check) afterwards.
    fn decode(value: InputValue<'_>, method: &Method) -> Result<Self, InputError> {
        let params: Self = deserialize(value)?;
        Ok(params.for_method(method))
    }

    /// Returns an example of the body; `None` for parameters in the query.
    fn body_example() -> Option<Value> {
        None
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        match Self::SOURCE {
            Source::Query => Self::json_schema(generator),
            Source::Body => generator.subschema_for::<Self>(),
        }
    }
}

/// Deserializes the parameters. The field of a type error without a field name is `body`.
fn deserialize<T: DeserializeOwned>(value: InputValue<'_>) -> Result<T, InputError> {
    T::deserialize(value).map_err(|mut error| {
        let is_type_error = !matches!(
            error.kind,
            InputErrorKind::Missing | InputErrorKind::Repeated | InputErrorKind::Unknown
        );
        if error.name.is_empty() && is_type_error {
            error.name = "body".into();
        }
        error
    })
}

/// Parameters of a request that must not have query parameters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParams {}

impl Params for NoParams {}

impl Params for GetMeParams {}
impl Params for ListForumsParams {}
impl Params for GetThreadParams {}
impl Params for DeletePostParams {}
impl Params for GetMemberParams {}
impl Params for GetPollParams {}
impl Params for UnsubscribeParams {}

impl Params for OpenMessageParams {
    fn for_method(self, method: &Method) -> Self {
        let mark_read = match *method {
            Method::HEAD => MarkRead::No,
            _ => MarkRead::Yes,
        };
        Self { mark_read }
    }
}

/// Implements [`Params`] for the query of a list. The fields before `;` are the filters, of which there can be none. A
/// client may change the fields after `;` between two pages.
macro_rules! list_params {
    ($($type:ident { $($filter:ident),*; $($other:ident),+ } $(, check: $check:path)?;)+) => {$(
        impl Params for $type {
            const IS_LIST: bool = true;

            $(fn check(&self) -> Result<(), InputError> {
                $check(self)
            })?

            fn set_after(&mut self, key: PageKey) {
                self.after = Some(key);
            }

            fn write_filters(&self, writer: &mut dyn Write) -> serde_json::Result<()> {
                // The pattern names all fields, so that a new field does not compile until it is listed before or after
                // `;`.
                let Self { $($filter,)* $($other: _),+ } = self;
                serde_json::to_writer(writer, &($($filter,)*))
            }
        }
    )+};
}

list_params! {
    ListThreadsParams { since; limit, after };
    ListPostsParams { since; limit, after, from, body }, check: reject_from_with_after;
    ListMessagesParams { folder, unread; limit, after };
    ListSubscriptionsParams { target; limit, after };
    SearchParams { q, forum, by, when, field, show, sort; limit, after };
}

fn reject_from_with_after(params: &ListPostsParams) -> Result<(), InputError> {
    if params.from.is_some() && params.after.is_some() {
        return Err(InputError::expected("from", Expected::NotWithAfter));
    }
    Ok(())
}

/// Implements [`Params`] for a JSON body.
macro_rules! body_params {
    ($($type:ident $(, check: $check:path)? $(, $field:literal => $scope:ident: $is_set:expr)?;)+) => {$(
        impl Params for $type {
            const SOURCE: Source = Source::Body;

            $(const FIELD_SCOPE: Option<FieldScope<Self>> = Some(FieldScope {
                field: $field,
                scope: Scope::$scope,
                is_set: $is_set,
            });)?

            fn body_example() -> Option<Value> {
                Some(json!(Self::example()))
            }

            $(fn check(&self) -> Result<(), InputError> {
                $check(self)
            })?
        }
    )+};
}

body_params! {
    NewThread, "subscribe" => SubscriptionsWrite: |thread| thread.subscribe;
    NewPost, "subscribe" => SubscriptionsWrite: |post| post.subscribe;
    PostUpdate;
    NewRating;
    NewMessage;
    NewVote;
    PollUpdate, check: require_change;
    NewSubscription;
}

fn require_change(update: &PollUpdate) -> Result<(), InputError> {
    let PollUpdate {
        question,
        options,
        max_choices,
        can_change_vote,
        closes_at,
        expected_version: _,
    } = update;
    let has_change = question.is_some()
        || options.is_some()
        || max_choices.is_some()
        || can_change_vote.is_some()
        || !closes_at.is_keep();
    if has_change {
        return Ok(());
    }
    Err(InputError::expected("body", Expected::Change))
}
