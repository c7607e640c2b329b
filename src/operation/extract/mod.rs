//! Decoding of paths, queries and bodies.

pub(crate) mod error;
pub(crate) mod value;
