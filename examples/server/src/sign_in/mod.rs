//! Sign-in and sign-out: the page, the sessions, and the authentication of the control panel.

pub mod accounts;
mod admin_auth;
mod check_queue;
mod device;
mod form;
mod page;
mod service;
mod session;
mod throttle;

pub use service::SignIn;
