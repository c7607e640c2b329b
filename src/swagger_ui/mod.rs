//! Interactive API reference (feature `swagger-ui`): Swagger UI with the live OpenAPI document.
//!
//! [`SwaggerUi`] is a [`tower_service::Service`] like the API. The library contains the files of Swagger UI, so the
//! page loads no file from another host. The page loads the document from the API's base path on its own origin and
//! sends calls there. It ignores the `servers` of the document, so it works under every host name of the server.
//!
//! ```
//! use forum_api::swagger_ui::SwaggerUi;
//!
//! let docs = SwaggerUi::new("/docs", "/api/v1")?;
//! let app: axum::Router = axum::Router::new()
//!     .route_service("/docs", docs.clone())
//!     .route_service("/docs/{*rest}", docs);
//! # Ok::<(), forum_api::BuildError>(())
//! ```
//!
//! The page does not store the token that a user enters: it is lost when the page is closed or reloaded.

mod asset;
mod service;

pub use service::SwaggerUi;
