//! Path variables of operations.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::extract::value::InputValue;
use crate::host::ResourceRef;
use crate::http_util::percent_decode;
use crate::model::{ForumId, MessageId, PollId, PostId, PostPath, ThreadId, UserRef};

/// Maximum number of variables in a path.
pub(crate) const MAX_VARIABLES: usize = 4;

/// Variable segments of a path, still percent-encoded, in the order of the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathSegments<'a>(pub(crate) [Option<&'a str>; MAX_VARIABLES]);

impl PathSegments<'_> {
    pub(crate) fn text(&self, index: usize) -> Option<Cow<'_, str>> {
        percent_decode((*self.0.get(index)?)?)
    }

    pub(crate) fn parse<T: FromStr>(&self, index: usize) -> Option<T> {
        self.text(index)?.parse().ok()
    }
}

/// Path variables of an operation: an id of [`model`](crate::model), [`PostPath`], `()` for a path without variables,
/// or a struct of the host whose fields have the names and the order of the variables.
///
/// ```
/// use forum_api::host::ResourceRef;
/// use forum_api::model::ThreadId;
/// use forum_api::operation::PathParams;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// `/threads/{threadId}/links/{position}`
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct LinkPath {
///     thread_id: ThreadId,
///     position: u32,
/// }
///
/// impl PathParams for LinkPath {
///     fn resource(&self) -> ResourceRef<'_> {
///         ResourceRef::Thread(&self.thread_id)
///     }
/// }
/// ```
pub trait PathParams: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Returns the resource whose forum the library checks before an operation with side effects;
    /// [`ResourceRef::Member`] or [`ResourceRef::Global`] if the path names no resource of a forum.
    ///
    /// Before another operation, the library checks only a [`ResourceRef::Forum`]. Afterwards it checks the forum of the
    /// result, if the result has a forum.
    fn resource(&self) -> ResourceRef<'_>;

    /// Decodes the segments. Returns `None` if a segment is invalid; the response is then the same 404 as for an
    /// unknown id.
    #[doc(hidden)]
    fn decode(segments: &PathSegments<'_>, names: &[&'static str]) -> Option<Self> {
        let variables = names.iter().enumerate().map(|(index, name)| {
            let text = segments.text(index)?.into_owned();
            Some(((*name).into(), InputValue::Segment(text.into())))
        });
        Self::deserialize(InputValue::Object(variables.collect::<Option<_>>()?)).ok()
    }

    /// Returns the schemas of the variables of the type: first those in `names`, the variables in the path of the
    /// operation.
    #[doc(hidden)]
    fn variables(generator: &mut SchemaGenerator, names: &[&'static str]) -> Vec<(String, Schema)> {
        let schema = Self::json_schema(generator);
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Vec::new();
        };
        let others = properties.keys().map(String::as_str).filter(|name| !names.contains(name));
        let variable = |name: &str| {
            let schema = properties.get(name)?.clone();
            Some((name.to_owned(), schema.try_into().ok()?))
        };
        let names = names.iter().copied().chain(others);
        names.filter_map(variable).collect()
    }
}

impl PathParams for () {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Global
    }

    fn decode(_: &PathSegments<'_>, _: &[&'static str]) -> Option<Self> {
        Some(())
    }

    fn variables(_: &mut SchemaGenerator, _: &[&'static str]) -> Vec<(String, Schema)> {
        Vec::new()
    }
}

/// A path with one variable.
macro_rules! path_variable {
    ($type:ident, $resource:expr) => {
        impl PathParams for $type {
            fn resource(&self) -> ResourceRef<'_> {
                $resource(self)
            }

            fn decode(segments: &PathSegments<'_>, _: &[&'static str]) -> Option<Self> {
                segments.parse(0)
            }

            fn variables(
                generator: &mut SchemaGenerator,
                names: &[&'static str],
            ) -> Vec<(String, Schema)> {
                names
                    .iter()
                    .take(1)
                    .map(|name| ((*name).to_owned(), Self::json_schema(generator)))
                    .collect()
            }
        }
    };
}

path_variable!(ForumId, ResourceRef::Forum);
path_variable!(ThreadId, ResourceRef::Thread);
path_variable!(PollId, ResourceRef::Poll);
path_variable!(UserRef, ResourceRef::Member);
path_variable!(MessageId, |_| ResourceRef::Global);

impl PathParams for PostPath {
    fn resource(&self) -> ResourceRef<'_> {
        ResourceRef::Post(&self.thread_id, &self.post_id)
    }

    fn decode(segments: &PathSegments<'_>, _: &[&'static str]) -> Option<Self> {
        Some(Self { thread_id: segments.parse(0)?, post_id: segments.parse(1)? })
    }

    fn variables(generator: &mut SchemaGenerator, _: &[&'static str]) -> Vec<(String, Schema)> {
        vec![
            ("threadId".into(), ThreadId::json_schema(generator)),
            ("postId".into(), PostId::json_schema(generator)),
        ]
    }
}
