//! Sessions as a browser has them: by the id in its cookie, of which the board keeps the hash.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::host::{Refusal, Result};
use forum_api::runtime::{Entropy, NoEntropy, SystemEntropy};
use sha2::{Digest, Sha256};

use super::members::Account;
use crate::board::Board;
use crate::board::sessions::{self, Hash};

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

    fn hash(&self) -> Hash {
        Sha256::digest(&self.0).into()
    }
}

/// Begins a session of this account, in place of the one that its browser had before; gives its id.
///
/// # Errors
/// When the source of randomness or the board does not answer.
pub async fn begin(
    board: &Board,
    account: Account,
    before: Option<SessionId>,
) -> Result<SessionId> {
    let id = SessionId::mint().map_err(Refusal::failed)?;
    let (hash, before) = (id.hash(), before.map(|before| before.hash()));
    let begin = board.write(move |tx, events| {
        Box::pin(async move {
            if let Some(before) = before {
                sessions::end(tx, &before).await?;
            }
            Ok(sessions::begin(tx, &hash, &account, events.now).await?)
        })
    });
    begin.await?;
    Ok(id)
}

/// Whose session it is, if it is not over; to be used is to live on.
pub async fn holder(board: &Board, id: &SessionId) -> Result<Option<Account>> {
    board.signed_in(id.hash()).await
}

/// Ends a session.
pub async fn end(board: &Board, id: &SessionId) -> Result<()> {
    let hash = id.hash();
    let end =
        board.write(move |tx, _| Box::pin(async move { Ok(sessions::end(tx, &hash).await?) }));
    end.await
}
