//! What was typed to sign in.

use std::time::Duration;

use axum::body::Body;
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use tokio::time::timeout;

use super::HOME;

/// How much of a form is read.
const LIMIT: usize = 64 * 1024;

/// How long a form may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was typed, and where to go afterwards.
#[derive(Default)]
pub struct Typed {
    /// The name.
    pub name: String,
    /// The password.
    pub password: String,
    /// A path of this server.
    pub back: String,
}

impl Typed {
    /// What a link to the page says: where to go afterwards.
    pub fn of_query(query: &str) -> Self {
        Self::parse(query).unwrap_or_default()
    }

    /// What a form holds; `None` when it cannot be read, or holds what nobody can type.
    pub async fn of_form(body: Body) -> Option<Self> {
        let whole = timeout(PATIENCE, Limited::new(body, LIMIT).collect());
        let body = whole.await.ok()?.ok()?.to_bytes();
        Self::parse(std::str::from_utf8(&body).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut typed = Self {
            back: HOME.into(),
            ..Self::default()
        };
        for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = value.replace('+', " ");
            let value = percent_decode_str(&value).decode_utf8().ok()?.into_owned();
            if value.contains('\0') {
                return None;
            }
            match name {
                "name" => typed.name = value.trim().into(),
                "password" => typed.password = value,
                "back" if is_own_path(&value) => typed.back = value,
                _ => {}
            }
        }
        Some(typed)
    }
}

/// Whether it leads to a page of this server, and not by way of it to another.
fn is_own_path(path: &str) -> bool {
    let begins = path.starts_with('/') && !path.starts_with("//");
    begins
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::{HOME, Typed};

    #[test]
    fn nobody_types_what_no_database_looks_up() {
        for bad in ["name=a%00", "password=%00", "name=%ff"] {
            assert!(Typed::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn one_comes_back_to_this_server_alone() {
        let back = |path| Typed::of_query(&format!("back={path}")).back;
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
