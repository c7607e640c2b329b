//! What a path names.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::host::ResourceRef;
use crate::http_util::percent_decode;
use crate::model::{
    ForumId, MessageId, PollId, PostId, PostPath, SubscriptionTarget, SubscriptionTargetKind,
    TargetId, ThreadId, UserRef,
};

/// The variable segments of a path, as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawPathParams<'a>(pub(crate) [&'a str; 2]);

impl RawPathParams<'_> {
    fn decode<T>(&self, index: usize, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = percent_decode(self.0.get(index)?)?;
        parse(&text)
    }
}

/// The path variables of an endpoint.
pub(crate) trait PathParams: Send + Sync + Sized + 'static {
    /// Their names, in order.
    const NAMES: &'static [&'static str];

    /// `None` for a text that no resource can have as its id: 404 `not_found`, as for an id that nothing has.
    fn parse(raw: RawPathParams<'_>) -> Option<Self>;

    /// Where a write to it happens.
    fn place(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }

    /// The member that it names, if any.
    fn member(&self) -> Option<&UserRef> {
        None
    }

    /// The schema of each variable.
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
                raw.decode(0, Self::parse)
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

path_param!(ForumId, "forumId", place: ResourceRef<'_> = ResourceRef::Forum);
path_param!(ThreadId, "threadId", place: ResourceRef<'_> = ResourceRef::Thread);
path_param!(PollId, "pollId", place: ResourceRef<'_> = ResourceRef::Poll);
path_param!(UserRef, "userId", member: Option<&UserRef> = Some);
path_param!(MessageId, "messageId");

impl PathParams for PostPath {
    const NAMES: &'static [&'static str] = &["threadId", "postId"];

    fn parse(raw: RawPathParams<'_>) -> Option<Self> {
        let thread = raw.decode(0, ThreadId::parse)?;
        let post = raw.decode(1, PostId::parse)?;
        Some(Self {
            thread_id: thread,
            post_id: post,
        })
    }

    fn place(&self) -> ResourceRef<'_> {
        ResourceRef::Post(&self.thread_id, &self.post_id)
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![
            ThreadId::json_schema(generator),
            PostId::json_schema(generator),
        ]
    }
}

/// It is [`Place::Nowhere`]: a target that became hidden can still be unfollowed.
impl PathParams for SubscriptionTarget {
    const NAMES: &'static [&'static str] = &["target", "targetId"];

    fn parse(raw: RawPathParams<'_>) -> Option<Self> {
        let kind = raw.decode(0, |kind| Some(kind.to_owned()))?;
        match kind.as_str() {
            "thread" => raw.decode(1, ThreadId::parse).map(Self::Thread),
            "forum" => raw.decode(1, ForumId::parse).map(Self::Forum),
            _ => None,
        }
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        let mut kind = generator.subschema_for::<SubscriptionTargetKind>();
        kind.insert("description".into(), "Kind of the target.".into());
        vec![kind, TargetId::json_schema(generator)]
    }
}
