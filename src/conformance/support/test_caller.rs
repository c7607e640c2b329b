//! Those who ask.

use std::fmt;
use std::sync::Arc;

use super::suite::Ground;
use super::{Stop, Verdict};
use crate::host::{Caller, Member, Standing};
use crate::model::{UserId, UserRef};

/// A caller of the board under test: the guest, or a member.
///
/// Every command of the [`Board`](crate::host::Board) is a method here, so that a rule reads as what is asked and what
/// is expected: `alice.thread(&id).await?.absent()?`. The standing is asked anew for each, as the library does it.
#[derive(Clone)]
pub struct Someone {
    pub(crate) ground: Arc<Ground>,
    pub(crate) name: String,
    /// `None` for the guest.
    pub(crate) user: Option<UserId>,
    /// What is used in the place of the standing of now.
    pub(crate) held: Option<Standing>,
}

impl Someone {
    /// Their name; the guest's is "the guest".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Their id; the empty one, which nothing has, for the guest.
    pub fn id(&self) -> UserId {
        self.user.clone().unwrap_or_else(UserId::nothing)
    }

    /// How a client names them by id.
    pub fn by_id(&self) -> UserRef {
        UserRef::Id(self.id())
    }

    /// How a client names them by name.
    pub fn by_name(&self) -> UserRef {
        UserRef::Name(self.name.clone())
    }

    /// What the board lets them see now; `None` for one who can no longer act.
    pub async fn standing(&self) -> Verdict<Option<Standing>> {
        let authority = &self.ground.authority;
        Ok(match (&self.held, &self.user) {
            (Some(held), _) => Some(held.clone()),
            (None, Some(user)) => authority.member(user).await?,
            (None, None) => Some(authority.guest().await?),
        })
    }

    /// The same caller, who keeps the standing of now whatever changes: one whose request is under way.
    pub async fn hold(&self) -> Verdict<Self> {
        let held = Some(self.caller().await?.standing().clone());
        Ok(Self {
            held,
            ..self.clone()
        })
    }

    /// The caller of a read.
    pub(crate) async fn caller(&self) -> Verdict<Caller> {
        let standing = self.standing().await?;
        let standing = standing.ok_or_else(|| {
            Stop::broken(&self.name, "the authority gives no standing", "a standing")
        })?;
        Ok(match &self.user {
            Some(user) => Caller::Member(Member::new(user.clone(), standing)),
            None => Caller::Guest(standing),
        })
    }

    /// The caller of a write.
    pub(crate) async fn member(&self) -> Verdict<Member> {
        match self.caller().await? {
            Caller::Member(member) => Ok(member),
            Caller::Guest(_) => Err(Stop::broken(
                &self.name,
                "is to write",
                "a member who writes",
            )),
        }
    }
}

impl fmt::Debug for Someone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
