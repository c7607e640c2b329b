//! What a caller may do in each forum: lists of groups, inherited each by itself.

use std::collections::HashMap;

use super::groups::{Group, Groups};

/// Something for each of the three things that a forum's groups are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists<T> {
    /// For seeing the forum and what is in it.
    pub read: T,
    /// For starting threads.
    pub start: T,
    /// For replying.
    pub reply: T,
}

/// Who may do what in one forum, as it was set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The forum.
    pub forum: i64,
    /// The forum above.
    pub parent: Option<i64>,
    /// The groups that may; `None` is what the forum above says.
    pub lists: Lists<Option<Groups>>,
    /// Whether the caller was named its moderator.
    pub moderator: bool,
}

/// What one caller may do in one forum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// See it and what is in it.
    pub read: bool,
    /// Start threads.
    pub start: bool,
    /// Reply.
    pub reply: bool,
    /// Moderate it.
    pub moderate: bool,
    /// Whether every member may see it, so that posts in it count on their authors' profiles.
    pub counts: bool,
}

/// What holds in a forum that does not say, and has none above.
const TOP: Lists<Groups> = Lists {
    read: Groups::of([Group::Guests]),
    start: Groups::of([Group::Members]),
    reply: Groups::of([Group::Members]),
};

/// What somebody in these groups may do in each of the `forums`, of which parents stand before their children. Only a
/// member writes, whatever the lists say.
pub fn resolve(forums: &[Rules], groups: Groups, member: bool) -> HashMap<i64, Access> {
    let mut lists = HashMap::new();
    let access = forums.iter().map(|forum| {
        let above = forum.parent.and_then(|parent| lists.get(&parent));
        let own = forum.lists.or(above.copied().unwrap_or(TOP));
        lists.insert(forum.forum, own);
        (forum.forum, access(own, forum.moderator, groups, member))
    });
    access.collect()
}

impl Lists<Option<Groups>> {
    fn or(self, above: Lists<Groups>) -> Lists<Groups> {
        Lists {
            read: self.read.unwrap_or(above.read),
            start: self.start.unwrap_or(above.start),
            reply: self.reply.unwrap_or(above.reply),
        }
    }
}

fn access(lists: Lists<Groups>, moderator: bool, groups: Groups, member: bool) -> Access {
    let administrator = groups.contains(Group::Administrators);
    let reads = administrator || groups.meets(lists.read);
    Access {
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
    use super::{Group, Groups, Lists, Rules, resolve};

    const GUEST: Groups = Groups::of([Group::Guests]);
    const MEMBER: Groups = Groups::of([Group::Guests, Group::Members]);
    const STAFF: Groups = Groups::of([Group::Guests, Group::Members, Group::Staff]);
    const ADMINISTRATOR: Groups = Groups::of([Group::Guests, Group::Administrators]);

    fn only(group: Group) -> Option<Groups> {
        Some(Groups::of([group]))
    }

    fn lists<T>(read: T, start: T, reply: T) -> Lists<T> {
        Lists { read, start, reply }
    }

    fn may(rules: &[Rules], forum: i64, groups: Groups) -> String {
        let access = resolve(rules, groups, groups != GUEST)[&forum];
        let letters = [
            (access.read, 'r'),
            (access.start, 's'),
            (access.reply, 'p'),
            (access.moderate, 'm'),
            (access.counts, 'c'),
        ];
        let letters = letters.into_iter().filter(|(may, _)| *may);
        letters.map(|(_, letter)| letter).collect()
    }

    #[test]
    fn a_top_forum_is_read_by_guests_and_written_by_members() {
        let rules = [Rules {
            forum: 1,
            ..Rules::default()
        }];
        assert_eq!(may(&rules, 1, GUEST), "rc");
        assert_eq!(may(&rules, 1, MEMBER), "rspc");
        assert_eq!(may(&rules, 1, ADMINISTRATOR), "rmc");
    }

    #[test]
    fn each_list_is_inherited_by_itself() {
        let top = Rules {
            forum: 1,
            lists: lists(only(Group::Members), only(Group::Staff), None),
            ..Rules::default()
        };
        let below = Rules {
            forum: 2,
            parent: Some(1),
            lists: lists(None, None, only(Group::Staff)),
            ..Rules::default()
        };
        let deeper = Rules {
            forum: 3,
            parent: Some(2),
            lists: lists(only(Group::Guests), None, None),
            ..Rules::default()
        };
        let rules = [top, below, deeper];
        assert_eq!(may(&rules, 1, GUEST), "c");
        assert_eq!(may(&rules, 1, MEMBER), "rpc");
        assert_eq!(may(&rules, 2, MEMBER), "rc");
        assert_eq!(may(&rules, 2, STAFF), "rspc");
        assert_eq!(may(&rules, 3, GUEST), "rc");
        assert_eq!(may(&rules, 3, STAFF), "rspc");
    }

    #[test]
    fn a_guest_writes_nowhere() {
        let guests = only(Group::Guests);
        let rules = [Rules {
            forum: 1,
            lists: lists(guests, guests, guests),
            ..Rules::default()
        }];
        assert_eq!(may(&rules, 1, GUEST), "rc");
        assert_eq!(may(&rules, 1, MEMBER), "rspc");
    }

    #[test]
    fn a_moderator_has_to_be_able_to_read_the_forum_and_moderates_none_below() {
        let staff = Rules {
            forum: 1,
            lists: lists(only(Group::Staff), None, None),
            moderator: true,
            ..Rules::default()
        };
        let below = Rules {
            forum: 2,
            parent: Some(1),
            ..Rules::default()
        };
        let rules = [staff, below];
        assert_eq!(may(&rules, 1, STAFF), "rspm");
        assert_eq!(may(&rules, 1, MEMBER), "");
        assert_eq!(may(&rules, 2, STAFF), "rsp");
        assert_eq!(may(&rules, 2, ADMINISTRATOR), "rm");
    }
}
