//! What a request names, asks for and carries, decoded strictly.

pub(crate) mod body;
pub(crate) mod error;
pub(crate) mod params;
pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod value;
