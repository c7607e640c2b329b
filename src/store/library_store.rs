//! Supertrait of the store traits that only the library implements.

/// A store of the library. It is not public, so a host cannot implement the traits that require it.
pub trait LibraryStore {}
