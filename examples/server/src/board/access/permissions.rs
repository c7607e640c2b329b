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
    pub moderator: bool,
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

/// Resolves the permissions in each forum. `forums` is in the order of the ids, in which parents precede their children.
/// Only members may write.
pub fn resolve(
    forums: &[ForumRules],
    groups: Groups,
    member: bool,
) -> Vec<(i64, ForumPermissions)> {
    let mut lists = Vec::with_capacity(forums.len());
    let access = forums.iter().map(|forum| {
        let above = forum.parent.and_then(|parent| of_forum(&lists, parent));
        let own = forum.lists.or(above.unwrap_or(TOP_FORUM));
        lists.push((forum.forum, own));
        (forum.forum, access(own, forum.moderator, groups, member))
    });
    access.collect()
}

/// Finds the value of a forum. `forums` is in the order of the ids.
pub fn of_forum<T: Copy>(forums: &[(i64, T)], forum: i64) -> Option<T> {
    let found = forums.binary_search_by_key(&forum, |(id, _)| *id).ok();
    found
        .and_then(|found| forums.get(found))
        .map(|(_, value)| *value)
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

fn access(
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
        counts: lists
            .read
            .meets(Groups::of([Group::Guests, Group::Members])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUEST: Groups = Groups::of([Group::Guests]);
    const MEMBER: Groups = Groups::of([Group::Guests, Group::Members]);
    const STAFF: Groups = Groups::of([Group::Guests, Group::Members, Group::Staff]);
    const ADMINISTRATOR: Groups = Groups::of([Group::Guests, Group::Administrators]);

    fn rules(forum: i64, lists: [Option<Group>; 3], moderator: bool) -> ForumRules {
        let [read, start, reply] = lists.map(|group| group.map(|group| Groups::of([group])));
        ForumRules {
            forum,
            parent: (forum > 1).then_some(forum - 1),
            lists: AccessLists { read, start, reply },
            moderator,
        }
    }

    /// Returns a letter for each permission of these groups, and `c` if posts count on profiles.
    fn may(rules: &[ForumRules], forum: i64, groups: Groups) -> String {
        let resolved = resolve(rules, groups, groups != GUEST);
        let found = of_forum(&resolved, forum).unwrap();
        let letters = [
            (found.read, 'r'),
            (found.start, 's'),
            (found.reply, 'p'),
            (found.moderate, 'm'),
            (found.counts, 'c'),
        ]
        .into_iter()
        .filter(|(may, _)| *may);
        letters.map(|(_, letter)| letter).collect()
    }

    #[test]
    fn each_list_is_inherited_separately_and_moderators_are_not() {
        const GUESTS: Option<Group> = Some(Group::Guests);
        const MEMBERS: Option<Group> = Some(Group::Members);
        const STAFF_ONLY: Option<Group> = Some(Group::Staff);
        let plain = vec![rules(1, [None; 3], false)];
        let open = vec![rules(1, [GUESTS; 3], false)];
        let nested = vec![
            rules(1, [MEMBERS, STAFF_ONLY, None], false),
            rules(2, [None, None, STAFF_ONLY], false),
            rules(3, [GUESTS, None, None], false),
        ];
        let moderated = vec![
            rules(1, [STAFF_ONLY, None, None], true),
            rules(2, [None; 3], false),
        ];
        for (rules, forum, groups, expected) in [
            (&plain, 1, GUEST, "rc"),
            (&plain, 1, MEMBER, "rspc"),
            (&plain, 1, ADMINISTRATOR, "rmc"),
            (&open, 1, GUEST, "rc"),
            (&nested, 1, GUEST, "c"),
            (&nested, 1, MEMBER, "rpc"),
            (&nested, 2, MEMBER, "rc"),
            (&nested, 2, STAFF, "rspc"),
            (&nested, 3, GUEST, "rc"),
            (&nested, 3, STAFF, "rspc"),
            (&moderated, 1, STAFF, "rspm"),
            (&moderated, 1, MEMBER, ""),
            (&moderated, 2, STAFF, "rsp"),
            (&moderated, 2, ADMINISTRATOR, "rm"),
        ] {
            assert_eq!(may(rules, forum, groups), expected, "{rules:?} {groups}");
        }
    }
}
