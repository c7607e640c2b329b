//! The sign-in form.

use std::time::Duration;

use axum::body::Body;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;

use crate::http::request_body::read_body;

/// Path of the sign-in page.
pub const SIGN_IN: &str = "/sign-in";

/// Query parameter and field of the sign-in page for a browser whose session has ended.
pub const SESSION_ENDED: &str = "ended";

/// Path after signing in, if the form names none.
pub const HOME: &str = "/panel/usage";

/// Maximum length of a form in bytes.
const LIMIT: usize = 64 * 1024;

/// Maximum number of parts in which a form arrives.
const MAX_PARTS: usize = 1024;

/// Time in which a form arrives.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The fields of the form.
pub struct SignInForm {
    pub name: String,
    pub password: String,
    /// Path of this server to go to afterwards.
    pub back: String,
    /// `true` if the session ended while the browser showed a form.
    pub session_ended: bool,
}

impl Default for SignInForm {
    fn default() -> Self {
        Self {
            name: String::new(),
            password: String::new(),
            back: HOME.into(),
            session_ended: false,
        }
    }
}

impl SignInForm {
    /// Reads a body; `None` if it is too long, too slow, in too many parts or malformed.
    pub async fn read(body: Body) -> Option<Self> {
        let mut bytes = Vec::new();
        let read = read_body(body, LIMIT, MAX_PARTS, |part| bytes.extend(part));
        let is_complete = timeout(READ_TIMEOUT, read).await.ok()?;
        Self::parse(str::from_utf8(&bytes).ok().filter(|_| is_complete)?)
    }

    /// Parses form encoding; `None` for invalid UTF-8 and for NUL, which no database looks up.
    pub fn parse(text: &str) -> Option<Self> {
        let mut form = Self::default();
        for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            let spaced = value.replace('+', " ");
            let value = percent_decode_str(&spaced).decode_utf8().ok()?.into_owned();
            if value.contains('\0') {
                return None;
            }
            match name {
                "name" => form.name = value.trim().into(),
                "password" => form.password = value,
                SESSION_ENDED => form.session_ended = true,
                "back" if is_own_path(&value) => form.back = value,
                _ => {}
            }
        }
        Some(form)
    }
}

/// Returns whether a browser that follows the path stays on this server.
fn is_own_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::{HOME, SignInForm};

    #[test]
    fn a_form_has_a_trimmed_name_and_the_password_as_it_was_typed() {
        for (text, expected) in [
            ("", ("", "", "/panel/usage", false)),
            (
                "name=+Al%C3%ADce+B+&password=+a%2Bb+c+&back=%2Fpanel&x=1",
                ("Al\u{ed}ce B", " a+b c ", "/panel", false),
            ),
            ("ended=&name=a&name=b", ("b", "", "/panel/usage", true)),
        ] {
            let form = SignInForm::parse(text).unwrap();
            let fields = (&*form.name, &*form.password, &*form.back, form.session_ended);
            assert_eq!(fields, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn a_form_has_at_most_65_536_bytes() {
        for (len, is_read) in [(65_536, true), (65_537, false)] {
            let form = SignInForm::read(Body::from("x".repeat(len))).await;
            assert_eq!(form.is_some(), is_read, "{len}");
        }
    }

    #[test]
    fn malformed_fields_are_refused() {
        for bad in ["name=a%00", "password=%00", "name=%ff"] {
            assert!(SignInForm::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_path_after_sign_in_is_on_this_server() {
        let back = |path| SignInForm::parse(&format!("back={path}")).unwrap().back;
        assert_eq!(back("%2Fpanel%2Fusage%3Fx%3D1"), "/panel/usage?x=1");
        for elsewhere in [
            "",
            "https:%2F%2Fevil.example",
            "%2F%2Fevil.example",
            "%2F%5Cevil.example",
            "%5C%2Fevil.example",
            "%2F%0D%0Aset-cookie:x",
            "panel",
        ] {
            assert_eq!(back(elsewhere), HOME, "{elsewhere}");
        }
    }
}
