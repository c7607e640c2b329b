//! Sessions in the browser. A cookie contains the id of the session. The board stores only a hash of the id.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::host::BoardResult;
use forum_api::runtime::{OsRandom, RandomSource};
use http::HeaderMap;
use http::header::COOKIE;
use sha2::{Digest, Sha256};

use super::accounts::Account;
use crate::board::accounts::devices::{self, DeviceKey};
use crate::board::accounts::sessions::{self, Hash};
use crate::board::{ReferenceBoard, locks};

/// Maximum number of session ids that are read from one request.
const MAX_COOKIES: usize = 4;

/// Id of a session: 256 random bits that only the browser keeps.
pub struct SessionId(String);

impl SessionId {
    /// Length of the text, in characters: 32 bytes in base64.
    const LENGTH: usize = 43;

    fn generate() -> BoardResult<Self> {
        let mut bits = [0; 32];
        OsRandom.fill(&mut bits)?;
        Ok(Self(BASE64_URL_SAFE_NO_PAD.encode(bits)))
    }

    /// Parses an id of the right length.
    pub fn parse(text: &str) -> Option<Self> {
        (text.len() == Self::LENGTH).then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> Hash {
        Sha256::digest(&self.0).into()
    }
}

/// Name and attributes of the session cookie.
pub struct Cookie {
    name: &'static str,
    attributes: &'static str,
}

impl Cookie {
    /// Creates the cookie of a server at `base_url`. If its scheme is `https`, browsers send the cookie only over
    /// `https`, and the prefix `__Host-` prevents other hosts of the same domain from setting it.
    pub fn new(base_url: &str) -> Self {
        if base_url.starts_with("https:") {
            Self {
                name: "__Host-forum_session",
                attributes: "HttpOnly; SameSite=Lax; Path=/; Secure",
            }
        } else {
            Self { name: "forum_session", attributes: "HttpOnly; SameSite=Lax; Path=/" }
        }
    }

    /// Returns the value of a `Set-Cookie` header that keeps the session until the browser is closed.
    pub fn set(&self, session: &SessionId) -> String {
        format!("{}={}; {}", self.name, session.as_str(), self.attributes)
    }

    /// Returns the value of a `Set-Cookie` header that removes the session.
    pub fn remove(&self) -> String {
        format!("{}=; {}; Max-Age=0", self.name, self.attributes)
    }

    /// Returns the session ids in the cookies of a request, at most [`MAX_COOKIES`]. Their sessions may not exist.
    /// Without `https`, another host of the same domain can add a cookie of this name. The caller uses the first id
    /// whose session exists.
    pub fn read(&self, headers: &HeaderMap) -> Vec<SessionId> {
        let sessions = cookie_values(headers, self.name).filter_map(SessionId::parse);
        sessions.take(MAX_COOKIES).collect()
    }
}

/// Returns the values of the cookies of this name in a request.
pub fn cookie_values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter();
    // Cookies of other applications can contain bytes that are not ASCII.
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(move |pair| {
        let value = pair.trim_ascii().strip_prefix(name.as_bytes())?;
        str::from_utf8(value.strip_prefix(b"=")?).ok()
    })
}

/// A session that has begun.
pub struct NewSession {
    pub id: SessionId,
    /// Key of the cookies of browsers that have signed in.
    pub device_key: DeviceKey,
}

/// Begins a session of this account and ends the browser's previous ones. Returns `None` if the member was banned or erased
/// during the check of the password.
pub async fn begin(
    board: &ReferenceBoard,
    account: Account,
    previous: &[SessionId],
) -> BoardResult<Option<NewSession>> {
    let id = SessionId::generate()?;
    let hash = id.hash();
    let previous = hashes(previous);
    let mut new_key = [0; 32];
    OsRandom.fill(&mut new_key)?;
    let device_key = board
        .write(move |tx, events| {
            Box::pin(async move {
                locks::members(tx, &[account.member]).await?;
                sessions::end(tx, previous).await?;
                if !sessions::begin(tx, &hash, &account, events.now).await? {
                    return Ok(None);
                }
                devices::key_or(tx, new_key).await.map(Some)
            })
        })
        .await?;
    Ok(device_key.map(|device_key| NewSession { id, device_key }))
}

/// Ends sessions.
pub async fn end(board: &ReferenceBoard, ended: &[SessionId]) -> BoardResult<()> {
    let ended = hashes(ended);
    board.write(move |tx, _| Box::pin(sessions::end(tx, ended))).await
}

fn hashes(sessions: &[SessionId]) -> Vec<Hash> {
    sessions.iter().map(SessionId::hash).collect()
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::{COOKIE, HeaderValue};

    use super::{Cookie, SessionId};

    const PLAIN: &str = "http://board.example";

    #[test]
    fn the_session_is_read_beside_other_cookies() {
        let id = "x".repeat(43);
        for line in [
            format!("forum_session={id}"),
            format!("name=é; forum_session={id}; other=\u{fc}"),
            format!("other_forum_session=y;forum_session={id}"),
            format!("forum_session=malformed; forum_session={id}"),
        ] {
            let line = HeaderValue::from_bytes(line.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(COOKIE, line)]);
            let read = Cookie::new(PLAIN).read(&headers);
            let ids: Vec<_> = read.iter().map(SessionId::as_str).collect();
            assert_eq!(ids, [&id], "{headers:?}");
        }
    }

    #[test]
    fn only_the_first_four_sessions_are_read() {
        let cookies =
            ["a", "b", "c", "d", "e"].map(|id| format!("forum_session={}", id.repeat(43)));
        let line = HeaderValue::from_str(&cookies.join("; ")).unwrap();
        let headers = HeaderMap::from_iter([(COOKIE, line)]);
        let ids = Cookie::new(PLAIN).read(&headers);
        let read: String = ids.iter().map(|id| &id.as_str()[..1]).collect();
        assert_eq!(read, "abcd");
    }

    #[test]
    fn the_cookie_is_secure_over_https() {
        let id = "x".repeat(43);
        let session = SessionId::parse(&id).unwrap();
        let plain = format!("forum_session={id}; HttpOnly; SameSite=Lax; Path=/");
        assert_eq!(Cookie::new(PLAIN).set(&session), plain);
        let removed = "forum_session=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0";
        assert_eq!(Cookie::new(PLAIN).remove(), removed);
        let secure = Cookie::new("https://board.example");
        assert_eq!(secure.set(&session), format!("__Host-{plain}; Secure"));
        let read = |name: &str| {
            let line = HeaderValue::from_str(&format!("{name}={id}")).unwrap();
            secure.read(&HeaderMap::from_iter([(COOKIE, line)])).len()
        };
        assert_eq!(["__Host-forum_session", "forum_session"].map(read), [1, 0]);
    }
}
