//! Administration of webhook endpoints, for command lines and the control panel.

mod admin;
mod error;

pub use admin::{
    AttemptReport, AwaitedAttempt, EndpointUpdate, EndpointWithSecret, NewEndpoint, WebhookAdmin,
};
pub(crate) use error::AdminResult;
pub use error::WebhookAdminError;
