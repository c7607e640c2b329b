//! Who may be told of what: a webhook is a restriction, and never a grant.

use std::collections::HashMap;

use super::crew::Crew;
use crate::host::{Standing, Stored};
use crate::model::UserId;
use crate::store::FanOut;
use crate::webhook::{Endpoint, Event};

/// Whether one may be told of an event whose standing is this.
///
/// That the board is offline makes no difference: it passes, and what is withheld is withheld for good.
pub(super) fn may_be_told(standing: &Standing, event: &Event) -> bool {
    let forums = standing.forums();
    event
        .forum
        .as_ref()
        .is_none_or(|forum| forums.contains(forum))
}

/// The endpoints that there are, and what their owners may see.
pub(super) struct Audience {
    endpoints: Vec<Endpoint>,
    standings: HashMap<UserId, Option<Standing>>,
}

impl Audience {
    /// The audience of these events. Each owner is asked for once.
    pub(super) async fn of(crew: &Crew, events: &[Event]) -> Stored<Self> {
        let mut endpoints = crew.stores.endpoints.all().await?;
        let is_told = |endpoint: &Endpoint| events.iter().any(|event| listens(endpoint, event));
        endpoints.retain(is_told);
        let mut standings = HashMap::new();
        for owner in endpoints.iter().map(|endpoint| &endpoint.owner) {
            if !standings.contains_key(owner) {
                let standing = crew.step(async { crew.authority.member(owner).await });
                standings.insert(owner.clone(), standing.await?);
            }
        }
        Ok(Self {
            endpoints,
            standings,
        })
    }

    /// To whom an event goes.
    pub(super) fn told(&self, event: &Event) -> FanOut {
        let told = self.endpoints.iter().filter(|endpoint| {
            let standing = self.standings.get(&endpoint.owner).and_then(Option::as_ref);
            listens(endpoint, event) && standing.is_some_and(|owner| may_be_told(owner, event))
        });
        FanOut {
            event: event.id.clone(),
            endpoints: told.map(|endpoint| endpoint.id.clone()).collect(),
        }
    }
}

fn listens(endpoint: &Endpoint, event: &Event) -> bool {
    endpoint.enabled && endpoint.topics.contains(&event.topic)
}
