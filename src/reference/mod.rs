//! The reference page of the API (feature `reference`): the OpenAPI document as HTML.
//!
//! [`ReferencePage`] is a [`tower_service::Service`] like the API. It renders the page once, from the document that the API
//! serves, so the page lists exactly the operations and scopes of this API. The page is readable without scripts. With
//! scripts, it also has a search, buttons to copy code, and forms to send requests.
//!
//! ```
//! use forum_api::reference::{ReferencePage, ReferenceSettings};
//! use forum_api::{BuildError, ForumApi};
//!
//! fn pages(api: &ForumApi) -> Result<axum::Router, BuildError> {
//!     let docs = ReferencePage::new(api, ReferenceSettings::default())?;
//!     Ok(axum::Router::new()
//!         .route_service("/docs", docs.clone())
//!         .route_service("/docs/", docs.clone()) // `{*rest}` matches at least one character
//!         .route_service("/docs/{*rest}", docs))
//! }
//! ```
//!
//! The page loads only its own style sheet and script, and sends requests only to the API's base path on its own origin. It
//! does not store the token that a reader enters: the token is lost when the page is closed or reloaded.

mod code;
mod document;
mod markdown;
mod operation;
mod page;
mod schema;
mod service;

pub use service::{ReferencePage, ReferenceSettings};
