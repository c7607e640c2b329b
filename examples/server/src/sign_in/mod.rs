//! Signing in and out: the page, the sessions, and the control panel's questions about them.

pub mod accounts;
mod admin_auth;
mod form;
mod page;
mod service;
mod session;
mod throttle;

pub use service::SignIn;
