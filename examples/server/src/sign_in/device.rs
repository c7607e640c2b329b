//! Cookie of a browser that has signed in with a name. It is signed and bound to the name. It exempts attempts with this
//! name from the limits that they share with other browsers, and has a limit of its own.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use forum_api::host::{BoardResult, OrInternal};
use forum_api::runtime::{OsRandom, RandomSource};
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use sha2::{Digest, Sha256};

use super::session::cookie_values;
use crate::board::accounts::devices::DeviceKey;

/// Time for which the browser keeps the cookie, in seconds: the 400 days to which browsers limit it.
const MAX_AGE: u32 = 400 * 24 * 60 * 60;

/// Length of the hash of a name in the name of its cookie, in bytes.
const NAME_HASH_LEN: usize = 8;

/// Random id of a browser, for one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceId([u8; 16]);

impl DeviceId {
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 16]> for DeviceId {
    fn from(id: [u8; 16]) -> Self {
        Self(id)
    }
}

/// Name and attributes of the cookie for one username. The case of letters does not matter in a username.
pub struct DeviceCookie {
    username: String,
    name: String,
    attributes: &'static str,
}

impl DeviceCookie {
    /// Creates the cookie for a username on a server at `base_url`. Browsers send it to the sign-in page only, and only
    /// over `https` if this is the scheme of the server.
    pub fn new(base_url: &str, username: &str) -> Self {
        let username = username.to_ascii_lowercase();
        let digest = Sha256::digest(&username);
        let start: Vec<u8> = digest.into_iter().take(NAME_HASH_LEN).collect();
        let hash = BASE64_URL_SAFE_NO_PAD.encode(start);
        let (prefix, attributes) = if base_url.starts_with("https:") {
            ("__Secure-", "HttpOnly; SameSite=Strict; Path=/sign-in; Secure")
        } else {
            ("", "HttpOnly; SameSite=Strict; Path=/sign-in")
        };
        Self { username, name: format!("{prefix}forum_device_{hash}"), attributes }
    }

    /// Returns the value of a `Set-Cookie` header with a new id.
    pub fn issue(&self, key: &DeviceKey) -> BoardResult<String> {
        let mut id = [0; 16];
        OsRandom.fill(&mut id)?;
        let mut signed = id.to_vec();
        signed.extend(self.signature(key, &id)?.finalize().into_bytes());
        let value = BASE64_URL_SAFE_NO_PAD.encode(signed);
        Ok(format!("{}={value}; {}; Max-Age={MAX_AGE}", self.name, self.attributes))
    }

    /// Returns whether a request has a cookie of this name. Its signature may be invalid.
    pub fn is_sent(&self, headers: &HeaderMap) -> bool {
        cookie_values(headers, &self.name).next().is_some()
    }

    /// Returns the id in the first cookie of a request with a valid signature.
    pub fn read(&self, headers: &HeaderMap, key: &DeviceKey) -> BoardResult<Option<DeviceId>> {
        for value in cookie_values(headers, &self.name) {
            let signed = BASE64_URL_SAFE_NO_PAD.decode(value).unwrap_or_default();
            if let Some((id, signature)) = signed.split_first_chunk()
                && self.signature(key, id)?.verify_slice(signature).is_ok()
            {
                return Ok(Some(DeviceId(*id)));
            }
        }
        Ok(None)
    }

    fn signature(&self, key: &DeviceKey, id: &[u8; 16]) -> BoardResult<Hmac<Sha256>> {
        let mut signature = Hmac::<Sha256>::new_from_slice(key).or_internal()?;
        signature.update(id);
        signature.update(self.username.as_bytes());
        Ok(signature)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::COOKIE;

    use super::*;

    const KEY: DeviceKey = [7; 32];

    fn headers(cookie: &str) -> HeaderMap {
        let pair = cookie.split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(pair).unwrap())])
    }

    #[test]
    fn a_cookie_is_valid_for_its_name_and_key_only() {
        let cookie = DeviceCookie::new("", "Alice");
        let issued = cookie.issue(&KEY).unwrap();
        let sent = headers(&issued);
        let id = cookie.read(&sent, &KEY).unwrap();
        assert!(id.is_some());
        assert_eq!(DeviceCookie::new("", "alice").read(&sent, &KEY).unwrap(), id);
        assert_eq!(cookie.read(&sent, &[8; 32]).unwrap(), None);
        let next = cookie.read(&headers(&cookie.issue(&KEY).unwrap()), &KEY).unwrap();
        assert_ne!(next, id, "each cookie has an id of its own");
        let (name, value) = issued.split(';').next().unwrap().split_once('=').unwrap();
        let bob = DeviceCookie::new("", "bob");
        assert!(!bob.is_sent(&sent));
        assert_eq!(bob.read(&headers(&format!("{}={value}", bob.name)), &KEY).unwrap(), None);
        let other = if value.starts_with('A') { 'B' } else { 'A' };
        for invalid in ["", "x", &value[1..], &format!("{other}{}", &value[1..])] {
            let sent = headers(&format!("{name}={invalid}"));
            assert!(cookie.is_sent(&sent));
            assert_eq!(cookie.read(&sent, &KEY).unwrap(), None, "{invalid}");
        }
    }

    #[test]
    fn the_cookie_is_sent_to_the_sign_in_page_only() {
        let attributes = |base_url| {
            let issued = DeviceCookie::new(base_url, "alice").issue(&KEY).unwrap();
            let (pair, attributes) = issued.split_once("; ").unwrap();
            (pair.split_once('=').unwrap().0.to_owned(), attributes.to_owned())
        };
        let (name, plain) = attributes("http://board.example");
        assert_eq!(plain, "HttpOnly; SameSite=Strict; Path=/sign-in; Max-Age=34560000");
        let (secure_name, secure) = attributes("https://board.example");
        assert_eq!(secure_name, format!("__Secure-{name}"));
        assert_eq!(secure, "HttpOnly; SameSite=Strict; Path=/sign-in; Secure; Max-Age=34560000");
    }
}
