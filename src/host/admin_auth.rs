//! Sessions, names and passwords of administrators for the control panel (`docs/protocol.md`, section 15.2).

use std::collections::HashMap;
use std::fmt;

use async_trait::async_trait;
use http::request::Parts;
use zeroize::Zeroizing;

use super::BackendResult;
use crate::model::UserId;

/// The host's sign-in, as the control panel asks for it. No hash of a password passes through here.
///
/// Nothing of the answers is kept: who is no administrator any more is out with the next request.
#[async_trait]
pub trait AdminAuth: Send + Sync + 'static {
    /// Who is signed in, by the head of a request (its cookie, as a rule); `None` for nobody.
    ///
    /// # Errors
    /// When the host's backend fails.
    async fn session(&self, head: &Parts) -> BackendResult<Option<Session>>;

    /// Whether this is the password of the one who is signed in. The panel counts the wrong ones itself.
    ///
    /// # Errors
    /// When the host's backend fails.
    async fn verify_password(&self, session: &Session, password: &str) -> BackendResult<bool>;

    /// The member of this name.
    ///
    /// # Errors
    /// When the host's backend fails.
    async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>>;

    /// The name of this member; `None` when the account is gone.
    ///
    /// # Errors
    /// When the host's backend fails.
    async fn username(&self, member: &UserId) -> BackendResult<Option<String>>;

    /// Returns the names of these members. Members whose account is gone are absent from the result.
    ///
    /// The panel calls it once for each list. Default: one call of [`name`](Self::name) for each member.
    ///
    /// # Errors
    /// When the host's backend fails.
    async fn names(&self, members: &[UserId]) -> BackendResult<HashMap<UserId, String>> {
        let mut names = HashMap::new();
        for member in members {
            let name = self.username(member).await?;
            names.extend(name.map(|name| (member.clone(), name)));
        }
        Ok(names)
    }

    /// Where one signs in, as an absolute path, to come back to the path `back` afterwards.
    fn sign_in_url(&self, back: &str) -> String;

    /// Where a `POST` of the signed-in browser signs out, as an absolute path. Default: nowhere, so that no page of
    /// the panel offers it.
    fn sign_out_path(&self) -> Option<&str> {
        None
    }
}

/// One who is signed in.
#[derive(Clone)]
pub struct Session {
    pub(crate) user_id: UserId,
    pub(crate) username: String,
    pub(crate) is_admin: bool,
    pub(crate) secret: Zeroizing<Vec<u8>>,
}

impl Session {
    /// The session of the member with this id and name. To one who is no `administrator` the panel does not exist.
    ///
    /// `secret` is what only this session knows, the same on every node, such as the random value of its cookie. What
    /// the panel's forms carry against forgery follows from it; it appears nowhere itself.
    pub fn new(
        member: UserId,
        name: impl Into<String>,
        administrator: bool,
        secret: impl Into<Vec<u8>>,
    ) -> Self {
        Self {
            user_id: member,
            username: name.into(),
            is_admin: administrator,
            secret: Zeroizing::new(secret.into()),
        }
    }

    /// The member.
    pub fn user_id(&self) -> &UserId {
        &self.user_id
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("member", &self.user_id)
            .field("administrator", &self.is_admin)
            .finish_non_exhaustive()
    }
}
