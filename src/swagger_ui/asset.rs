//! The HTML page and the files that it loads.

use bytes::Bytes;

use crate::http_util::{Content, EntityTag};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

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

    /// Returns the hash of the content.
    pub(super) fn digest(&self) -> &str {
        let tag = self.content.tag.as_ref().map_or("", EntityTag::as_str);
        tag.trim_matches('"')
    }

    /// Returns the HTML tag that loads the asset. Its URL contains the hash of the content, so that browsers can cache it
    /// indefinitely.
    fn link(&self, base_path: &str) -> String {
        let url = format!(
            "{}/{}?{}",
            escape_attribute(base_path),
            self.name,
            self.digest()
        );
        if self.name.ends_with(".css") {
            format!("<link rel=\"stylesheet\" href=\"{url}\">\n")
        } else {
            format!("<script defer src=\"{url}\"></script>\n")
        }
    }
}

/// Returns the page and the files that it loads, in this order.
pub(super) fn all(base_path: &str, api_base_path: &str) -> Vec<Asset> {
    let swagger_style = include_bytes!("vendored/swagger-ui.css.gz");
    let swagger = include_bytes!("vendored/swagger-ui-bundle.js.gz");
    let assets = [
        Asset::gzip("swagger-ui.css", STYLE, swagger_style),
        Asset::new("reference.css", STYLE, include_str!("reference.css")),
        Asset::gzip("swagger-ui.js", SCRIPT, swagger),
        Asset::new("reference.js", SCRIPT, include_str!("reference.js")),
    ];
    let links: String = assets.iter().map(|asset| asset.link(base_path)).collect();
    let page = Asset::new("", HTML, page(&links, &escape_attribute(api_base_path)));
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

fn escape_attribute(text: &str) -> String {
    let quoted = text.replace('&', "&amp;").replace('"', "&quot;");
    quoted.replace('<', "&lt;")
}
