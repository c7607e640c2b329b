//! Query parameters and bodies of the specification, as inputs of operations.

use std::io::Write;

use http::Method;
use schemars::SchemaGenerator;

use crate::model::{
    BodyExtra, Expected, ListMessagesParams, ListPostsParams, ListSubscriptionsParams,
    ListThreadsParams, MarkRead, NewMessage, NewPost, NewRating, NewSubscription, NewThread,
    NewVote, OpenMessageParams, PageKey, PollUpdate, PostUpdate, SearchParams,
};
use crate::operation::{
    ApiError, Body, CursorScope, Decode, DecodeContext, ExtraOf, ExtraTypes, FieldError,
    FieldScope, InputSchema, InputValue, ListParams,
};
use crate::scope::Scope;

/// `HEAD` does not mark the message as read.
impl Decode for OpenMessageParams {
    fn decode(
        value: InputValue<'_>,
        context: &DecodeContext<'_>,
    ) -> Result<(Self, Option<CursorScope>), ApiError> {
        <()>::decode(value, context)?;
        let mark_read = match context.head.method {
            Method::HEAD => MarkRead::No,
            _ => MarkRead::Yes,
        };
        Ok((mark_read.into(), None))
    }

    fn describe(generator: &mut SchemaGenerator, extra_types: &ExtraTypes) -> InputSchema {
        <()>::describe(generator, extra_types)
    }
}

/// Implements [`ListParams`] for the query of a list. The fields before `;` are the filters, of which there can be
/// none. A client may change the fields after `;` between two pages.
macro_rules! list_params {
    ($($type:ident { $($filter:ident),*; $($other:ident),+ } $(, check: $check:path)?;)+) => {$(
        impl ListParams for $type {
            $(fn check(&self) -> Result<(), FieldError> {
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

fn reject_from_with_after(params: &ListPostsParams) -> Result<(), FieldError> {
    if params.from.is_some() && params.after.is_some() {
        return Err(FieldError::expected("from", Expected::NotWithAfter));
    }
    Ok(())
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
    PostUpdate, extra: PostUpdate;
    NewRating;
    NewMessage, extra: NewMessage;
    NewVote;
    PollUpdate, check: require_change;
    NewSubscription;
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
    Err(FieldError::expected("body", Expected::Change))
}
