//! A request as a value, to be sent over a socket or in process, any number of times.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use super::Row;

/// A request; its path is whole, the mount included.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
}

impl Ask {
    /// A request of this whole path.
    pub(crate) fn exactly(method: &str, path: &str) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    /// A request below the mount.
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self::exactly(method, &format!("/api/v1{path}"))
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str, body: &str) -> Self {
        Self::new("POST", path).json(body)
    }

    /// The row's good request at another path.
    pub(crate) fn at(row: &Row, path: &str) -> Self {
        let ask = Self::of(row);
        let path = format!("/api/v1{path}");
        Self { path, ..ask }
    }

    /// The row's good request.
    pub(crate) fn of(row: &Row) -> Self {
        let ask = Self::new(row.method, row.path);
        if row.body.is_empty() {
            ask
        } else {
            ask.json(row.body)
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// As the member with this token, or as the guest.
    pub(crate) fn by(self, token: Option<&String>) -> Self {
        match token {
            Some(token) => self.bearer(token),
            None => self,
        }
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn json(self, body: &str) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_owned())
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// The request itself.
    pub(crate) fn request(&self) -> Request<Full<Bytes>> {
        let head = Request::builder()
            .method(&*self.method)
            .uri(&*self.path)
            .header("host", "board.example");
        let with_headers = self
            .headers
            .iter()
            .fold(head, |head, (name, value)| head.header(name, value));
        with_headers.body(Full::new(self.body.clone())).unwrap()
    }
}
