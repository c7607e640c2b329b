//! Access checks: the administrator, the origin of a form, and its CSRF token.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{HOST, HeaderName, ORIGIN, REFERER};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::form::Form;
use super::response::PanelError;
use crate::base62;
use crate::host::Session;
use crate::http_util::BodyError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The name of the field that holds the CSRF token.
pub(super) const CSRF_FIELD: &str = "csrf";

/// Separates the token from every other use of the session's secret.
const CSRF_CONTEXT: &[u8] = b"forum-api panel form";

/// The CSRF token of a session. It follows from the session's secret, so every node knows it.
pub(super) fn csrf_token(session: &Session) -> String {
    // A key of any length is accepted, so there is always one.
    let mac = Hmac::<Sha256>::new_from_slice(&session.secret);
    let digest = mac.map(|mac| {
        mac.chain_update(CSRF_CONTEXT)
            .finalize()
            .into_bytes()
            .into()
    });
    let digits = base62::encode::<43, 32>(digest.unwrap_or_default());
    digits.map(char::from).iter().collect()
}

/// Returns a form whose body can be read and that carries the session's CSRF token.
pub(super) fn require_own_form(
    body: Result<Bytes, BodyError>,
    session: &Session,
) -> Result<Form, PanelError> {
    let body = body.map_err(|_| PanelError::BadForm)?;
    let text = std::str::from_utf8(&body).map_err(|_| PanelError::BadForm)?;
    let form = Form::parse(text).ok_or(PanelError::BadForm)?;
    let (expected, found) = (csrf_token(session), form.get(CSRF_FIELD));
    let is_right: bool = expected.as_bytes().ct_eq(found.as_bytes()).into();
    if session.secret.is_empty() || !is_right {
        return Err(PanelError::Forbidden);
    }
    Ok(form)
}

/// Whether a form was sent from a page of the same site as it goes to, as far as the browser says where it was sent
/// from: by `origin`, `referer` and `sec-fetch-site`. For a host's own forms, such as the one that signs in.
///
/// The same site is where the request was sent to, and `base_url`, such as `https://board.example`; may be empty.
pub fn is_same_origin_form(head: &Parts, base_url: &str) -> bool {
    let header = |name| head.headers.get_all(name).iter();
    let own = |value: &HeaderValue| is_own_address(value, head, base_url);
    let same_site = |value: &HeaderValue| value == "same-origin" || value == "none";
    header(ORIGIN).all(own) && header(REFERER).all(own) && header(SEC_FETCH_SITE).all(same_site)
}

fn is_own_address(value: &HeaderValue, head: &Parts, base_url: &str) -> bool {
    let authority = |text: &str| {
        let uri: Uri = text.parse().ok()?;
        Some(uri.authority()?.as_str().to_lowercase())
    };
    let sent_from = value.to_str().ok().and_then(authority);
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| head.uri.authority().map(Authority::as_str));
    let sent_to = [host.map(str::to_lowercase), authority(base_url)];
    sent_from.is_some() && sent_to.contains(&sent_from)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::is_same_origin_form;

    fn is_own(headers: &[(&str, &str)]) -> bool {
        let mut request = Request::post("/panel/tokens/new").header("host", "board.example:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        is_same_origin_form(&head, "https://public.example")
    }

    #[test]
    fn what_names_another_site_is_foreign() {
        for own in [
            &[][..],
            &[("origin", "http://board.example:8080")],
            &[("origin", "http://BOARD.example:8080")],
            &[("origin", "https://public.example")],
            &[("referer", "http://board.example:8080/panel/tokens?after=x")],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
        ] {
            assert!(is_own(own), "{own:?}");
        }
        let own = ("origin", "http://board.example:8080");
        for foreign in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "http://board.example")],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://board.example:8080.evil.example")],
            &[own, ("origin", "http://evil.example")],
            &[own, ("referer", "http://evil.example/")],
            &[("referer", "http://evil.example/http://board.example:8080/")],
            &[("referer", "http://board.example:8080@evil.example/")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ] {
            assert!(!is_own(foreign), "{foreign:?}");
        }
    }
}
