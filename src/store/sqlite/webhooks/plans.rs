//! Each statement finds what it is about by an index.
