//! What is done to an endpoint: by the same registry as from a command line.

use http::StatusCode;
use maud::html;

use super::{show, topics};
use crate::model::EndpointId;
use crate::panel::answer::{Answer, Outcome};
use crate::panel::fields::Wrong;
use crate::panel::form::Form;
use crate::panel::parts::revealed;
use crate::panel::visit::Visit;
use crate::webhook::Endpoint;
use crate::webhook_admin::Declined;

/// `POST /webhooks/{id}/topics`
pub(in crate::panel) async fn subscribe(visit: &Visit, form: &Form) -> Outcome {
    let mut wrong = Wrong::default();
    let Some(topics) = topics::chosen(form, &mut wrong) else {
        return show::page(visit, StatusCode::UNPROCESSABLE_ENTITY, &wrong).await;
    };
    match visit
        .core
        .registry
        .subscribe(&visit.endpoint()?, topics)
        .await
    {
        Err(Declined::Topic(unknown)) => {
            wrong.note("topics", unknown);
            show::page(visit, StatusCode::UNPROCESSABLE_ENTITY, &wrong).await
        }
        changed => done(visit, changed, "subscribed"),
    }
}

/// `POST /webhooks/{id}/rotate`
pub(in crate::panel) async fn rotate(visit: &Visit, form: &Form) -> Outcome {
    let id = visit.endpoint()?;
    let back = format!("/webhooks/{id}");
    let reason = "This form was sent before: its secret was made then and shown once. Make another if it is lost.";
    let work = new_secret(visit, &id, &back);
    visit.run_once(form, reason, &back, work).await
}

async fn new_secret(visit: &Visit, id: &EndpointId, back: &str) -> Outcome {
    let rotated = visit.core.registry.rotate(id).await?;
    tracing::info!(endpoint = %id, by = %visit.session.member, "an endpoint has a new secret");
    let main = html! {
        p.notice role="status" { "The new secret is pending. Copy it now: it is shown this once." }
        (revealed("secret", "New secret", rotated.secret.reveal()))
        p {
            "Give it to the receiver, then activate it: until then, or for 24 hours, deliveries are signed with the \
             old one."
        }
        p { a.button href=(visit.at(back)) { "I have copied it" } }
    };
    visit.page("The endpoint's new secret", main)
}

/// `POST /webhooks/{id}/activate`
pub(in crate::panel) async fn activate(visit: &Visit) -> Outcome {
    let activated = visit.core.registry.activate(&visit.endpoint()?).await;
    done(visit, activated, "activated")
}

/// `POST /webhooks/{id}/enable` and `POST /webhooks/{id}/disable`
pub(in crate::panel) async fn enable(visit: &Visit, enabled: bool) -> Outcome {
    let changed = visit
        .core
        .registry
        .enable(&visit.endpoint()?, enabled)
        .await;
    done(visit, changed, if enabled { "enabled" } else { "disabled" })
}

/// `POST /webhooks/{id}/ping`
pub(in crate::panel) async fn ping(visit: &Visit) -> Outcome {
    match visit.core.registry.ping(&visit.endpoint()?).await {
        Ok(delivery) => visit.done(&format!("/deliveries/{delivery}"), "pinged"),
        Err(declined) => declined_here(visit, declined),
    }
}

/// `POST /webhooks/{id}/remove`
pub(in crate::panel) async fn remove(visit: &Visit) -> Outcome {
    let id = visit.endpoint()?;
    visit.core.registry.remove(&id).await?;
    tracing::info!(endpoint = %id, by = %visit.session.member, "an endpoint was removed");
    visit.done("/webhooks", "endpoint-removed")
}

/// `POST /webhooks/{id}/retry-dead`
pub(in crate::panel) async fn retry_dead(visit: &Visit) -> Outcome {
    let id = visit.endpoint()?;
    visit.core.registry.retry_dead(&id).await?;
    let path = format!("{}?endpoint={id}&done=all-retried", visit.at("/deliveries"));
    Ok(Answer::see_other(path))
}

/// Back to the endpoint, whatever came of it.
fn done(visit: &Visit, changed: Result<Endpoint, Declined>, notice: &str) -> Outcome {
    match changed {
        Ok(endpoint) => visit.done(&format!("/webhooks/{}", endpoint.id), notice),
        Err(declined) => declined_here(visit, declined),
    }
}

/// What another changed meanwhile is no failure.
fn declined_here(visit: &Visit, declined: Declined) -> Outcome {
    match declined {
        Declined::NothingPending | Declined::Disabled => {
            let reason = format!("This was not done: {declined}.");
            visit.conflict(&reason, &format!("/webhooks/{}", visit.id))
        }
        other => Err(other.into()),
    }
}
