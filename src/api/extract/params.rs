//! What a query or a body says.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::extract::error::{Complaint, Wrong};
use crate::api::extract::value::Node;
use crate::model::{
    EditPoll, EditPost, Follow, ListMessages, ListPosts, ListSubscriptions, ListThreads, Opening,
    Position, Rate, Reply, Search, SendMessage, StartThread, Vote,
};

/// Where a command's arguments come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Query,
    Body,
}

/// The arguments of a command.
pub(crate) trait Args: Send + Sized + 'static {
    const SOURCE: Source = Source::Query;

    /// Whether reading with these arguments changes something.
    const OPENS: bool = false;

    fn decode(node: Node<'_>, head: bool) -> Result<Self, Complaint>;

    fn schema(generator: &mut SchemaGenerator) -> Schema;

    /// The place to start after, in arguments of a list.
    fn after(&mut self) -> Option<&mut Position> {
        None
    }

    /// What narrows a list, to which a cursor is bound; `None` where there is no list.
    fn filters(&self) -> Option<serde_json::Result<Vec<u8>>> {
        None
    }
}

/// What is expected of no field in particular is expected of the whole.
fn from_node<T: DeserializeOwned>(node: Node<'_>) -> Result<T, Complaint> {
    T::deserialize(node).map_err(|mut complaint| {
        if complaint.name.is_empty() && matches!(complaint.wrong, Wrong::Expected(_)) {
            complaint.name = "body".into();
        }
        complaint
    })
}

/// No arguments at all.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

macro_rules! args {
    ($($name:ident $(from $source:ident)? $(list $list:ident)? $(check $check:ident)?;)+) => {$(
        impl Args for $name {
            $(const SOURCE: Source = Source::$source;)?

            fn decode(node: Node<'_>, _: bool) -> Result<Self, Complaint> {
                let args: Self = from_node(node)?;
                $($check(&args)?;)?
                Ok(args)
            }

            fn schema(generator: &mut SchemaGenerator) -> Schema {
                match Self::SOURCE {
                    Source::Query => Self::json_schema(generator),
                    Source::Body => generator.subschema_for::<Self>(),
                }
            }

            $(
                fn after(&mut self) -> Option<&mut Position> {
                    self.$list.as_mut()
                }

                fn filters(&self) -> Option<serde_json::Result<Vec<u8>>> {
                    Some(serde_json::to_vec(self))
                }
            )?
        }
    )+};
}

args! {
    Nothing;
    ListThreads list after;
    ListPosts list after check one_start;
    ListMessages list after;
    ListSubscriptions list after;
    Search list after;
    StartThread from Body;
    Reply from Body;
    EditPost from Body;
    Rate from Body;
    SendMessage from Body;
    Vote from Body;
    EditPoll from Body check some_change;
    Follow from Body;
}

impl Args for Opening {
    const OPENS: bool = true;

    fn decode(node: Node<'_>, head: bool) -> Result<Self, Complaint> {
        let Nothing {} = from_node(node)?;
        Ok(if head { Self::Peek } else { Self::Read })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        Nothing::schema(generator)
    }
}

fn one_start(list: &ListPosts) -> Result<(), Complaint> {
    let both = list.from.is_some() && list.after.is_some();
    (!both)
        .then_some(())
        .ok_or_else(|| Complaint::expected("from", "to stand without after"))
}

fn some_change(edit: &EditPoll) -> Result<(), Complaint> {
    let EditPoll {
        question,
        options,
        max_choices,
        can_change_vote,
        closes_at,
        expected_version: _,
    } = edit;
    let changes = question.is_some()
        || options.is_some()
        || max_choices.is_some()
        || can_change_vote.is_some()
        || closes_at.is_some();
    changes
        .then_some(())
        .ok_or_else(|| Complaint::expected("body", "at least one change"))
}
