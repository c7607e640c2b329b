//! Sign-in of administrators for the control panel.

use std::collections::HashMap;

use async_trait::async_trait;
use http::request::Parts;
use zeroize::Zeroizing;

use super::BackendResult;
use crate::model::UserId;

/// Authentication of administrators for the control panel, implemented by the host.
///
/// The panel does not cache the results: an administrator who loses the role is rejected from the next request on. The
/// library never receives password hashes.
#[async_trait]
pub trait AdminAuth: Send + Sync + 'static {
    /// Returns the session of a request; `None` if the browser is not signed in. A host usually finds the session by a
    /// cookie.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>>;

    /// Returns `true` if `password` is the password of the signed-in member. The panel limits the number of failed
    /// attempts.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn verify_password(&self, session: &Session, password: &str) -> BackendResult<bool>;

    /// Returns the id of the member with this name; `None` if the board has no such member.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>>;

    /// Returns the name of a member; `None` if the account was removed.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn username(&self, user_id: &UserId) -> BackendResult<Option<String>>;

    /// Returns the names of several members. Removed accounts are absent from the result.
    ///
    /// The panel calls this method once for each list that contains names. Default: one call of
    /// [`username`](Self::username) for each member.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn usernames(&self, user_ids: &[UserId]) -> BackendResult<HashMap<UserId, String>> {
        let mut names = HashMap::new();
        for user_id in user_ids {
            let name = self.username(user_id).await?;
            names.extend(name.map(|name| (user_id.clone(), name)));
        }
        Ok(names)
    }

    /// Returns at most `limit` usernames, which the forms of the panel suggest for the owner of a token or an endpoint, for
    /// example those of the members who were active last. Default: none.
    ///
    /// # Errors
    /// [`BackendError`](crate::host::BackendError) if the host's backend fails. The response is a 500, or a
    /// 503 if the source is an [`OverloadedError`](crate::host::OverloadedError).
    async fn suggested_usernames(&self, limit: u32) -> BackendResult<Vec<String>> {
        let _ = limit;
        Ok(Vec::new())
    }

    /// Returns the absolute path or the URL of the sign-in page, with a query that contains `return_to`. The panel redirects
    /// requests that have no session to this page. A page on another origin, such as that of a front end, also needs the
    /// origin of the panel in its query, and accepts only origins that it knows.
    ///
    /// `return_to` is the absolute path and the query of a page of the panel. After the sign-in, the sign-in page
    /// redirects to it. A client can change the query, so the sign-in page must not redirect to another host.
    fn sign_in_url(&self, return_to: &str) -> String;

    /// Returns [`sign_in_url`](Self::sign_in_url) for a browser whose session ended while it showed a form, so that the
    /// sign-in page can say so. The form was not executed. `return_to` is the page of the form. Default: `sign_in_url`.
    fn session_ended_url(&self, return_to: &str) -> String {
        self.sign_in_url(return_to)
    }

    /// Returns the absolute path of the sign-out endpoint, to which the panel's sign-out button sends a `POST`.
    /// Default: `None`; the panel then shows no sign-out button.
    fn sign_out_path(&self) -> Option<&str> {
        None
    }
}

impl_for_pointers!(AdminAuth {
    async fn session(head: &Parts) -> BackendResult<Option<Session>>;
    async fn verify_password(session: &Session, password: &str) -> BackendResult<bool>;
    async fn user_id_by_name(username: &str) -> BackendResult<Option<UserId>>;
    async fn username(user_id: &UserId) -> BackendResult<Option<String>>;
    async fn usernames(user_ids: &[UserId]) -> BackendResult<HashMap<UserId, String>>;
    async fn suggested_usernames(limit: u32) -> BackendResult<Vec<String>>;
    fn sign_in_url(return_to: &str) -> String;
    fn session_ended_url(return_to: &str) -> String;
    fn sign_out_path() -> Option<&str>;
});

/// Sign-in session of a member in a browser.
#[derive(Clone)]
pub struct Session {
    pub(crate) user_id: UserId,
    pub(crate) username: String,
    pub(crate) is_admin: bool,
    pub(crate) secret: Zeroizing<Vec<u8>>,
}

impl Session {
    /// Creates the session of a member. If `is_admin` is `false`, every page of the panel returns 404.
    ///
    /// `secret` is a value that no other member can know, and that is the same for all requests of the session and on all
    /// nodes, such as the random value of the session cookie. The panel derives the CSRF tokens of its forms from the
    /// secret. It does not send the secret to the browser. If the secret is empty, the panel rejects every form.
    ///
    /// A JWT that is renewed is not such a value: forms that were open before would be rejected. Use its claim for the
    /// session, such as `sid`, with a key of the server (an HMAC). Without such a claim, use an HMAC of the member's id and
    /// password hash.
    pub fn new(
        user_id: UserId,
        username: impl Into<String>,
        is_admin: bool,
        secret: impl Into<Vec<u8>>,
    ) -> Self {
        Self { user_id, username: username.into(), is_admin, secret: Zeroizing::new(secret.into()) }
    }

    /// Returns the member's id.
    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

debug_fields!(Session, |it| user_id: it.user_id, is_admin: it.is_admin);
