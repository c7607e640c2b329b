//! What is bound to a statement.

use tokio_postgres::types;

/// A value that both databases take.
pub trait Value: rusqlite::ToSql + types::ToSql + Sync {}

impl<T: rusqlite::ToSql + types::ToSql + Sync> Value for T {}

/// A parameter's name, and its value.
pub type Bound<'a> = (&'a str, &'a (dyn Value + Sync));

/// The parameters of a statement: by name, as in `bind! { ":thread": thread }`, or in the order of `?1`, `?2` and so on,
/// as in `bind![thread, post]`.
#[macro_export]
macro_rules! bind {
    ($($name:literal: $value:expr),* $(,)?) => {
        &[$(($name, &$value as &(dyn $crate::board::db::Value + Sync))),*]
    };
    ($first:expr $(,)?) => {
        $crate::bind! { "?1": $first }
    };
    ($first:expr, $second:expr $(,)?) => {
        $crate::bind! { "?1": $first, "?2": $second }
    };
    ($first:expr, $second:expr, $third:expr $(,)?) => {
        $crate::bind! { "?1": $first, "?2": $second, "?3": $third }
    };
}

pub use bind;
