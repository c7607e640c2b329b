//! The board's groups, and sets of them.

use std::fmt;
use std::str::FromStr;

use forum_api::host::{BoardError, BoardResult};

/// A group of the board. All callers are in [`Guests`](Self::Guests), so members may read what guests may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// All callers.
    Guests,
    Members,
    /// Members whose posts await approval.
    Newcomers,
    /// Members who are exempt from waiting between two posts.
    Staff,
    /// Members who moderate everywhere; only they see an offline board.
    Administrators,
}

impl Group {
    const ALL: [Self; 5] =
        [Self::Guests, Self::Members, Self::Newcomers, Self::Staff, Self::Administrators];

    const fn name(self) -> &'static str {
        match self {
            Self::Guests => "guests",
            Self::Members => "members",
            Self::Newcomers => "newcomers",
            Self::Staff => "staff",
            Self::Administrators => "administrators",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of groups. Its text is their names, separated by commas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups(u8);

impl Groups {
    pub const fn of<const N: usize>(groups: [Group; N]) -> Self {
        let mut bits = 0;
        let mut rest: &[Group] = &groups;
        while let [group, others @ ..] = rest {
            bits |= group.bit();
            rest = others;
        }
        Self(bits)
    }

    /// Parses a set of at least one group.
    pub fn parse_non_empty(text: &str) -> BoardResult<Self> {
        let groups: Self = text.parse()?;
        if groups == Self::default() {
            return Err(BoardError::validation("groups", "expected at least one group"));
        }
        Ok(groups)
    }

    pub const fn with(self, group: Group) -> Self {
        Self(self.0 | group.bit())
    }

    pub const fn contains(self, group: Group) -> bool {
        self.0 & group.bit() != 0
    }

    /// Returns the groups that `others` does not contain.
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Returns whether the two sets share a group.
    pub const fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns whether the board's rules treat these groups as staff.
    pub const fn are_staff(self) -> bool {
        self.meets(Self::of([Group::Staff, Group::Administrators]))
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for group in Group::ALL.into_iter().filter(|group| self.contains(*group)) {
            write!(f, "{separator}{}", group.name())?;
            separator = ",";
        }
        Ok(())
    }
}

impl FromStr for Groups {
    type Err = BoardError;

    fn from_str(text: &str) -> BoardResult<Self> {
        let mut names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.try_fold(Self::default(), |groups, name| {
            let unknown = || {
                let all = Group::ALL.map(Group::name).join(", ");
                let reason = format!("unknown group {name:?}; expected one of {all}");
                BoardError::validation("groups", reason)
            };
            let group =
                Group::ALL.into_iter().find(|group| group.name() == name).ok_or_else(unknown)?;
            Ok(groups.with(group))
        })
    }
}
