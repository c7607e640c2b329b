//! The cookie that holds a session's id.

use http::HeaderMap;
use http::header::COOKIE;

use super::sessions::SessionId;

const NAME: &str = "forum_session";

/// How the cookie is set.
#[derive(Debug)]
pub struct Cookie {
    attributes: &'static str,
}

impl Cookie {
    /// For browsers that reach the server at `base_url`: over `https` they are to send it there alone.
    pub fn at(base_url: &str) -> Self {
        let is_secure = base_url.starts_with("https:");
        let attributes = if is_secure {
            "HttpOnly; SameSite=Lax; Path=/; Secure"
        } else {
            "HttpOnly; SameSite=Lax; Path=/"
        };
        Self { attributes }
    }

    /// The value of the header that sets it, until the browser is closed.
    pub fn set(&self, session: &SessionId) -> String {
        format!("{NAME}={}; {}", session.as_str(), self.attributes)
    }

    /// The value of the header that takes it away.
    pub fn unset(&self) -> String {
        format!("{NAME}=; {}; Max-Age=0", self.attributes)
    }

    /// The session that a request names.
    pub fn read(&self, headers: &HeaderMap) -> Option<SessionId> {
        let lines = headers.get_all(COOKIE).iter();
        let pairs = lines.flat_map(|line| line.to_str().unwrap_or_default().split(';'));
        let mut named = pairs.filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = named.find(|(name, _)| *name == NAME)?;
        SessionId::parse(value)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cookie, SessionId};

    #[test]
    fn over_https_it_stays_there() {
        let session = SessionId::parse(&"x".repeat(43)).unwrap();
        let set = |base_url| Cookie::at(base_url).set(&session);
        let plain = format!(
            "forum_session={}; HttpOnly; SameSite=Lax; Path=/",
            "x".repeat(43)
        );
        assert_eq!(set("http://board.example"), plain);
        assert_eq!(set("https://board.example"), format!("{plain}; Secure"));
    }
}
