//! Supertrait of the store traits that only the library implements.

use std::sync::Arc;

/// A store of the library. It is not public, so a host cannot implement the traits that require it.
pub trait LibraryStore {}

impl<T: LibraryStore + ?Sized> LibraryStore for Arc<T> {}

impl<T: LibraryStore + ?Sized> LibraryStore for Box<T> {}
