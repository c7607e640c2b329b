//! Issuing a token (spec, Authentication 6 and 7; contract, section 10).

use std::time::Duration;

use http::StatusCode;
use maud::html;

use super::wanted;
use crate::panel::answer::{Answer, Outcome};
use crate::panel::fields::Wrong;
use crate::panel::form::Form;
use crate::panel::parts::revealed;
use crate::panel::problem::Problem;
use crate::panel::visit::Visit;
use crate::rate_limit::BudgetKey;
use crate::token::{self, Expiry, Issue, IssueError, PlainToken, TokenRecord};

const TITLE: &str = "Issue a token";

const REPEATED: &str = "This form was sent before: its token was issued then and shown once. If it is lost, revoke it \
                        and issue another.";

/// `GET /tokens/new`
pub(in crate::panel) async fn ask(visit: &Visit) -> Outcome {
    let form = wanted::form(visit, &Form::default(), &Wrong::default())?;
    visit.page(TITLE, form)
}

/// `POST /tokens/new`
pub(in crate::panel) async fn issue(visit: &Visit, form: &Form) -> Outcome {
    let work = attempt(visit, form);
    visit.run_once(form, REPEATED, "/tokens", work).await
}

async fn attempt(visit: &Visit, form: &Form) -> Outcome {
    let lock = &visit.core.lock;
    let slot = match lock.begin(&visit.session.member, visit.now).await? {
        Ok(slot) => slot,
        Err(wait) => return locked(visit, form, wait),
    };
    let mut wrong = Wrong::default();
    check_password(visit, form, &slot, &mut wrong).await?;
    let owner = visit.owner(form.get("owner").trim(), &mut wrong).await?;
    let scopes: Vec<String> = form.all("scopes").map(Into::into).collect();
    if scopes.is_empty() {
        note(&mut wrong, IssueError::NoScope)?;
    }
    // Of several none is preferred: together they are no number.
    let expires_in_days = form.all("expires_in_days").collect::<Vec<_>>().join(",");
    if let Err(bad) = Expiry::parse(&expires_in_days) {
        note(&mut wrong, IssueError::Expiry(bad))?;
    }
    let label = form.get("label");
    if let Err(invalid) = token::check_label(label) {
        note(&mut wrong, invalid)?;
    }
    let Some(owner) = owner.filter(|_| wrong.is_empty()) else {
        return refused(visit, form, &wrong);
    };
    let wanted = Issue {
        owner: &owner,
        label,
        scopes: &scopes,
        expires_in_days: &expires_in_days,
    };
    let core = &visit.core;
    let surface = core.environment.surface;
    match token::issue(
        &*core.tokens,
        &*core.environment.random,
        surface,
        wanted,
        visit.now,
    )
    .await
    {
        Ok((token, record)) => issued(visit, &token, &record),
        Err(error) => {
            note(&mut wrong, error)?;
            refused(visit, form, &wrong)
        }
    }
}

/// Checks the password and frees the attempt's slot unless the password is wrong.
async fn check_password(
    visit: &Visit,
    form: &Form,
    slot: &BudgetKey,
    wrong: &mut Wrong,
) -> Result<(), Problem> {
    let (core, session) = (&visit.core, &visit.session);
    let is_right = core
        .operator
        .is_password(session, form.get("password"))
        .await;
    if let Ok(false) = is_right {
        tracing::warn!(member = %session.member, "a wrong password was typed to issue a token");
        wrong.note("password", "This is not your password.");
    } else if let Err(error) = core.lock.release(slot, visit.now).await {
        tracing::error!(%error, "password attempt not refunded");
    }
    is_right.map(drop).map_err(Into::into)
}

/// Notes an error beside its field, unless it is nobody's fault here.
fn note(wrong: &mut Wrong, error: IssueError) -> Result<(), Problem> {
    match error {
        IssueError::Failed(fault) => return Err(fault.into()),
        IssueError::Expiry(bad) => wrong.note("expires_in_days", bad),
        IssueError::InvalidLabel => wrong.note("label", error),
        scope => wrong.note("scopes", scope),
    }
    Ok(())
}

fn refused(visit: &Visit, form: &Form, wrong: &Wrong) -> Outcome {
    let main = html! {
        p.alert role="alert" { "No token was issued. What is wrong stands beside each field." }
        (wanted::form(visit, form, wrong)?)
    };
    Ok(visit.answer(StatusCode::UNPROCESSABLE_ENTITY, TITLE, main))
}

fn locked(visit: &Visit, form: &Form, wait: Duration) -> Outcome {
    let minutes = wait.as_secs().div_ceil(60).max(1);
    let plural = if minutes == 1 { "" } else { "s" };
    let main = html! {
        p.alert role="alert" {
            "No token was issued: there were too many wrong passwords. Try again in "
            (minutes) " minute" (plural) "."
        }
        (wanted::form(visit, form, &Wrong::default())?)
    };
    let answer: Answer = visit.answer(StatusCode::TOO_MANY_REQUESTS, TITLE, main);
    Ok(answer.retry_after(wait))
}

fn issued(visit: &Visit, token: &PlainToken, record: &TokenRecord) -> Outcome {
    tracing::info!(lookup = %record.lookup, by = %visit.session.member, "a token was issued");
    let main = html! {
        p.notice role="status" { "The token was issued. Copy it now: it is shown this once." }
        (revealed("token", "Token", token.reveal()))
        p { "Programs send it as " code { "Authorization: Bearer …" } " with each request." }
        p { a.button href=(visit.at("/tokens")) { "I have copied it" } }
    };
    visit.page("Your new token", main)
}
