//! Page keys of lists that are ordered by time and id.

use forum_api::host::Result;
use forum_api::model::{Limit, Position, Timestamp};

/// Returns the key of an item by its time and id.
pub fn of(time: Timestamp, id: impl std::fmt::Display) -> Position {
    Position::new(format_args!("{}.{id}", time.as_millis()))
}

pub fn read(place: Option<&Position>) -> Result<Option<(i64, i64)>> {
    Ok(numbers(place)?.map(|[time, id]| (time, id)))
}

pub fn numbers<const N: usize>(place: Option<&Position>) -> Result<Option<[i64; N]>> {
    Ok(place.map(Position::numbers).transpose()?)
}

/// Number of rows to read: one beyond the limit shows that more follow.
pub fn rows(limit: Limit) -> i64 {
    limit.get() as i64 + 1
}
