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
use super::response::{PanelError, PanelResult};
use crate::base62::{self, DIGITS_OF_256_BITS};
use crate::host::Session;
use crate::http_util::BodyError;
use crate::http_util::origin::{authority, without_default_port};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Name of the form field of the CSRF token.
pub(super) const CSRF_FIELD: &str = "csrf";

/// Domain separation from other uses of the session's secret.
const CSRF_CONTEXT: &[u8] = b"forum-api panel form";

/// Derives the CSRF token from the secret of a session. All nodes derive the same token.
pub(super) fn csrf_token(session: &Session) -> String {
    // HMAC accepts keys of any length, so this cannot fail.
    let mac = Hmac::<Sha256>::new_from_slice(&session.secret);
    let tag = mac.map(|mac| mac.chain_update(CSRF_CONTEXT).finalize());
    let digest = tag.map(|tag| tag.into_bytes().into());
    let digits = base62::encode::<DIGITS_OF_256_BITS, 32>(digest.unwrap_or_default());
    digits.map(char::from).iter().collect()
}

/// Parses a form, and checks its CSRF token.
pub(super) fn parse_form(body: Result<Bytes, BodyError>, session: &Session) -> PanelResult<Form> {
    let body = body.map_err(|error| match error {
        BodyError::TooLong => PanelError::LongForm,
        BodyError::TooManyParts | BodyError::Incomplete => PanelError::BadForm,
    })?;
    let text = std::str::from_utf8(&body).map_err(|_| PanelError::BadForm)?;
    let form = Form::parse(text).ok_or(PanelError::BadForm)?;
    let expected = csrf_token(session);
    let token = form.get(CSRF_FIELD);
    let is_valid: bool = expected.as_bytes().ct_eq(token.as_bytes()).into();
    if session.secret.is_empty() || !is_valid {
        return Err(PanelError::Forbidden);
    }
    Ok(form)
}

/// Returns `false` if one of the headers `origin`, `referer` and `sec-fetch-site` shows that a form was sent from a page
/// of another host. Otherwise returns `true`, even if all three are missing. A host can use it for its own forms, for
/// example its sign-in form.
///
/// The form must come from the host of the request or the host of `public_origin`, for example `https://board.example`.
/// `public_origin` may be empty, and may contain the default port of its scheme.
pub fn is_same_origin_form(head: &Parts, public_origin: &str) -> bool {
    let header = |name| head.headers.get_all(name).iter();
    let own = |value: &HeaderValue| is_own_address(value, head, public_origin);
    let same_site = |value: &HeaderValue| value == "same-origin" || value == "none";
    header(ORIGIN).all(own) && header(REFERER).all(own) && header(SEC_FETCH_SITE).all(same_site)
}

fn is_own_address(value: &HeaderValue, head: &Parts, public_origin: &str) -> bool {
    let parse = |text: &str| text.parse::<Uri>().ok();
    let Some(sent_from) = value.to_str().ok().and_then(parse) else {
        return false;
    };
    let host = head
        .headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .or_else(|| head.uri.authority().map(Authority::as_str));
    let public = parse(public_origin).and_then(|origin| authority(&origin));
    // Behind a proxy the scheme of the request is unknown, so the scheme of the page that sent the form is used.
    let host = host.map(|host| without_default_port(host, sent_from.scheme_str()));
    let sent_from = authority(&sent_from);
    sent_from.is_some() && [host, public].contains(&sent_from)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::is_same_origin_form;

    fn is_same(uri: &str, headers: &[(&str, &str)], public_origin: &str) -> bool {
        let mut request = Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        is_same_origin_form(&head, public_origin)
    }

    fn is_own(headers: &[(&str, &str)]) -> bool {
        let headers = [&[("host", "board.example:8080")], headers].concat();
        is_same("/panel/tokens/new", &headers, "https://public.example")
    }

    #[test]
    fn a_default_port_does_not_change_an_origin() {
        let named = |text: &str| text.replace("BOARD", "board.example");
        for (origin, host, public_origin, is_own) in [
            ("https://BOARD", "inner:8080", "https://BOARD:443", true),
            ("http://BOARD", "inner:8080", "http://BOARD:80", true),
            ("https://BOARD:443", "inner:8080", "https://BOARD", true),
            ("https://BOARD", "inner:8080", "https://BOARD:80", false),
            ("https://BOARD", "inner:8080", "https://BOARD:8443", false),
            ("https://BOARD", "BOARD:443", "", true),
            ("http://BOARD", "BOARD:80", "", true),
            ("http://BOARD", "BOARD:443", "", false),
            ("https://BOARD:80", "BOARD", "", false),
        ] {
            let headers = [("host", &*named(host)), ("origin", &named(origin))];
            let is_same = is_same("/", &headers, &named(public_origin));
            assert_eq!(is_same, is_own, "{origin} {host} {public_origin}");
        }
    }

    #[test]
    fn without_a_host_header_the_authority_of_the_uri_is_the_host() {
        let uri = "https://board.example/panel/tokens/new";
        assert!(is_same(uri, &[("origin", "https://board.example")], ""));
        assert!(!is_same(uri, &[("origin", "https://evil.example")], ""));
    }

    #[test]
    fn forms_of_other_origins_are_rejected() {
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
