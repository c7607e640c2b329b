//! Decoding of paths, queries and bodies.

pub(crate) mod error;
pub(crate) mod params;
pub(crate) mod value;
