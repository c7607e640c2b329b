//! Settings, and groups and moderators of all forums, which requests share until they change. Reading the groups and
//! moderators on each request costs a round trip to Postgres, and 30 % of the CPU time of Postgres for a thread (20
//! forums).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow::Continue;
use std::sync::{Arc, PoisonError, RwLock};

use forum_api::host::BoardResult;

use super::groups::Groups;
use super::permissions::{AccessLists, ForumPermissions, ForumRules, access, of_forum, resolve};
use crate::board::db::{Connection, Row};
use crate::board::settings::SettingValues;

/// Returns one row for each moderator of each forum, one row for a forum without moderators, and one row for a board
/// without forums.
const LOAD: &str = "
    SELECT
        access_version.version, (SELECT string_agg(key || '=' || value, '\n') FROM setting) AS settings,
        forum.id AS forum_id, forum.parent_id, forum.read_groups, forum.start_groups, forum.reply_groups,
        forum_moderator.member_id
    FROM access_version
    LEFT JOIN forum ON TRUE
    LEFT JOIN forum_moderator ON forum_moderator.forum_id = forum.id";

/// The settings, and the lists of groups and the moderators of all forums.
#[derive(Debug, Default)]
pub struct BoardRules {
    /// The number in `access_version` when the rules were loaded.
    version: i64,
    /// In the order of the ids.
    lists: Vec<(i64, AccessLists<Groups>)>,
    /// Moderators and their forums.
    moderators: BTreeSet<(i64, i64)>,
    pub settings: Arc<SettingValues>,
}

impl BoardRules {
    pub async fn load(connection: &Connection<'_>) -> BoardResult<Self> {
        let mut forums = BTreeMap::new();
        let mut rules = Self::default();
        let mut read = |row: &Row<'_>| {
            // These columns are the same in all rows.
            if forums.is_empty() {
                rules.version = row.value("version")?;
                rules.settings = Arc::new(SettingValues::read(row)?);
            }
            let Some(forum) = row.value("forum_id")? else {
                return Ok(Continue(()));
            };
            let rules_of_forum = ForumRules {
                forum,
                parent: row.value("parent_id")?,
                lists: AccessLists {
                    read: row.parsed("read_groups")?,
                    start: row.parsed("start_groups")?,
                    reply: row.parsed("reply_groups")?,
                },
            };
            forums.insert(forum, rules_of_forum);
            let moderator: Option<i64> = row.value("member_id")?;
            rules.moderators.extend(moderator.map(|member| (member, forum)));
            Ok(Continue(()))
        };
        connection.each_row(LOAD, &[], &mut read).await?;
        rules.lists = resolve(forums.into_values());
        Ok(rules)
    }

    /// Returns whether posts in a forum count on profiles.
    pub fn counts(&self, forum: i64) -> bool {
        of_forum(&self.lists, forum).is_some_and(AccessLists::counts)
    }

    /// Returns the permissions of a caller in each forum, in the order of the ids. `member` is `None` for a guest.
    pub fn permissions(&self, member: Option<i64>, groups: Groups) -> Vec<(i64, ForumPermissions)> {
        let moderates =
            |forum| member.is_some_and(|member| self.moderators.contains(&(member, forum)));
        self.lists
            .iter()
            .map(|(forum, lists)| {
                (*forum, access(*lists, moderates(*forum), groups, member.is_some()))
            })
            .collect()
    }
}

/// The rules that were loaded last. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct BoardRulesCache(Arc<RwLock<Arc<BoardRules>>>);

impl BoardRulesCache {
    /// Returns the rules of this version; `None` if others were loaded last.
    pub fn get(&self, version: i64) -> Option<Arc<BoardRules>> {
        let rules = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (rules.version == version).then(|| rules.clone())
    }

    pub fn set(&self, rules: Arc<BoardRules>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::access::groups::Group;

    const GUEST: Groups = Groups::of([Group::Guests]);
    const MEMBER: Groups = Groups::of([Group::Guests, Group::Members]);
    const STAFF: Groups = Groups::of([Group::Guests, Group::Members, Group::Staff]);
    const ADMINISTRATOR: Groups = Groups::of([Group::Guests, Group::Administrators]);

    const MODERATOR: i64 = 1;

    fn rules(forum: i64, lists: [Option<Group>; 3]) -> ForumRules {
        let [read, start, reply] = lists.map(|group| group.map(|group| Groups::of([group])));
        ForumRules {
            forum,
            parent: (forum > 1).then_some(forum - 1),
            lists: AccessLists { read, start, reply },
        }
    }

    fn board<const N: usize, const M: usize>(
        forums: [ForumRules; N],
        moderated: [i64; M],
    ) -> BoardRules {
        BoardRules {
            version: 1,
            lists: resolve(forums.into_iter()),
            moderators: moderated.map(|forum| (MODERATOR, forum)).into(),
            settings: Arc::default(),
        }
    }

    /// Returns a letter for each permission of these groups, and `c` if posts count on profiles.
    fn may(rules: &BoardRules, forum: i64, groups: Groups) -> String {
        let member = (groups != GUEST).then_some(MODERATOR);
        let found = of_forum(&rules.permissions(member, groups), forum).unwrap();
        [
            (found.read, 'r'),
            (found.start, 's'),
            (found.reply, 'p'),
            (found.moderate, 'm'),
            (found.counts, 'c'),
        ]
        .into_iter()
        .filter(|(is_allowed, _)| *is_allowed)
        .map(|(_, letter)| letter)
        .collect()
    }

    #[test]
    fn each_list_is_inherited_separately_and_moderators_are_not() {
        const GUESTS: Option<Group> = Some(Group::Guests);
        const MEMBERS: Option<Group> = Some(Group::Members);
        const STAFF_ONLY: Option<Group> = Some(Group::Staff);
        let plain = board([rules(1, [None; 3])], []);
        let open = board([rules(1, [GUESTS; 3])], []);
        let nested = board(
            [
                rules(1, [MEMBERS, STAFF_ONLY, None]),
                rules(2, [None, None, STAFF_ONLY]),
                rules(3, [GUESTS, None, None]),
            ],
            [],
        );
        let moderated = board([rules(1, [STAFF_ONLY, None, None]), rules(2, [None; 3])], [1]);
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
