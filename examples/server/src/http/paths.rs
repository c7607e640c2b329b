//! Paths of the services.

/// Path of the API.
pub const API: &str = "/api/v1";
/// Path of the control panel.
pub const PANEL: &str = "/panel";
/// Path of the API for clients of the Model Context Protocol.
pub const MCP: &str = "/mcp";
/// Path of the reference page.
pub const DOCS: &str = "/docs";
