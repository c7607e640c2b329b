//! The page and the files that it loads, ready to be sent.

use bytes::Bytes;

use crate::http_util::{Content, EntityTag};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file of the reference.
#[derive(Clone, Debug)]
pub(super) struct Asset {
    pub(super) name: &'static str,
    pub(super) content: Content,
}

impl Asset {
    fn new(name: &'static str, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let content = Content::tagged(content_type, body);
        Self { name, content }
    }

    fn gzip(name: &'static str, content_type: &'static str, body: &'static [u8]) -> Self {
        let mut asset = Self::new(name, content_type, body);
        asset.content.content_encoding = Some("gzip");
        asset
    }

    /// The hash of the content.
    pub(super) fn digest(&self) -> &str {
        let tag = self.content.tag.as_ref().map_or("", EntityTag::as_str);
        tag.trim_matches('"')
    }

    /// The tag that loads the asset from below `mount`. Its address names the content, so that a browser keeps it for
    /// good.
    fn link(&self, mount: &str) -> String {
        let address = format!("{}/{}?{}", attribute(mount), self.name, self.digest());
        if self.name.ends_with(".css") {
            format!("<link rel=\"stylesheet\" href=\"{address}\">\n")
        } else {
            format!("<script defer src=\"{address}\"></script>\n")
        }
    }
}

/// The page, and then what it loads in this order. The files are found below `mount`, the document below `api`.
pub(super) fn all(mount: &str, api: &str) -> Vec<Asset> {
    let swagger_style = include_bytes!("vendored/swagger-ui.css.gz");
    let swagger = include_bytes!("vendored/swagger-ui-bundle.js.gz");
    let assets = [
        Asset::gzip("swagger-ui.css", STYLE, swagger_style),
        Asset::new("reference.css", STYLE, include_str!("reference.css")),
        Asset::gzip("swagger-ui.js", SCRIPT, swagger),
        Asset::new("reference.js", SCRIPT, include_str!("reference.js")),
    ];
    let links: String = assets.iter().map(|asset| asset.link(mount)).collect();
    let page = Asset::new("", HTML, page(&links, &attribute(api)));
    std::iter::once(page).chain(assets).collect()
}

fn page(links: &str, api: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" href="data:,">
{links}</head>
<body>
<div id="reference" data-api="{api}"></div>
<noscript>This page needs JavaScript. Without it, read the <a href="{api}/openapi.json">OpenAPI document</a>.</noscript>
</body>
</html>
"#
    )
}

/// Escapes a text for an attribute.
fn attribute(text: &str) -> String {
    let quoted = text.replace('&', "&amp;").replace('"', "&quot;");
    quoted.replace('<', "&lt;")
}
