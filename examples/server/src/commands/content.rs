//! Lists of forums, threads and posts.

use forum_api::host::BoardResult;
use forum_api::model::{ContentState, InvalidIdError};

use crate::board::ReferenceBoard;
use crate::board::access::groups::Groups;
use crate::board::access::permissions::TOP_FORUM;
use crate::board::forums;
use crate::board::listings::{self, ForumListing, PostListing, ThreadListing};
use crate::output::{Column, Limit, ListItem, Output, quoted, shows_total, time};

/// Maximum number of rows of one statement.
const MAX_PAGE: usize = 500;

/// Lists all forums. A sub-forum without a list of groups has the list of its parent.
pub async fn list_forums(board: &ReferenceBoard, limit: Limit) -> BoardResult<Output> {
    let forums = board.read(|connection| Box::pin(listings::forums(connection))).await?;
    Output::list(forums, limit)
}

/// Returns the list of groups that applies to a forum.
pub fn effective_groups(list: Option<String>, has_parent: bool, default: Groups) -> String {
    match list {
        Some(list) => list,
        None if has_parent => "(parent's)".into(),
        None => default.to_string(),
    }
}

/// Lists the threads of a forum, or of all forums.
pub async fn list_threads(
    board: &ReferenceBoard,
    forum: Option<i64>,
    limit: Limit,
) -> BoardResult<Output> {
    if let Some(forum) = forum {
        board.read(move |connection| Box::pin(forums::check_exists(connection, forum))).await?;
    }
    let read_page = async |before, rows| {
        board
            .read(move |connection| Box::pin(listings::threads(connection, forum, before, rows)))
            .await
    };
    let threads = read_pages(limit, read_page, |thread| thread.thread_id.to_i64()).await?;
    let total = if shows_total() {
        board.read(move |connection| Box::pin(listings::count_threads(connection, forum))).await?
    } else {
        threads.len()
    };
    Output::part_of_list(threads, total)
}

/// Lists the posts in a state.
pub async fn list_posts(
    board: &ReferenceBoard,
    state: ContentState,
    limit: Limit,
) -> BoardResult<Output> {
    let read_page = async |before, rows| {
        board
            .read(move |connection| Box::pin(listings::posts(connection, state, before, rows)))
            .await
    };
    let posts = read_pages(limit, read_page, |post| post.post_id.to_i64()).await?;
    let total = if shows_total() {
        board.read(move |connection| Box::pin(listings::count_posts(connection, state))).await?
    } else {
        posts.len()
    };
    Output::part_of_list(posts, total)
}

/// Reads the newest items up to the limit, page by page. `read_page` takes an id and a number of rows, and returns the items
/// before this id, the newest first. `id` returns the id of an item.
async fn read_pages<T>(
    limit: Limit,
    read_page: impl AsyncFn(i64, i64) -> BoardResult<Vec<T>>,
    id: impl Fn(&T) -> Result<i64, InvalidIdError>,
) -> BoardResult<Vec<T>> {
    let mut items = Vec::new();
    let mut before = i64::MAX;
    while items.len() < limit.max() {
        let rows = MAX_PAGE.min(limit.max() - items.len()) as i64;
        let page = read_page(before, rows).await?;
        let Some(last) = page.last() else {
            break;
        };
        before = id(last)?;
        items.extend(page);
    }
    Ok(items)
}

impl ListItem for ForumListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("PARENT").whole(),
        Column::new("THREADS"),
        Column::new("POSTS"),
        Column::new("READ").long(),
        Column::new("START").long(),
        Column::new("REPLY").long(),
        Column::new("TITLE").long(),
    ];

    fn cells(&self) -> Vec<String> {
        let groups = |names: &Option<Vec<String>>, default| {
            let list = names.as_ref().map(|names| names.join(","));
            effective_groups(list, self.parent_id.is_some(), default)
        };
        vec![
            self.forum_id.to_string(),
            self.parent_id.as_ref().map_or("-".into(), ToString::to_string),
            self.thread_count.to_string(),
            self.post_count.to_string(),
            groups(&self.read, TOP_FORUM.read),
            groups(&self.start, TOP_FORUM.start),
            groups(&self.reply, TOP_FORUM.reply),
            self.title.clone(),
        ]
    }
}

impl ListItem for ThreadListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("FORUM").optional().whole(),
        Column::new("STATE"),
        Column::new("FLAGS"),
        Column::new("REPLIES").optional(),
        Column::new("LAST ACTIVITY"),
        Column::new("AUTHOR").long(),
        Column::new("TITLE").long(),
    ];

    fn cells(&self) -> Vec<String> {
        let flags = match (self.pinned, self.locked) {
            (true, true) => "pinned,locked",
            (true, false) => "pinned",
            (false, true) => "locked",
            (false, false) => "-",
        };
        vec![
            self.thread_id.to_string(),
            self.forum_id.to_string(),
            self.state.as_str().into(),
            flags.into(),
            self.reply_count.to_string(),
            time(self.last_activity_at),
            self.author.clone().unwrap_or_else(|| "(deleted)".into()),
            self.title.clone(),
        ]
    }
}

impl ListItem for PostListing {
    const COLUMNS: &'static [Column] = &[
        Column::new("ID"),
        Column::new("THREAD").whole(),
        Column::new("AUTHOR").long(),
        Column::new("CREATED"),
        Column::new("TEXT").long(),
    ];

    fn cells(&self) -> Vec<String> {
        vec![
            self.post_id.to_string(),
            self.thread_id.to_string(),
            self.author.clone().unwrap_or_else(|| "(deleted)".into()),
            time(self.created_at),
            quoted(&self.body),
        ]
    }
}

#[cfg(test)]
mod tests {
    use forum_api::model::Timestamp;

    use super::*;

    #[test]
    fn a_thread_is_listed_with_its_flags() {
        for (pinned, locked, flags) in [
            (false, false, "-"),
            (true, false, "pinned"),
            (false, true, "locked"),
            (true, true, "pinned,locked"),
        ] {
            let thread = ThreadListing {
                thread_id: 7.into(),
                forum_id: 2.into(),
                title: "Tea".into(),
                author: None,
                state: ContentState::Visible,
                locked,
                pinned,
                reply_count: 3,
                last_activity_at: Timestamp::from_millis(0),
            };
            let time = "1970-01-01T00:00:00.000Z";
            assert_eq!(thread.cells(), ["7", "2", "visible", flags, "3", time, "(deleted)", "Tea"]);
        }
    }
}
