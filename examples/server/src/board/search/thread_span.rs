//! Posts of the threads of matches.

use std::collections::HashMap;

use forum_api::host::BoardResult;

use super::filter::Match;
use crate::board::db::{Connection, Row, bind, json};

/// Ids of the first and the last visible post of a thread, and the number of its posts.
#[derive(Clone, Copy, Debug)]
pub struct ThreadSpan {
    pub thread: i64,
    pub first: i64,
    pub last: i64,
    pub posts: i64,
}

impl ThreadSpan {
    /// Reads the spans of the threads of matches, by thread.
    pub async fn of_matches(
        connection: &Connection<'_>,
        matches: &[Match],
    ) -> BoardResult<HashMap<i64, Self>> {
        let threads: Vec<_> = matches.iter().map(|found| found.thread).collect();
        let find = "
            SELECT
                thread.id, coalesce(thread.first_post_id, 0) AS first, coalesce(thread.last_post_id, 0) AS last,
                thread.last_number
            FROM json_each(?1) AS found JOIN thread ON thread.id = CAST(found.value AS BIGINT)";
        let list = json(&threads)?;
        let read = |row: &Row<'_>| {
            Ok(Self {
                thread: row.value("id")?,
                first: row.value("first")?,
                last: row.value("last")?,
                posts: row.value("last_number")?,
            })
        };
        let spans = connection.all(find, bind![list], read).await?;
        Ok(spans.into_iter().map(|span| (span.thread, span)).collect())
    }
}
