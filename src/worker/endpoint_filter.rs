//! Who may be told of what (contract, section 8): a webhook is a restriction, and never a grant.

use std::collections::{HashMap, HashSet};

use super::context::Crew;
use crate::host::{Standing, Stored};
use crate::model::UserId;
use crate::store::FanOut;
use crate::task::{catch_panic, timeout};
use crate::webhook::{Endpoint, Event};

/// Decides whether an endpoint of `owner` may receive the event: the owner sees the event's forum, if it has one, and is
/// a party of a private message.
///
/// An offline board does not change the result, because a withheld delivery is not sent later.
pub(super) fn may_be_told(owner: &UserId, standing: &Standing, event: &Event) -> bool {
    let forums = standing.forums();
    let forum = event.forum.as_ref();
    forum.is_none_or(|forum| forums.contains(forum)) && event.concerns(owner)
}

/// The endpoints that listen, and what their owners may see.
pub(super) struct Audience {
    endpoints: Vec<Endpoint>,
    /// Without those of whom the authority said nothing.
    standings: HashMap<UserId, Option<Standing>>,
}

impl Audience {
    /// The audience of these events.
    pub(super) async fn of(crew: &Crew, events: &[Event]) -> Stored<Self> {
        let mut endpoints = crew.stores.endpoints.all().await?;
        let is_told = |endpoint: &Endpoint| events.iter().any(|event| listens(endpoint, event));
        endpoints.retain(is_told);
        let owners = endpoints.iter().map(|endpoint| endpoint.owner.clone());
        Ok(Self {
            standings: standings(crew, owners.collect()).await,
            endpoints,
        })
    }

    /// To whom an event goes.
    pub(super) fn told(&self, event: &Event) -> FanOut {
        let told = self.endpoints.iter().filter(|endpoint| {
            listens(endpoint, event) && self.may_be_told(&endpoint.owner, event)
        });
        FanOut {
            event: event.id.clone(),
            endpoints: told.map(|endpoint| endpoint.id.clone()).collect(),
        }
    }

    /// Whether a delivery is queued. It is for an owner of whom nothing is known, so that nobody else waits for that
    /// one: before each attempt the authority is asked again, and until it answers nothing is sent.
    fn may_be_told(&self, owner: &UserId, event: &Event) -> bool {
        let standing = self.standings.get(owner);
        standing.is_none_or(|standing| {
            standing
                .as_ref()
                .is_some_and(|one| may_be_told(owner, one, event))
        })
    }
}

/// What these members may see. Each is asked for once, and all together take no more than a step.
async fn standings(crew: &Crew, owners: HashSet<UserId>) -> HashMap<UserId, Option<Standing>> {
    let mut standings = HashMap::new();
    let ask = async {
        for owner in owners {
            match catch_panic(async { crew.authority.member(&owner).await }).await {
                Ok(standing) => drop(standings.insert(owner, standing)),
                Err(fault) => tracing::error!(%fault, %owner, "what an owner may see is not known"),
            }
        }
    };
    if timeout(&*crew.environment.runtime, crew.settings.step, ask)
        .await
        .is_none()
    {
        tracing::error!("what all owners may see was not told in time");
    }
    standings
}

/// Returns whether the endpoint is enabled, subscribes to the topic, and was registered when the event occurred.
fn listens(endpoint: &Endpoint, event: &Event) -> bool {
    endpoint.enabled
        && endpoint.topics.contains(&event.topic)
        && endpoint.created_at <= event.occurred_at
}
