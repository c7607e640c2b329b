//! Tags of operations.

/// Group of operations in the OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

impl Tag {
    /// Creates a tag. Operations with the same name must have the same description.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Self { name, description }
    }
}
