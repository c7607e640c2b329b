//! What the control panel asks of the sessions.

use std::collections::HashMap;

use forum_api::async_trait;
use forum_api::host::{Operator, Session, Stored};
use forum_api::model::UserId;
use http::request::Parts;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{SIGN_IN, SIGN_OUT, SignIn, members, sessions};
use crate::board::groups::Group;

#[async_trait]
impl Operator for SignIn {
    async fn signed_in(&self, head: &Parts) -> Stored<Option<Session>> {
        let desk = &self.0;
        let Some(id) = desk.cookie.read(&head.headers) else {
            return Ok(None);
        };
        let Some(account) = sessions::holder(&desk.board, &id).await? else {
            return Ok(None);
        };
        let administrator = account.groups.contains(Group::Administrators);
        let member = UserId::from(account.member);
        let session = Session::new(member, account.name, administrator, id.as_str());
        Ok(Some(session))
    }

    async fn is_password(&self, session: &Session, password: &str) -> Stored<bool> {
        let Ok(member) = session.member().number() else {
            return Ok(false);
        };
        let account = members::account(&self.0.board, member).await?;
        let _permit = self.0.panel_checks.acquire().await;
        Ok(members::with_password(account, password).await?.is_some())
    }

    async fn find(&self, username: &str) -> Stored<Option<UserId>> {
        let found = members::id(&self.0.board, username).await?;
        Ok(found.map(UserId::from))
    }

    async fn name(&self, member: &UserId) -> Stored<Option<String>> {
        Ok(members::name(&self.0.board, member).await?)
    }

    async fn names(&self, members: &[UserId]) -> Stored<HashMap<UserId, String>> {
        Ok(members::names(&self.0.board, members).await?)
    }

    fn sign_in(&self, back: &str) -> String {
        let back = utf8_percent_encode(back, NON_ALPHANUMERIC);
        format!("{SIGN_IN}?back={back}")
    }

    fn sign_out(&self) -> Option<&str> {
        Some(SIGN_OUT)
    }
}
