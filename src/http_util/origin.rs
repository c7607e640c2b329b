//! Origins as browsers send them.

use http::Uri;

/// Returns an origin such as `https://Board.example:443` as a browser sends it.
#[cfg(feature = "mcp")]
pub(crate) fn sent_origin(origin: &str) -> Option<String> {
    let origin: Uri = origin.parse().ok()?;
    Some(format!("{}://{}", origin.scheme_str()?, authority(&origin)?))
}

/// Returns the host and the port of an origin as a browser sends them.
pub(crate) fn authority(origin: &Uri) -> Option<String> {
    let authority = origin.authority()?.as_str();
    Some(without_default_port(authority, origin.scheme_str()))
}

/// Returns the authority in lower case, without the default port of the scheme.
pub(crate) fn without_default_port(authority: &str, scheme: Option<&str>) -> String {
    let default_port = match scheme {
        Some("https") => ":443",
        Some("http") => ":80",
        _ => "",
    };
    let without_port = authority.strip_suffix(default_port);
    without_port.unwrap_or(authority).to_lowercase()
}
