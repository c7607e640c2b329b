//! Who may be here, and whether they mean what their browser sends: verdicts on values (contract, section 10).

use bytes::Bytes;
use http::header::{HOST, HeaderName, ORIGIN, REFERER};
use http::request::Parts;
use http::{HeaderValue, Uri};

use super::csrf;
use super::form::Form;
use super::problem::Problem;
use crate::host::Session;
use crate::http_util::BodyError;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// To one who is no administrator there is no panel.
pub(super) fn admit(session: &Session) -> Result<(), Problem> {
    session.administrator.then_some(()).ok_or(Problem::Absent)
}

pub(super) fn comes_from_here(head: &Parts, base_url: &str) -> Result<(), Problem> {
    is_own_form(head, base_url)
        .then_some(())
        .ok_or(Problem::Forged)
}

/// The form, if it can be read and carries what this session's forms do.
pub(super) fn form(body: Result<Bytes, BodyError>, session: &Session) -> Result<Form, Problem> {
    let body = body.map_err(|_| Problem::Unreadable)?;
    let text = std::str::from_utf8(&body).map_err(|_| Problem::Unreadable)?;
    let form = Form::parse(text).ok_or(Problem::Unreadable)?;
    csrf::is_right(session, form.get(csrf::FIELD))
        .then_some(form)
        .ok_or(Problem::Forged)
}

/// Whether a form was sent from a page of the same site as it goes to, as far as the browser says where it was sent
/// from: by `origin`, `referer` and `sec-fetch-site`. For a host's own forms, such as the one that signs in.
///
/// The same site is where the request was sent to, and `base_url`, such as `https://board.example`; may be empty.
pub fn is_own_form(head: &Parts, base_url: &str) -> bool {
    let header = |name| head.headers.get_all(name).iter();
    let own = |value: &HeaderValue| is_own_address(value, head, base_url);
    let same_site = |value: &HeaderValue| value == "same-origin" || value == "none";
    header(ORIGIN).all(own) && header(REFERER).all(own) && header(SEC_FETCH_SITE).all(same_site)
}

fn is_own_address(value: &HeaderValue, head: &Parts, base_url: &str) -> bool {
    let authority = |text: &str| {
        Some(
            text.parse::<Uri>()
                .ok()?
                .authority()?
                .as_str()
                .to_lowercase(),
        )
    };
    let sent_from = value.to_str().ok().and_then(authority);
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
    let sent_to = [host.map(str::to_lowercase), authority(base_url)];
    sent_from.is_some() && sent_to.contains(&sent_from)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::is_own_form;

    fn is_own(headers: &[(&str, &str)]) -> bool {
        let mut request = Request::post("/panel/tokens/new").header("host", "board.example:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        is_own_form(&head, "https://public.example")
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
        for foreign in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "http://board.example")],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://board.example:8080.evil.example")],
            &[
                ("origin", "http://board.example:8080"),
                ("origin", "http://evil.example"),
            ],
            &[
                ("origin", "http://board.example:8080"),
                ("referer", "http://evil.example/"),
            ],
            &[("referer", "http://evil.example/http://board.example:8080/")],
            &[("referer", "http://board.example:8080@evil.example/")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ] {
            assert!(!is_own(foreign), "{foreign:?}");
        }
    }
}
