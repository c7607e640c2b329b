//! Conversion of the signed integers of SQL databases.

/// Converts a signed integer of a database, such as a count, to `u64`. A negative number becomes 0.
///
/// ```
/// use forum_api::model::saturating_u64;
///
/// assert_eq!((saturating_u64(12), saturating_u64(-1)), (12, 0));
/// ```
pub fn saturating_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
