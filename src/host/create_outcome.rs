//! Results of commands that create a resource or find it.

/// Result of a command that creates a resource, or finds the existing one:
/// [`Board::subscribe`](super::Board::subscribe), or an [operation](crate::operation) of the host, for example a second
/// vote for the same post.
///
/// The operation is built with [`created`](crate::operation::OperationBuilder::created). `T` is its result without the
/// outcome, such as [`InForum`](super::InForum).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CreateOutcome<T> {
    /// A new resource: 201.
    Created(T),
    /// The resource existed before: 200.
    Existing(T),
}
