//! Whether owners may still be told: asked once an owner for all that was claimed at once, before any of it is attempted.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument as _;

use super::attempt;
use super::context::Crew;
use super::dispatch::Batchers;
use super::endpoint_filter::may_be_told;
use super::slots::Slot;
use crate::host::{Fault, Standing, Stored};
use crate::model::UserId;
use crate::store::Claimed;

/// What was claimed, and its place.
type Taken = (Slot, Claimed);

/// Asks for each owner on a task of its own, so that none waits for another, and attempts what they may be told.
pub(super) fn ask(
    crew: &Arc<Crew>,
    alive: &watch::Sender<()>,
    batchers: &Batchers,
    taken: Vec<Taken>,
) {
    for (owner, taken) in by_owner(taken) {
        let (own, others, batchers) = (Arc::clone(crew), alive.clone(), batchers.clone());
        crew.detach(alive, async move {
            let standing = own.step(own.authority.member(&owner)).await;
            for one in taken {
                begin(&own, &others, &batchers, one, &standing);
            }
        });
    }
}

fn by_owner(taken: Vec<Taken>) -> HashMap<UserId, Vec<Taken>> {
    let mut by_owner = HashMap::<_, Vec<_>>::new();
    for one in taken {
        let of = by_owner.entry(one.1.endpoint.owner.clone());
        of.or_default().push(one);
    }
    by_owner
}

/// Attempts it, each on a task of its own.
fn begin(
    crew: &Arc<Crew>,
    alive: &watch::Sender<()>,
    batchers: &Batchers,
    (slot, claimed): Taken,
    standing: &Stored<Option<Standing>>,
) {
    let (own, batchers) = (Arc::clone(crew), batchers.clone());
    let owner = &claimed.endpoint.owner;
    let may = |standing: &Standing| may_be_told(owner, standing, &claimed.event);
    let may_be_told = match standing {
        Ok(standing) => Ok(standing.as_ref().is_some_and(may)),
        Err(fault) => Err(Fault::new(fault.to_string())),
    };
    let span = attempt::span(&claimed);
    let work = async move {
        attempt::run(&own, &batchers, &claimed, may_be_told).await;
        drop(slot);
    };
    crew.detach(alive, work.instrument(span));
}
