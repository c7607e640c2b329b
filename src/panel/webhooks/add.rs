//! Adding an endpoint.

use http::StatusCode;
use maud::html;

use super::{list, topics};
use crate::model::UserId;
use crate::panel::answer::Outcome;
use crate::panel::fields::Wrong;
use crate::panel::form::Form;
use crate::panel::parts::revealed;
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::webhook::Secret;
use crate::webhook_admin::{Declined, Registration, Revealed};

/// `POST /webhooks`
pub(in crate::panel) async fn add(visit: &Visit, form: &Form) -> Outcome {
    let reason =
        "This form was sent before: its endpoint was added then, and its secret shown once.";
    let work = attempt(visit, form);
    visit.run_once(form, reason, "/webhooks", work).await
}

async fn attempt(visit: &Visit, form: &Form) -> Outcome {
    let mut wrong = Wrong::default();
    let topics = topics::chosen(form, &mut wrong);
    let owner = owner(visit, form, &mut wrong).await?;
    let secret = secret(form, &mut wrong);
    let (Some(topics), Some(owner)) = (topics, owner) else {
        return refused(visit, form, &wrong).await;
    };
    if !wrong.is_empty() {
        return refused(visit, form, &wrong).await;
    }
    let new = Registration {
        url: form.get("url").trim().into(),
        topics,
        owner,
        secret,
    };
    match visit.core.registry.register(new).await {
        Ok(added) => reveal(visit, &added),
        Err(declined) => {
            note(&mut wrong, declined)?;
            refused(visit, form, &wrong).await
        }
    }
}

/// The member that is named, or else who is signed in.
async fn owner(visit: &Visit, form: &Form, wrong: &mut Wrong) -> Result<Option<UserId>, Problem> {
    let name = form.get("owner").trim();
    if name.is_empty() {
        return Ok(Some(visit.session.member.clone()));
    }
    visit.owner(name, wrong).await
}

/// The secret that was brought, if any was.
fn secret(form: &Form, wrong: &mut Wrong) -> Option<Secret> {
    let brought = Some(form.get("secret")).filter(|text| !text.is_empty())?;
    let secret = Secret::new(brought);
    secret.map_err(|short| wrong.note("secret", short)).ok()
}

/// Notes why it was declined beside its field, unless it is nobody's fault here.
fn note(wrong: &mut Wrong, declined: Declined) -> Result<(), Problem> {
    match declined {
        Declined::Address(refused) => wrong.note("url", refused),
        Declined::Topic(unknown) => wrong.note("topics", unknown),
        other => return Err(other.into()),
    }
    Ok(())
}

async fn refused(visit: &Visit, form: &Form, wrong: &Wrong) -> Outcome {
    let main = html! {
        p.alert role="alert" { "No endpoint was added. What is wrong stands beside each field." }
        (list::page(visit, form, wrong).await?)
    };
    Ok(visit.answer(StatusCode::UNPROCESSABLE_ENTITY, list::TITLE, main))
}

fn reveal(visit: &Visit, added: &Revealed) -> Outcome {
    tracing::info!(endpoint = %added.endpoint.id, by = %visit.session.member, "an endpoint was added");
    let path = format!("/webhooks/{}", added.endpoint.id);
    let main = html! {
        p.notice role="status" { "The endpoint was added. Copy its secret now: it is shown this once." }
        (revealed("secret", "Secret", added.secret.reveal()))
        p { "Give it to the receiver, which checks with it that a delivery comes from this board." }
        p { a.button href=(visit.at(&path)) { "I have copied it" } }
    };
    visit.page("Your new endpoint", main)
}
