//! A host's first hour: the toy board of `examples/minimal.rs`, held against the rules of the part that it has.

use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::conformance::{Audience, Host, NewForum, Part, Role, Set, Stage, run_all};
use forum_api::host::{Authority, Board, Caller, Result, Standing, Stored};
use forum_api::model::{Forum, ForumId, UserId};
use forum_api::runtime::ManualClock;

use crate::minimal::Toy;

/// All but forums, members and guests.
const LACKS: &[Part] = {
    use Part::*;
    &[
        Account,
        Approval,
        Bans,
        Deletion,
        Editing,
        HiddenForums,
        Ignoring,
        Messages,
        Moderators,
        Offline,
        Polls,
        Posts,
        Profiles,
        ReadOnlyForums,
        Removal,
        Replies,
        Reputation,
        Search,
        StartingThreads,
        SubForums,
        Subscriptions,
        Threads,
    ]
};

/// The rules of what is left.
const KEPT: [&str; 3] = [
    "access::nobody_has_no_standing",
    "forums::a_forum_tells_its_title",
    "forums::an_empty_forum_counts_nothing",
];

/// A kind of board that names these as lacked.
struct Named(&'static [Part]);

/// The toy, which can grow.
#[derive(Clone, Default)]
struct Growing(Arc<Mutex<Toy>>);

impl Growing {
    fn toy(&self) -> Toy {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Host for Named {
    async fn empty(&self, _: Arc<ManualClock>) -> Set<Box<dyn Stage>> {
        Ok(Box::new(Growing::default()))
    }

    fn lacks(&self) -> &[Part] {
        self.0
    }
}

#[async_trait]
impl Stage for Growing {
    fn board(&self) -> (Arc<dyn Authority>, Arc<dyn Board>) {
        (Arc::new(self.clone()), Arc::new(self.clone()))
    }

    async fn add_member(&self, _: &str, _: Role) -> Set<UserId> {
        let mut toy = self.0.lock().unwrap();
        toy.members += 1;
        Ok(toy.members.into())
    }

    async fn add_forum(&self, new: &NewForum) -> Set<ForumId> {
        let forums = &mut self.0.lock().unwrap().forums;
        forums.push((new.title.clone(), new.readers == Audience::Guests));
        Ok(ForumId::from(forums.len() as i64))
    }
}

#[async_trait]
impl Authority for Growing {
    async fn guest(&self) -> Stored<Standing> {
        self.toy().guest().await
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        self.toy().member(owner).await
    }
}

#[async_trait]
impl Board for Growing {
    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        self.toy().forums(caller).await
    }
}

#[tokio::test]
async fn it_keeps_the_rules_of_what_it_has() {
    let report = run_all(&Named(LACKS)).await;
    println!("{report}");
    assert_eq!(report.failed().count(), 0);
    assert_eq!(report.passed().collect::<Vec<_>>(), KEPT);
}

/// Nothing is passed over that was not named.
#[tokio::test]
async fn it_breaks_the_rules_of_what_it_does_not_name() {
    let report = run_all(&Named(&[])).await;
    assert_eq!(report.skipped().count(), 0);
    assert_eq!(report.passed().collect::<Vec<_>>(), KEPT);
}
