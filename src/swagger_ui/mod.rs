//! The interactive reference (feature `swagger-ui`): the live OpenAPI document as a page on which calls can be tried with a
//! token.
//!
//! A [`tower_service::Service`] like the API, and beside it. The page is Swagger UI, whose files are part of the library;
//! no other host is asked. It loads the document from where the API is mounted, and sends the calls there too, whatever
//! the document has under `servers`: so it works under every name that the host is reached by.
//!
//! ```
//! use forum_api::swagger_ui::Docs;
//!
//! let docs = Docs::new("/docs", "/api/v1");
//! let app: axum::Router = axum::Router::new()
//!     .route_service("/docs", docs.clone())
//!     .route_service("/docs/{*rest}", docs);
//! ```
//!
//! A token that is pasted stays in the page, and is gone with it.

mod asset;
mod service;

pub use service::SwaggerUi;
