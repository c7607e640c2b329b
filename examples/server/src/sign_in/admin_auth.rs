//! Sessions and members for the control panel.

use std::collections::HashMap;

use forum_api::async_trait;
use forum_api::host::{AdminAuth, BackendResult, Session};
use forum_api::model::{UserId, UserRef};
use http::request::Parts;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::accounts;
use super::form::{SESSION_ENDED, SIGN_IN};
use super::service::{SIGN_OUT, SignIn};
use crate::board::access::groups::Group;

#[async_trait]
impl AdminAuth for SignIn {
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>> {
        for id in self.sessions(head) {
            let Some(account) = self.board().signed_in(id.hash()).await? else {
                continue;
            };
            let administrator = account.groups.contains(Group::Administrators);
            let member = UserId::from(account.member);
            return Ok(Some(Session::new(member, account.name, administrator, id.as_str())));
        }
        Ok(None)
    }

    async fn verify_password(&self, session: &Session, password: &str) -> BackendResult<bool> {
        let member = UserRef::Id(session.user_id().clone());
        let account = accounts::account(self.board(), member).await?;
        let _permit = self.panel_check().await;
        Ok(accounts::with_password(account, password).await?.is_some())
    }

    async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>> {
        Ok(accounts::id(self.board(), username).await?.map(UserId::from))
    }

    async fn username(&self, member: &UserId) -> BackendResult<Option<String>> {
        let mut names = self.usernames(std::slice::from_ref(member)).await?;
        Ok(names.remove(member))
    }

    async fn usernames(&self, members: &[UserId]) -> BackendResult<HashMap<UserId, String>> {
        Ok(accounts::names(self.board(), members.to_vec()).await?)
    }

    async fn suggested_usernames(&self, limit: u32) -> BackendResult<Vec<String>> {
        Ok(accounts::last_active(self.board(), limit).await?)
    }

    fn sign_in_url(&self, back: &str) -> String {
        let back = utf8_percent_encode(back, NON_ALPHANUMERIC);
        format!("{SIGN_IN}?back={back}")
    }

    fn session_ended_url(&self, back: &str) -> String {
        format!("{}&{SESSION_ENDED}=1", self.sign_in_url(back))
    }

    fn sign_out_path(&self) -> Option<&str> {
        Some(SIGN_OUT)
    }
}
