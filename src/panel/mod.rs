//! The control panel (feature `panel`): an administrator issues tokens, manages webhooks, and sees the deliveries.
//!
//! A [`tower_service::Service`] like the API. Its pages are rendered on the server and run no script. The host mounts it
//! anywhere, says who is signed in ([`Operator`](crate::host::Operator)), and keeps its own sign-in page:
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::runtime::TokioRuntime;
//! use forum_api::host::{Operator, Session, Stored};
//! use forum_api::panel::{Panel, Settings};
//! use forum_api::store::{Stores, Webhooks};
//! use forum_api::webhook_admin::Registry;
//! use forum_api::{async_trait, model::UserId};
//! use http::request::Parts;
//!
//! struct MyMembers; // your sessions and passwords
//!
//! #[async_trait]
//! impl Operator for MyMembers {
//!     async fn signed_in(&self, head: &Parts) -> Stored<Option<Session>> {
//!         let _cookie = head.headers.get("cookie"); // your look-up
//!         Ok(Some(Session::new(UserId::from(1), "admin", true, "the cookie's random value")))
//!     }
//!     async fn is_password(&self, _session: &Session, _password: &str) -> Stored<bool> {
//!         Ok(false) // your check
//!     }
//!     async fn find(&self, username: &str) -> Stored<Option<UserId>> {
//!         Ok((username == "admin").then(|| UserId::from(1)))
//!     }
//!     async fn name(&self, _member: &UserId) -> Stored<Option<String>> {
//!         Ok(Some("admin".into()))
//!     }
//!     fn sign_in(&self, _back: &str) -> String {
//!         "/sign-in".into()
//!     }
//! }
//!
//! let stores = Stores::in_memory(); // those that the API has
//! let registry = Registry::new(Webhooks::in_memory(), TokioRuntime); // those that your worker has
//! let settings = Settings { mount: "/admin/api".into(), ..Settings::default() };
//! let panel = Panel::builder(Arc::new(MyMembers), stores, registry, TokioRuntime).settings(settings).build();
//! let app: axum::Router = axum::Router::new().route_service("/admin/api/{*rest}", panel);
//! ```
//!
//! A guest is redirected to the host's sign-in page. A member who is not an administrator gets 404. Every change is a
//! `POST` with a token of the session, sent from the same site; a forged one is 403. Five wrong passwords in five minutes
//! lock issuing for that administrator for five minutes (429). A form that reveals a secret succeeds once. Nodes that
//! share the stores share these limits.
//!
//! A host's own sign-in page may look like the panel: its style sheet is public at `/style.css` below the
//! mount, [`page_headers`] are the headers of its pages, and [`is_own_form`] detects a forged form.

mod access;
mod builder;
mod components;
mod deliveries;
mod endpoint;
mod endpoints;
mod form;
mod page_context;
mod password_throttle;
mod response;
mod router;
mod service;
mod tokens;
mod usage;

pub use access::is_same_origin_form;
pub use builder::{PanelBuilder, PanelSettings};
pub use response::security_headers;
pub use service::Panel;
