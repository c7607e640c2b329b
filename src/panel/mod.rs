//! The control panel (feature `panel`): an administrator issues tokens, manages webhooks, inspects deliveries and reads
//! the audit log.
//!
//! A [`tower_service::Service`] like the API. Its pages are rendered on the server. One script of the same origin adds copy
//! buttons and local times; every page works without it. The host mounts the panel at any path, authenticates its
//! administrators with [`AdminAuth`](crate::host::AdminAuth), and has its own sign-in page:
//!
//! ```
//! use std::sync::Arc;
//! use forum_api::host::{AdminAuth, BackendResult, Session};
//! use forum_api::panel::{Panel, PanelSettings};
//! use forum_api::store::sqlite::{Database, DatabasePath};
//! use forum_api::store::{Stores, WebhookStores};
//! use forum_api::webhook_admin::WebhookAdmin;
//! use forum_api::{Environment, async_trait, model::UserId};
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
//! let database = Database::open(&DatabasePath::Memory)?;
//! let environment = Environment::default(); // of API and worker
//! let webhooks = WebhookAdmin::new(WebhookStores::in_sqlite(&database), &environment); // the stores of the worker
//! let mut settings = PanelSettings::default();
//! settings.base_path = "/admin/api".into();
//! let panel = Panel::builder(MyMembers, stores, &environment).webhooks(webhooks).settings(settings).build()?;
//! let app: axum::Router = axum::Router::new()
//!     .route_service("/admin/api", panel.clone())
//!     .route_service("/admin/api/", panel.clone()) // `{*rest}` matches at least one character
//!     .route_service("/admin/api/{*rest}", panel);
//! # Ok::<(), forum_api::host::BoxError>(())
//! ```
//!
//! # Access and errors
//!
//! The panel redirects a visitor without a session to the host's sign-in page, and a form whose session has ended to
//! [`session_ended_url`](crate::host::AdminAuth::session_ended_url), with the page of the form as the way back. A member
//! who is not an administrator gets 404 for each page. The page has the button "Sign out" if
//! [`sign_out_path`](crate::host::AdminAuth::sign_out_path) returns a path. The style sheet and the script are public.
//!
//! Each change is a `POST`, with a CSRF token that is bound to the session, and from the same origin according to
//! `origin`, `referer` and `sec-fetch-site`. A form has at most 1 MiB and 1000 fields. A write that has begun completes,
//! even if the client disconnects. The panel escapes all text that people entered.
//!
//! | status | cause |
//! |---|---|
//! | 303 | `/` below the base path redirects to `/usage`; a successful change redirects to its page |
//! | 403 | a forged form |
//! | 404 | an unknown id or page |
//! | 409 | the current state does not allow the change, such as a ping to a disabled endpoint; or a form whose response shows a secret was submitted a second time; or "Activate new secret" of a page that shows a secret that another rotation has replaced |
//! | 422 | an unusable value of a form, or a wrong password; the form is shown again with the entered values, without the password |
//! | 429 | five wrong passwords within five minutes: this administrator can change nothing that requires the password for five minutes; has `retry-after` |
//!
//! Nodes that share the stores share the count of wrong passwords and the record of submitted forms.
//!
//! # Tokens
//!
//! - The search finds the tokens whose label contains the text, whose lookup begins with the text, or whose owner's
//!   username equals the text. In labels, the search ignores the case of ASCII letters.
//! - The list hides revoked tokens, unless the filter selects the state `revoked` or `all`. The URL of each page contains
//!   the filters.
//! - The label of a token can be changed in any state. Scopes, owner and expiry cannot be changed.
//! - Issuing a token requires the administrator's password; revoking one does not. The new token is shown once, with a
//!   `curl` command if [`PanelSettings`] has the URL of the API and a scope permits a request without required parameters.
//!
//! - A token can be issued again: its page links to the form with its owner, label and scopes.
//!
//! # Usage
//!
//! - Refusals are responses with 401, 403 and 429, other refusals those with another 4xx, errors those with 5xx.
//! - A number of the period is compared with the period before if the stores have data of the whole period before.
//! - Requests are counted by operation; those for the OpenAPI document and for unknown paths have none.
//!
//! # Webhooks and deliveries
//!
//! A panel without [`PanelBuilder::webhooks`] has none of these pages. This method needs the feature `webhooks`.
//!
//! - Failing endpoints are listed first. The search finds the endpoints whose URL, topics or owner's username contain the
//!   text, in any case of ASCII letters. The state `failing` selects endpoints whose last finished attempt failed.
//! - `/webhooks/new` has the form that adds an endpoint. `/webhooks` also has it while there are fewer than ten endpoints.
//! - Adding an endpoint, and changing its URL or owner, require the administrator's password, because an endpoint receives
//!   what its owner may see. Wrong passwords count to the same limit as those of tokens.
//! - The last delivery of an endpoint is the most recently queued delivery that has a finished attempt. The success rate
//!   is the share of `delivered` deliveries among those that were queued in the last 24 hours and are `delivered`,
//!   `retrying`, `dead` or `gone`.
//! - An enabled endpoint is marked as "failing" if its last finished attempt failed, and an endpoint that the worker
//!   disabled as "disabled after failures". The response of a delivery is the status and the duration of its last attempt.
//! - After a ping, an example or a redelivery, the panel waits up to 10 seconds for the result of the first attempt. If
//!   a worker is sending the delivery after this time, the panel waits longer. The total wait is at most half of the
//!   request timeout.
//! - The times of the filter of deliveries are dates (`2026-01-31`) or dates with times (`2026-01-31T12:00`) in UTC; both
//!   ends are included. The filter by response compares the last attempt. Without a start time, a filter by any response
//!   except `2xx` covers the 7 days before the end time, or the last 7 days.
//! - An attempt that sent nothing, for example because the address is not allowed, is shown as "not sent" with the reason.
//!
//! # Audit log
//!
//! The list has the exact time of each entry, and one line for each. The page of an entry has its details in full.
//!
//! # Sign-in pages
//!
//! A host's own sign-in page may look like the panel: the style sheet is public at `/style.css` below the base path,
//! [`security_headers`] returns the headers of the pages, and [`is_same_origin_form`] detects forged forms.

mod access;
mod api_usage;
mod audit;
mod builder;
mod chart;
mod components;
#[cfg(feature = "webhooks")]
mod deliveries;
#[cfg(feature = "webhooks")]
mod delivery_usage;
#[cfg(feature = "webhooks")]
mod endpoint;
#[cfg(feature = "webhooks")]
mod endpoints;
mod figure;
mod filter;
mod form;
mod intervals;
mod page_context;
mod password;
mod password_throttle;
#[cfg(feature = "webhooks")]
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
#[doc(hidden)]
#[cfg(feature = "webhooks")]
pub use pretty_json::pretty_json;
pub use response::security_headers;
