//! The page itself.

use super::file::File;

/// The page that loads these assets from below `mount`, and the document from below `api`.
pub(super) fn page(mount: &str, api: &str, assets: &[File]) -> File {
    let links: String = assets.iter().map(|asset| link(mount, asset)).collect();
    let api = attribute(api);
    let html = format!(
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
<noscript>This page needs JavaScript. What it shows is in <a href="{api}/openapi.json">the document</a>.</noscript>
</body>
</html>
"#
    );
    File::new("", "text/html; charset=utf-8", html)
}

/// The tag in the address lets a browser keep the asset for good.
fn link(mount: &str, asset: &File) -> String {
    let File { name, tag, .. } = asset;
    let address = format!("{}/{name}?{tag}", attribute(mount));
    if name.ends_with(".css") {
        format!("<link rel=\"stylesheet\" href=\"{address}\">\n")
    } else {
        format!("<script defer src=\"{address}\"></script>\n")
    }
}

/// A text as it stands in an attribute.
fn attribute(text: &str) -> String {
    let quoted = text.replace('&', "&amp;").replace('"', "&quot;");
    quoted.replace('<', "&lt;")
}
