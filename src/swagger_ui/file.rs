//! What is served, ready to be sent.

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_128;

/// A file, as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    /// Whether it is compressed: once, when the library was made, and for everybody.
    pub(super) gzip: bool,
    pub(super) body: Bytes,
    /// What its content is known by.
    pub(super) tag: String,
}

impl File {
    pub(super) fn new(name: &'static str, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self {
            name,
            kind,
            gzip: false,
            tag: format!("{:032x}", xxh3_128(&body)),
            body,
        }
    }

    fn compressed(name: &'static str, kind: &'static str, body: &'static [u8]) -> Self {
        Self {
            gzip: true,
            ..Self::new(name, kind, body)
        }
    }

    /// What the page loads, its style first, then its scripts in their order.
    pub(super) fn assets() -> [Self; 4] {
        let (style, script) = ("text/css; charset=utf-8", "text/javascript; charset=utf-8");
        let swagger_style = include_bytes!("vendored/swagger-ui.css.gz");
        let swagger = include_bytes!("vendored/swagger-ui-bundle.js.gz");
        [
            Self::compressed("swagger-ui.css", style, swagger_style),
            Self::new("reference.css", style, include_str!("reference.css")),
            Self::compressed("swagger-ui.js", script, swagger),
            Self::new("reference.js", script, include_str!("reference.js")),
        ]
    }
}
