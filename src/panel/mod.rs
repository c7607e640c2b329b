//! The control panel (feature `panel`): an administrator issues tokens, manages webhooks, inspects deliveries and reads
//! the audit log (`docs/protocol.md`, section 15).
//!
//! A [`tower_service::Service`] like the API. Its pages are rendered on the server. One script of the same origin adds copy
//! buttons and local times; every page works without it. The host mounts the panel at any path, authenticates its
//! administrators with [`AdminAuth`](crate::host::AdminAuth), and has its own sign-in page:
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::runtime::TokioRuntime;
//! use forum_api::host::{AdminAuth, BackendResult, Session};
//! use forum_api::panel::{Panel, PanelSettings};
//! use forum_api::store::{Stores, WebhookStores};
//! use forum_api::webhook_admin::WebhookAdmin;
//! use forum_api::{async_trait, model::UserId};
//! use http::request::Parts;
//!
//! struct MyMembers; // your sessions and passwords
//!
//! #[async_trait]
//! impl AdminAuth for MyMembers {
//!     async fn session(&self, head: &Parts) -> BackendResult<Option<Session>> {
//!         let _cookie = head.headers.get("cookie"); // your look-up
//!         Ok(Some(Session::new(UserId::from(1), "admin", true, "the cookie's random value")))
//!     }
//!     async fn verify_password(&self, _session: &Session, _password: &str) -> BackendResult<bool> {
//!         Ok(false) // your check
//!     }
//!     async fn user_id_by_name(&self, username: &str) -> BackendResult<Option<UserId>> {
//!         Ok((username == "admin").then(|| UserId::from(1)))
//!     }
//!     async fn username(&self, _member: &UserId) -> BackendResult<Option<String>> {
//!         Ok(Some("admin".into()))
//!     }
//!     fn sign_in_url(&self, return_to: &str) -> String {
//!         format!("/sign-in?return_to={return_to}") // percent-encode it
//!     }
//! }
//!
//! let stores = Stores::in_memory(); // the stores of the API
//! let webhooks = WebhookAdmin::new(WebhookStores::in_memory(), TokioRuntime); // the stores of the worker
//! let mut settings = PanelSettings::default();
//! settings.base_path = "/admin/api".into();
//! let panel = Panel::builder(Arc::new(MyMembers), stores, webhooks, TokioRuntime).settings(settings).build()?;
//! let app: axum::Router = axum::Router::new()
//!     .route_service("/admin/api", panel.clone())
//!     .route_service("/admin/api/", panel.clone()) // `{*rest}` matches at least one character
//!     .route_service("/admin/api/{*rest}", panel);
//! # Ok::<(), forum_api::BuildError>(())
//! ```
//!
//! The panel redirects a visitor without a session to the host's sign-in page. A member who is not an administrator
//! gets 404. Each change is a `POST` with a CSRF token from the same origin; a forged form gets 403. After five wrong
//! passwords within five minutes, the administrator cannot issue tokens for five minutes (429). A form whose response
//! shows a secret can be submitted successfully only once. Nodes that share the stores share the count of wrong
//! passwords and the record of submitted forms.
//!
//! A host's own sign-in page may look like the panel: the style sheet is public at `/style.css` below the base path,
//! [`security_headers`] returns the headers of the pages, and [`is_same_origin_form`] detects forged forms.

mod access;
mod api_usage;
mod audit;
mod builder;
mod chart;
mod components;
mod deliveries;
mod endpoint;
mod endpoints;
mod form;
mod intervals;
mod page_context;
mod password_throttle;
mod pretty_json;
mod response;
mod router;
mod service;
mod token;
mod token_form;
mod tokens;
mod usage;

pub use access::is_same_origin_form;
pub use builder::{Panel, PanelBuilder, PanelSettings};
pub use response::security_headers;
