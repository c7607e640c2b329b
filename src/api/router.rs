//! Step 1: which endpoint a path names. The path is compared as it was sent: nothing is decoded, joined or cut.

use http::Method;

use super::endpoint::ApiEndpoint;
use super::endpoints::endpoints;
use super::extract::path::RawPathParams;
use crate::scope::Surface;

/// The path of the OpenAPI document, below the base path.
pub(super) const DOCUMENT: &str = "/openapi.json";

/// What a request is for.
pub(super) enum Route<'a> {
    Endpoint(&'static ApiEndpoint, RawPathParams<'a>),
    OpenApi,
}

/// `None` for an unknown path, and for a known one with a method that it does not declare.
pub(super) fn match_route<'a>(
    surface: Surface,
    base_path: &str,
    method: &Method,
    path: &'a str,
) -> Option<Route<'a>> {
    let method = match *method {
        Method::HEAD => &Method::GET,
        _ => method,
    };
    let path = path.strip_prefix(base_path)?;
    if path == DOCUMENT {
        return (*method == Method::GET).then_some(Route::OpenApi);
    }
    let mut served = endpoints(surface).filter(|endpoint| endpoint.method == *method);
    served.find_map(|endpoint| {
        let params = match_path(endpoint.path, path)?;
        Some(Route::Endpoint(endpoint, params))
    })
}

fn match_path<'a>(template: &str, path: &'a str) -> Option<RawPathParams<'a>> {
    let mut params = RawPathParams::default();
    let mut values = params.0.iter_mut();
    let mut segments = path.split('/');
    for expected in template.split('/') {
        let segment = segments.next()?;
        if expected.starts_with('{') {
            *values.next()? = variable(segment)?;
        } else if segment != expected {
            return None;
        }
    }
    segments.next().is_none().then_some(params)
}

fn variable(segment: &str) -> Option<&str> {
    let is_slash = |three: &[u8]| three.eq_ignore_ascii_case(b"%2f");
    let has_slash = segment.as_bytes().windows(3).any(is_slash);
    (!segment.is_empty() && !has_slash).then_some(segment)
}
