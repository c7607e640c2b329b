//! ForumPermissions of members and guests, loaded on each request.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::host::{Authority, Fault, Forums, Standing, Stored};
use forum_api::model::{ForumId, UserId};

use super::actor::Actor;
use super::groups::Group;
use super::{Board, accounts, hints};

#[async_trait]
impl Authority for Board {
    async fn guest(&self) -> Stored<Standing> {
        let guest = self.load(None).await?;
        Ok(guest.map_or_else(|| Standing::new(Forums::none()), standing))
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        let actor = self.owner(owner).await?;
        actor.iter().for_each(|actor| self.record_last_seen(actor));
        Ok(actor.map(standing))
    }
}

/// Authorizes members who make no request, such as owners of webhooks, and does not record them as seen.
#[derive(Clone, Debug)]
pub struct OfflineMembers(pub Board);

#[async_trait]
impl Authority for OfflineMembers {
    async fn guest(&self) -> Stored<Standing> {
        self.0.guest().await
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        Ok(self.0.owner(owner).await?.map(standing))
    }
}

impl Board {
    async fn owner(&self, owner: &UserId) -> Stored<Option<Actor>> {
        match owner.number() {
            Ok(member) => self.load(Some(member)).await,
            Err(_) => Ok(None),
        }
    }

    async fn load(&self, member: Option<i64>) -> Stored<Option<Actor>> {
        let load = self.read_short(move |connection| {
            Box::pin(async move { Ok(Actor::load(connection, member).await?) })
        });
        load.await.map_err(Fault::new)
    }

    fn record_last_seen(&self, actor: &Actor) {
        let now = self.clock.now();
        let is_news = |last| hints::is_due(last, now, accounts::LAST_SEEN_RESOLUTION);
        if let Some(member) = actor.member
            && actor.last_seen.is_none_or(is_news)
        {
            self.hints.seen(member, now);
        }
    }
}

/// The access that the library needs, with the actor for the board's own commands.
fn standing(actor: Actor) -> Standing {
    let forums = Forums::of(actor.sees().map(ForumId::from));
    let locked_out = actor.offline && !actor.groups.contains(Group::Administrators);
    Standing::new(forums)
        .locked_out(locked_out)
        .with(Arc::new(actor))
}
