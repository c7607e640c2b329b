//! One request of an administrator, as the pages see it.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;

use http::StatusCode;
use maud::{Markup, html};

use super::answer::{Answer, Outcome};
use super::fields::Wrong;
use super::form::Form;
use super::problem::Problem;
use super::service::Core;
use super::table::Row;
use super::{csrf, layout, spent, when};
use crate::host::Session;
use crate::model::{EndpointId, Timestamp, UserId};
use crate::store::{Begin, Webhooks};

/// What a page is made from, and what a form is carried out with.
pub(super) struct Visit {
    pub(super) core: Arc<Core>,
    pub(super) row: &'static Row,
    pub(super) session: Session,
    /// What stands for `{id}` in the path.
    pub(super) id: String,
    pub(super) query: Form,
    pub(super) now: Timestamp,
}

impl Visit {
    /// A path below the mount, as links and forms name it.
    pub(super) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.core.settings.mount)
    }

    pub(super) fn page(&self, title: &str, main: Markup) -> Outcome {
        Ok(self.answer(StatusCode::OK, title, main))
    }

    pub(super) fn answer(&self, status: StatusCode, title: &str, main: Markup) -> Answer {
        Answer::page(status, layout::whole(self, title, main))
    }

    /// To another page, which says by its address what was done.
    pub(super) fn done(&self, path: &str, notice: &str) -> Outcome {
        let path = self.at(path);
        Ok(Answer::see_other(format!("{path}?done={notice}")))
    }

    /// Something is not as the page that was sent thought it is.
    pub(super) fn conflict(&self, reason: &str, back: &str) -> Outcome {
        let main = html! {
            p { (reason) }
            p { a href=(self.at(back)) { "Back" } }
        };
        Ok(self.answer(StatusCode::CONFLICT, "Nothing was changed", main))
    }

    /// What makes a form one of this session's.
    pub(super) fn csrf(&self) -> Markup {
        html! { input type="hidden" name=(csrf::FIELD) value=(csrf::token(&self.session)); }
    }

    /// What makes a form one that is carried out once.
    pub(super) fn once(&self) -> Result<Markup, Problem> {
        let number = spent::number(&*self.core.environment.random).map_err(Problem::internal)?;
        Ok(html! { input type="hidden" name=(spent::FIELD) value=(number); })
    }

    /// Carries out `work` unless this form has succeeded before or is running. Then the response is 409: `reason` with a
    /// link `back`.
    ///
    /// A refused or failed form can be sent again. A form without a nonce is carried out each time.
    pub(super) async fn run_once(
        &self,
        form: &Form,
        reason: &str,
        back: &str,
        work: impl Future<Output = Outcome>,
    ) -> Outcome {
        let nonce = form.get(spent::FIELD);
        if nonce.is_empty() {
            return work.await;
        }
        let ticket = match self.core.spent.begin(nonce, self.now).await? {
            Begin::First(ticket) => ticket,
            Begin::Repeat(_) | Begin::OtherRequest => return self.conflict(reason, back),
            Begin::Running => {
                let reason = "This form was sent twice. The first request is still running.";
                return self.conflict(reason, back);
            }
            Begin::Unknown => {
                let reason = "This form was sent before and its outcome is unknown. Check the list \
                              before you send a new form.";
                return self.conflict(reason, back);
            }
        };
        let outcome = work.await;
        let succeeded = outcome
            .as_ref()
            .is_ok_and(|answer| answer.status.is_success());
        if let Err(error) = self.core.spent.settle(&ticket, succeeded).await {
            tracing::error!(%error, succeeded, "form nonce not settled");
        }
        outcome
    }

    /// A form of a single button. Who has the page read aloud hears what it is `about` as well.
    pub(super) fn button(&self, path: &str, text: &str, about: &str, class: &str) -> Markup {
        html! {
            form method="post" action=(self.at(path)) {
                (self.csrf())
                button type="submit" class=(class) { (text) span class="aloud" { " " (about) } }
            }
        }
    }

    /// A time in words, and exactly.
    pub(super) fn time(&self, at: Timestamp) -> Markup {
        html! {
            time datetime=(at) { (when::words(at, self.now)) " " small { (when::exact(at)) } }
        }
    }

    /// The same, or a word where there is none.
    pub(super) fn time_or(&self, at: Option<Timestamp>, none: &str) -> Markup {
        at.map_or_else(|| html! { (none) }, |at| self.time(at))
    }

    pub(super) fn webhooks(&self) -> &Webhooks {
        self.core.registry.webhooks()
    }

    /// The member of this name, who is to own something; notes it when there is none.
    pub(super) async fn owner(
        &self,
        name: &str,
        wrong: &mut Wrong,
    ) -> Result<Option<UserId>, Problem> {
        let found = self.core.operator.find(name).await?;
        if found.is_none() {
            wrong.note("owner", "There is no member of this name.");
        }
        Ok(found)
    }

    /// The names of these members; of one whose account is gone, that it is.
    pub(super) async fn names<'a>(
        &self,
        members: impl Iterator<Item = &'a UserId>,
    ) -> Result<HashMap<&'a UserId, String>, Problem> {
        let members: BTreeSet<_> = members.collect();
        let asked: Vec<_> = members.iter().copied().cloned().collect();
        let mut found = self.core.operator.names(&asked).await?;
        let named = members.into_iter().map(|member| {
            let name = found.remove(member);
            (member, name.unwrap_or_else(|| "(gone)".into()))
        });
        Ok(named.collect())
    }

    /// The endpoint that the path names.
    pub(super) fn endpoint(&self) -> Result<EndpointId, Problem> {
        EndpointId::new(&self.id).ok_or(Problem::Absent)
    }
}
