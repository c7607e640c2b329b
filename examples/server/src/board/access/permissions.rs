//! Permissions of a caller in each forum. They depend on lists of groups. A forum inherits each list separately.

use super::groups::{Group, Groups};

/// One value for each of the three lists of groups.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccessLists<T> {
    pub read: T,
    pub start: T,
    pub reply: T,
}

/// The lists of one forum as stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForumRules {
    pub forum: i64,
    pub parent: Option<i64>,
    /// `None` inherits the list of the parent.
    pub lists: AccessLists<Option<Groups>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForumPermissions {
    pub read: bool,
    pub start: bool,
    pub reply: bool,
    pub moderate: bool,
    /// `true` if every member may read the forum. Posts in it then count on profiles.
    pub counts: bool,
}

/// Lists of a top-level forum that sets none.
pub const TOP_FORUM: AccessLists<Groups> = AccessLists {
    read: Groups::of([Group::Guests]),
    start: Groups::of([Group::Members]),
    reply: Groups::of([Group::Members]),
};

/// Resolves the lists of each forum. `forums` is in the order of the ids, in which parents precede their children.
pub fn resolve(forums: impl Iterator<Item = ForumRules>) -> Vec<(i64, AccessLists<Groups>)> {
    let mut lists = Vec::new();
    for forum in forums {
        let above = forum.parent.and_then(|parent| of_forum(&lists, parent));
        lists.push((forum.forum, forum.lists.or(above.unwrap_or(TOP_FORUM))));
    }
    lists
}

/// Finds the value of a forum. `forums` is in the order of the ids.
pub fn of_forum<T: Copy>(forums: &[(i64, T)], forum: i64) -> Option<T> {
    let found = forums.binary_search_by_key(&forum, |(id, _)| *id).ok();
    found.and_then(|found| forums.get(found)).map(|(_, value)| *value)
}

impl AccessLists<Groups> {
    /// Returns whether every member may read the forum. Posts in it then count on profiles.
    pub const fn counts(self) -> bool {
        self.read.meets(Groups::of([Group::Guests, Group::Members]))
    }
}

impl AccessLists<Option<Groups>> {
    fn or(self, above: AccessLists<Groups>) -> AccessLists<Groups> {
        AccessLists {
            read: self.read.unwrap_or(above.read),
            start: self.start.unwrap_or(above.start),
            reply: self.reply.unwrap_or(above.reply),
        }
    }
}

/// Returns the permissions of a caller in a forum with these lists. Only members may write.
pub fn access(
    lists: AccessLists<Groups>,
    moderator: bool,
    groups: Groups,
    member: bool,
) -> ForumPermissions {
    let administrator = groups.contains(Group::Administrators);
    let reads = administrator || groups.meets(lists.read);
    ForumPermissions {
        read: reads,
        start: member && reads && groups.meets(lists.start),
        reply: member && reads && groups.meets(lists.reply),
        moderate: administrator || reads && moderator,
        counts: lists.counts(),
    }
}
