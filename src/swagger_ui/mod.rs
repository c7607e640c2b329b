//! Interactive API reference (feature `swagger-ui`): Swagger UI with the live OpenAPI document.
//!
//! A [`tower_service::Service`] like the API. The files of Swagger UI are part of the library; the page loads nothing from
//! other hosts. It loads the document from the API's base path and sends calls there, independent of the `servers` of the
//! document, so it works under each name of the host.
//!
//! ```
//! use forum_api::swagger_ui::SwaggerUi;
//!
//! let docs = SwaggerUi::new("/docs", "/api/v1");
//! let app: axum::Router = axum::Router::new()
//!     .route_service("/docs", docs.clone())
//!     .route_service("/docs/{*rest}", docs);
//! ```
//!
//! A token that a user enters is kept only in the open page.

mod asset;
mod service;

pub use service::SwaggerUi;
