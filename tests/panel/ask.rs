//! Asking the panel as a browser does.

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tower::ServiceExt;

use crate::house::House;

/// The session of the administrator.
pub const ADMIN: &str = "admin/1";

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// What stands behind `before`, up to the next quotation mark or tag.
    pub fn after(&self, before: &str) -> &str {
        let (_, rest) = self
            .body
            .split_once(before)
            .unwrap_or_else(|| panic!("{}", self.body));
        &rest[..rest.find(['"', '<']).unwrap()]
    }
}

/// A form: fields and what stands in them.
pub type Fields<'a> = [(&'a str, &'a str)];

impl House {
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        form: &Fields<'_>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "board.example");
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        let encode = |text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let pairs = form
            .iter()
            .map(|(name, value)| format!("{}={}", encode(*name), encode(*value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        let request = request.body(Full::<Bytes>::from(body)).unwrap();
        let Ok(response) = self.panel.clone().oneshot(request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// A page, to this session; `""` for nobody's.
    pub async fn get_as(&self, session: &str, path: &str) -> Answer {
        self.send("GET", path, &[("cookie", session)], &[]).await
    }

    /// A page, to the administrator.
    pub async fn get(&self, path: &str) -> Answer {
        self.get_as(ADMIN, path).await
    }

    /// What the forms of the administrator's session carry.
    pub async fn csrf(&self) -> String {
        let page = self.get("/panel/tokens/new").await;
        page.after("name=\"csrf\" value=\"").to_owned()
    }

    /// Sends a form of the administrator's own.
    pub async fn post(&self, path: &str, form: &Fields<'_>) -> Answer {
        let csrf = self.csrf().await;
        let form = [&[("csrf", csrf.as_str())], form].concat();
        self.send("POST", path, &[("cookie", ADMIN)], &form).await
    }
}
