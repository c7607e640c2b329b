//! Sessions: kept in this process, under the hashes of their ids, until they were idle or there for too long.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::clock::{Entropy, NoEntropy, SystemEntropy};
use forum_api::model::Timestamp;
use sha2::{Digest, Sha256};

use super::members::Account;

/// A session that is not used for so long is over.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// A session is over after so long, however much it is used.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// The id of a session: 256 random bits that the browser alone keeps.
pub struct SessionId(String);

impl SessionId {
    const LENGTH: usize = 43;

    fn mint() -> Result<Self, NoEntropy> {
        let mut bits = [0; 32];
        SystemEntropy.fill(&mut bits)?;
        Ok(Self(BASE64_URL_SAFE_NO_PAD.encode(bits)))
    }

    /// What a browser sent, if it can be one.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == Self::LENGTH).then(|| Self(text.into()))
    }

    /// As it stands in the cookie.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn hash(&self) -> [u8; 32] {
        Sha256::digest(&self.0).into()
    }
}

/// Whose session it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The member.
    pub member: i64,
    /// Which password the member had: with another one, the session is over.
    pub password: [u8; 32],
}

impl Holder {
    /// The holder of an account as it is now.
    pub fn of(account: &Account) -> Self {
        Self {
            member: account.member,
            password: Sha256::digest(&account.password_hash).into(),
        }
    }
}

/// The sessions of this process.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

struct Session {
    holder: Holder,
    began: Timestamp,
    used: Timestamp,
}

impl Sessions {
    /// Begins one, and gives its id.
    ///
    /// # Errors
    /// When the source of randomness does not answer.
    pub fn begin(&self, account: &Account, now: Timestamp) -> Result<SessionId, NoEntropy> {
        let id = SessionId::mint()?;
        let session = Session {
            holder: Holder::of(account),
            began: now,
            used: now,
        };
        let mut sessions = self.lock();
        sessions.retain(|_, session| session.is_on(now));
        sessions.insert(id.hash(), session);
        Ok(id)
    }

    /// Whose it is, if it is not over; to be used is to live on.
    pub fn find(&self, id: &SessionId, now: Timestamp) -> Option<Holder> {
        let mut sessions = self.lock();
        let session = sessions.get_mut(&id.hash());
        let session = session.filter(|session| session.is_on(now))?;
        session.used = now;
        Some(session.holder)
    }

    /// Ends one.
    pub fn end(&self, id: &SessionId) {
        self.lock().remove(&id.hash());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn is_on(&self, now: Timestamp) -> bool {
        now < self.used.plus(IDLE) && now < self.began.plus(LIFE)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sessions")
    }
}
