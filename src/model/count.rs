//! Counts of resources.

/// Converts a count of a database, whose integers are signed. A negative number becomes 0.
///
/// ```
/// use forum_api::model::count;
///
/// assert_eq!((count(12), count(-1)), (12, 0));
/// ```
pub fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
