//! Administration of webhook endpoints: the same operations for a command line and for a control panel.

mod admin;
mod error;

pub use admin::{EndpointWithSecret, NewEndpoint, WebhookAdmin};
pub use error::WebhookAdminError;
