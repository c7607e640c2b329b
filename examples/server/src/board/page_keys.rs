//! Page keys of lists that are ordered by time and id.

use forum_api::host::BoardResult;
use forum_api::model::{PageKey, PageLimit, Timestamp};

/// Returns the key of an item by its time and id.
pub fn of(time: Timestamp, id: impl std::fmt::Display) -> PageKey {
    PageKey::new(format_args!("{}.{id}", time.as_millis()))
}

pub fn read(place: Option<&PageKey>) -> BoardResult<Option<(i64, i64)>> {
    Ok(numbers(place)?.map(|[time, id]| (time, id)))
}

pub fn numbers<const N: usize>(place: Option<&PageKey>) -> BoardResult<Option<[i64; N]>> {
    Ok(place.map(PageKey::parse_ints).transpose()?)
}

/// Number of rows to read: one beyond the limit shows that more follow.
pub fn rows(limit: PageLimit) -> i64 {
    limit.get() as i64 + 1
}
