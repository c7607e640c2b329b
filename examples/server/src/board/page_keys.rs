//! Page keys of lists that are ordered by time and id.

use forum_api::host::Result;
use forum_api::model::{Limit, Position, Timestamp};

/// The place of what happened at `time` and has this id.
pub fn of(time: Timestamp, id: impl std::fmt::Display) -> Position {
    Position::new(format_args!("{}.{id}", time.as_millis()))
}

/// The time and the id of a place.
pub fn read(place: Option<&Position>) -> Result<Option<(i64, i64)>> {
    Ok(numbers(place)?.map(|[time, id]| (time, id)))
}

/// The numbers of a place.
pub fn numbers<const N: usize>(place: Option<&Position>) -> Result<Option<[i64; N]>> {
    Ok(place.map(Position::numbers).transpose()?)
}

/// How many rows to ask for: the one beyond the limit tells whether more follow.
pub fn rows(limit: Limit) -> i64 {
    limit.get() as i64 + 1
}
