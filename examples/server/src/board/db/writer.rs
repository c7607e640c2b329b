//! The originator of a write, which determines its limits.

/// Originator of a write.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// A member. `thread` is the thread that the command locks, if it is known before.
    Member { thread: Option<i64> },
    /// An operator, whose commands can change many rows, or the server itself.
    Operator,
}
