//! Query parameters and bodies of the specification, as inputs of operations.

use std::time::Duration;

use http::Method;
use schemars::SchemaGenerator;
use serde::de::Error as _;

use crate::model::{
    BodyExtra, CursorScope, Expected, List, MarkRead, NewMessage, NewPost, NewRating,
    NewSubscription, NewThread, NewVote, PollUpdate, PostFilter, PostUpdate, SearchFilter,
    ThreadFilter, Timestamp,
};
use crate::operation::{
    ApiResult, Body, Decode, DecodeContext, ExtraOf, ExtraTypes, FieldError, FieldScope,
    InputError, InputSchema, InputValue,
};
use crate::scope::Scope;

/// `HEAD` does not mark the message as read.
impl Decode for MarkRead {
    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        <()>::decode(value, context)?;
        Ok(match context.head.method {
            Method::HEAD => Self::No,
            _ => Self::Yes,
        })
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        <()>::describe(generator, extra_types)
    }
}

/// Returns the filter `since` that the board receives, which is earlier than that of the client by the overlap.
fn overlapping(since: Option<Timestamp>, overlap: Duration) -> Option<Timestamp> {
    since.map(|time| time.saturating_sub(overlap))
}

/// Parameters of the list of threads.
pub(super) struct ThreadList(pub(super) List<ThreadFilter>);

/// A cursor is bound to the client's `since`, without the overlap.
impl Decode for ThreadList {
    const IS_LIST: bool = true;

    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        let mut list = List::<ThreadFilter>::decode(value, context)?;
        list.filter.since = overlapping(list.filter.since, context.thread_since_overlap);
        Ok(Self(list))
    }

    fn cursor_scope(&self) -> Option<CursorScope> {
        self.0.cursor_scope()
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        List::<ThreadFilter>::describe(generator, extra_types).with_paging_first()
    }
}

/// Parameters of the list of posts. Rejects `from` together with `after`.
pub(super) struct PostList(pub(super) List<PostFilter>);

impl Decode for PostList {
    const IS_LIST: bool = true;

    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        let mut list = List::<PostFilter>::decode(value, context)?;
        list.filter.since = overlapping(list.filter.since, context.since_overlap);
        if list.filter.from.is_some() && list.after.is_some() {
            return Err(InputError::expected("from", Expected::NOT_WITH_AFTER).into());
        }
        Ok(Self(list))
    }

    fn cursor_scope(&self) -> Option<CursorScope> {
        self.0.cursor_scope()
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        List::<PostFilter>::describe(generator, extra_types).with_paging_first()
    }
}

/// Parameters of a search. Rejects a search without `q` and `by`.
pub(super) struct SearchList(pub(super) List<SearchFilter>);

impl Decode for SearchList {
    const IS_LIST: bool = true;

    fn decode(value: InputValue<'_>, context: &DecodeContext<'_>) -> ApiResult<Self> {
        let list = List::<SearchFilter>::decode(value, context)?;
        if list.filter.q.is_none() && list.filter.by.is_none() {
            return Err(InputError::missing_field("q").into());
        }
        Ok(Self(list))
    }

    fn cursor_scope(&self) -> Option<CursorScope> {
        self.0.cursor_scope()
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        List::<SearchFilter>::describe(generator, extra_types)
    }
}

/// Implements [`Body`] for the body of an operation.
macro_rules! bodies {
    ($($type:ident $(, check: $check:path)? $(, $field:literal => $scope:ident: $is_set:expr)? $(, extra: $of:ident)?;)+) => {$(
        impl Body for $type {
            fn example() -> Self {
                Self::example()
            }

            $(fn check(&self) -> Result<(), FieldError> {
                $check(self)
            })?

            $(fn field_scope() -> Option<FieldScope<Self>> {
                Some(FieldScope::new($field, Scope::$scope, $is_set))
            })?

            $(const EXTRA_OF: Option<ExtraOf> = Some(ExtraOf::$of);

            fn set_extra(&mut self, extra: BodyExtra) {
                self.extra = Some(extra);
            })?
        }
    )+};
}

bodies! {
    NewThread, "subscribe" => SUBSCRIPTIONS_WRITE: |thread| thread.subscribe, extra: NewThread;
    NewPost, "subscribe" => SUBSCRIPTIONS_WRITE: |post| post.subscribe, extra: NewPost;
    PostUpdate, check: require_body_or_title, extra: PostUpdate;
    NewRating;
    NewMessage, extra: NewMessage;
    NewVote;
    PollUpdate, check: require_change;
    NewSubscription;
}

fn require_body_or_title(update: &PostUpdate) -> Result<(), FieldError> {
    if update.body.is_some() || update.title.is_some() {
        return Ok(());
    }
    Err(FieldError::new("body", Expected::CHANGE.as_str()))
}

fn require_change(update: &PollUpdate) -> Result<(), FieldError> {
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
    Err(FieldError::new("body", Expected::CHANGE.as_str()))
}
