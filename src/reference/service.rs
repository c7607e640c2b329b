//! The service of the page, its style sheet and its script.

use std::future::ready;
use std::sync::Arc;

use http::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use serde_json::Value;

use super::page::{self, Links};
use crate::api::ForumApi;
use crate::build_error::BuildError;
use crate::html::{Frame, check_accent_color, check_page_url, page_path};
use crate::http_util::{Content, EntityTag, ResponseBody, page_headers, parse_base_path, respond};

/// Allows the page to load its own files and to call the API of its own origin only.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                      img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// Value of `cache-control` for URLs that contain the hash of the content.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// [`Service`](tower_service::Service) that serves the reference page at its base path, with or without a slash at the
/// end, and the page's style sheet and script below the base path. Accepts `GET` and `HEAD`.
///
/// Cloning is cheap. Responses are not compressed. Successful responses have a strong `etag`.
#[derive(Clone, Debug)]
pub struct ReferencePage(Arc<Site>);

/// Path of a [`ReferencePage`], and name and pages of the board for its header. Without name and URLs the page has no
/// header.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReferenceSettings {
    /// Path at which the page is served, as browsers send it, on the origin of the API. A router may strip it from the URI.
    /// Default: `/docs`.
    pub base_path: String,
    /// Name of the board, for the header and the icon. Default: empty.
    pub board_name: String,
    /// Accent colour of links, buttons and the icon, as `#rrggbb`, like that of the panel. Default: empty.
    pub accent_color: String,
    /// Absolute URL, or path from the root of the host, of the board's start page. Default: empty, which omits the link.
    pub board_url: String,
    /// Absolute URL, or path from the root of the host, of the control panel. Default: empty, which omits the link.
    pub panel_url: String,
}

impl Default for ReferenceSettings {
    fn default() -> Self {
        Self {
            base_path: "/docs".into(),
            board_name: String::new(),
            accent_color: String::new(),
            board_url: String::new(),
            panel_url: String::new(),
        }
    }
}

#[derive(Debug)]
struct Site {
    base_path: String,
    assets: [Asset; 3],
}

#[derive(Debug)]
struct Asset {
    /// Path below the base path, without the first slash.
    name: &'static str,
    content: Content,
}

impl ReferencePage {
    /// Renders the page of an API.
    ///
    /// # Errors
    /// [`BuildError`] if the path has no leading slash, has a query, contains characters that a path cannot contain, or is
    /// below the base path of the API, or if another setting is invalid.
    pub fn new(api: &ForumApi, settings: ReferenceSettings) -> Result<Self, BuildError> {
        Self::of_document(&api.openapi(), &api.0.settings.base_path, settings)
    }

    /// Renders the page of an OpenAPI document of [`openapi_document`](crate::openapi_document), whose API has this base
    /// path. The page omits parts that are missing in the document.
    ///
    /// # Errors
    /// Those of [`new`](Self::new), also for the base path of the API.
    pub fn of_document(
        document: &Value,
        api_base_path: &str,
        mut settings: ReferenceSettings,
    ) -> Result<Self, BuildError> {
        let mut api_base_path = api_base_path.to_owned();
        let mut base_path = std::mem::take(&mut settings.base_path);
        parse_base_path("base_path", &mut base_path, "/docs")?;
        parse_base_path("api_base_path", &mut api_base_path, "/api/v1")?;
        let below = base_path.strip_prefix(&api_base_path);
        let is_below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let expected = "a path outside of the base path of the API";
        BuildError::require(!is_below || api_base_path.is_empty(), "base_path", expected)?;
        check_accent_color(&settings.accent_color)?;
        check_page_url("board_url", &settings.board_url)?;
        check_page_url("panel_url", &settings.panel_url)?;
        let frame = Frame {
            board_name: &settings.board_name,
            accent_color: &settings.accent_color,
            board_url: &settings.board_url,
            reference_url: page_path(&base_path),
            panel_url: &settings.panel_url,
        };
        let css =
            [include_str!("../html/theme.css"), include_str!("style.css"), &frame.accent_style()]
                .concat();
        let style = Asset::new("style.css", "text/css; charset=utf-8", css);
        let code = concat!(include_str!("../html/copy.js"), include_str!("script.js"));
        let script = Asset::new("script.js", "text/javascript; charset=utf-8", code);
        let links = Links {
            style: &style.url(&base_path),
            script: &script.url(&base_path),
            api_base_path: &api_base_path,
            frame,
        };
        let markup = page::page(document, &links);
        let page = Asset::new("", "text/html; charset=utf-8", markup.into_string());
        let assets = [page, style, script];
        Ok(Self(Arc::new(Site { base_path, assets })))
    }
}

impl Asset {
    fn new(name: &'static str, content_type: &'static str, body: impl Into<bytes::Bytes>) -> Self {
        let content = Content::tagged(content_type, body);
        Self { name, content }
    }

    /// Returns the hash of the content.
    fn digest(&self) -> &str {
        let tag = self.content.tag.as_ref().map_or("", EntityTag::as_str);
        tag.trim_matches('"')
    }

    /// Returns the URL with the hash of the content, so that browsers can cache it indefinitely.
    fn url(&self, base_path: &str) -> String {
        format!("{base_path}/{}?{}", self.name, self.digest())
    }
}

impl_service!(ReferencePage, |page, request| Box::pin(ready(Ok(page.0.respond(&request)))));

impl Site {
    fn respond<B>(&self, request: &Request<B>) -> Response<ResponseBody> {
        let mut headers = page_headers(POLICY);
        let is_read = [Method::GET, Method::HEAD].contains(request.method());
        let asset = self.find(request.uri().path()).filter(|_| is_read);
        let status = match asset {
            Some(_) => StatusCode::OK,
            None if is_read => StatusCode::NOT_FOUND,
            None => StatusCode::METHOD_NOT_ALLOWED,
        };
        if let Some(asset) = asset {
            let is_versioned = request.uri().query() == Some(asset.digest());
            let cache = if is_versioned { IMMUTABLE } else { "no-cache" };
            headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        } else if !is_read {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        let content = asset.map(|asset| asset.content.clone());
        let (method, request_headers) = (request.method(), request.headers());
        respond(method, request_headers, status, headers, content)
    }

    fn find(&self, path: &str) -> Option<&Asset> {
        let below = path
            .strip_prefix(self.base_path.as_str())
            .filter(|below| below.is_empty() || below.starts_with('/'))
            .unwrap_or(path);
        let name = below.strip_prefix('/').unwrap_or(below);
        self.assets.iter().find(|asset| asset.name == name)
    }
}
