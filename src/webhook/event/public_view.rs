//! A resource as everybody finds it who sees it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Event;

impl Event {
    /// The fields of resources that depend on who reads. No event has them.
    pub const OF_A_READER: [&str; 5] = [
        "canEdit",
        "canDelete",
        "canReply",
        "canStartThread",
        "ownVote",
    ];
}

/// A resource as it was when the change was committed, without what depends on a reader.
pub(super) struct Snapshot<'a, T: Clone>(pub(super) Cow<'a, T>);

impl<T: Clone + Serialize> Serialize for Snapshot<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut resource = serde_json::to_value(&self.0).map_err(S::Error::custom)?;
        forget_reader(resource.as_object_mut());
        resource.serialize(serializer)
    }
}

impl<T: Clone + JsonSchema> JsonSchema for Snapshot<'_, T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Snapshot", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        for part in ["/properties", "/examples/0"] {
            forget_reader(schema.pointer_mut(part).and_then(Value::as_object_mut));
        }
        let required = schema.pointer_mut("/required");
        if let Some(names) = required.and_then(Value::as_array_mut) {
            names.retain(|name| Event::OF_A_READER.iter().all(|field| name != field));
        }
        let says = "As it was when the change was committed, without what depends on a reader.";
        schema.insert("description".into(), says.into());
        schema
    }
}

fn forget_reader(fields: Option<&mut Map<String, Value>>) {
    if let Some(fields) = fields {
        fields.retain(|name, _| !Event::OF_A_READER.contains(&name.as_str()));
    }
}
