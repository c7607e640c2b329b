//! What a path names.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::host::Place;
use crate::http_util::percent_decode;
use crate::model::{
    ForumId, MessageId, PollId, PostAt, PostId, Target, TargetId, TargetKind, ThreadId, UserRef,
};

/// The variable segments of a path, as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vars<'a>(pub(crate) [&'a str; 2]);

impl Vars<'_> {
    fn decode<T>(&self, index: usize, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = percent_decode(self.0.get(index)?)?;
        parse(&text)
    }
}

/// The path variables that a command takes.
pub(crate) trait At: Send + Sized + 'static {
    /// Their names, in order.
    const NAMES: &'static [&'static str];

    /// `None` for what can name nothing: 404 `not_found`, like what names nothing that is there.
    fn parse(vars: Vars<'_>) -> Option<Self>;

    /// Where a write to it happens.
    fn place(&self) -> Place<'_>;

    /// The member that it names, if any.
    fn member(&self) -> Option<&UserRef> {
        None
    }

    /// The schema of each variable.
    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

impl At for () {
    const NAMES: &'static [&'static str] = &[];

    fn parse(_: Vars<'_>) -> Option<Self> {
        Some(())
    }

    fn place(&self) -> Place<'_> {
        Place::Nowhere
    }

    fn schemas(_: &mut SchemaGenerator) -> Vec<Schema> {
        Vec::new()
    }
}

macro_rules! single {
    ($($id:ident $name:literal $place:expr;)+) => {$(
        impl At for $id {
            const NAMES: &'static [&'static str] = &[$name];

            fn parse(vars: Vars<'_>) -> Option<Self> {
                vars.decode(0, Self::new)
            }

            fn place(&self) -> Place<'_> {
                let place: fn(&Self) -> Place<'_> = $place;
                place(self)
            }

            fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
                vec![Self::json_schema(generator)]
            }
        }
    )+};
}

single! {
    ForumId "forumId" |id| Place::Forum(id);
    ThreadId "threadId" |id| Place::Thread(id);
    PollId "pollId" |id| Place::Poll(id);
    MessageId "messageId" |_| Place::Nowhere;
}

impl At for UserRef {
    const NAMES: &'static [&'static str] = &["userId"];

    fn parse(vars: Vars<'_>) -> Option<Self> {
        vars.decode(0, Self::new)
    }

    fn place(&self) -> Place<'_> {
        Place::Nowhere
    }

    fn member(&self) -> Option<&UserRef> {
        Some(self)
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![Self::json_schema(generator)]
    }
}

impl At for PostAt {
    const NAMES: &'static [&'static str] = &["threadId", "postId"];

    fn parse(vars: Vars<'_>) -> Option<Self> {
        let thread = vars.decode(0, ThreadId::new)?;
        let post = vars.decode(1, PostId::new)?;
        Some(Self { thread, post })
    }

    fn place(&self) -> Place<'_> {
        Place::Post(&self.thread, &self.post)
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![
            ThreadId::json_schema(generator),
            PostId::json_schema(generator),
        ]
    }
}

impl At for Target {
    const NAMES: &'static [&'static str] = &["target", "targetId"];

    fn parse(vars: Vars<'_>) -> Option<Self> {
        let kind = vars.decode(0, |kind| Some(kind.to_owned()))?;
        match kind.as_str() {
            "thread" => vars.decode(1, ThreadId::new).map(Self::Thread),
            "forum" => vars.decode(1, ForumId::new).map(Self::Forum),
            _ => None,
        }
    }

    /// Unfollowing stays possible where the target is hidden by now.
    fn place(&self) -> Place<'_> {
        Place::Nowhere
    }

    fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
        let mut kind = generator.subschema_for::<TargetKind>();
        kind.insert(
            "description".into(),
            "What kind of thing is followed.".into(),
        );
        vec![kind, TargetId::json_schema(generator)]
    }
}
