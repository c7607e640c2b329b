//! Shared HTML of the control panel and the reference page: the document with its head, a theme (`theme.css`), and a
//! function for copy buttons (`copy.js`).

mod document;

pub(crate) use document::document;
