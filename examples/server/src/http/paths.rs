//! Paths of the services, and addresses of the start page.

use forum_api::host::{WebPage, WebUrls};

/// Path of the API.
pub const API: &str = "/api/v1";
/// Path of the control panel.
pub const PANEL: &str = "/panel";
/// Path of the API for clients of the Model Context Protocol.
pub const MCP: &str = "/mcp";
/// Path of the reference page.
pub const DOCS: &str = "/docs";

/// Returns the addresses at which the start page of a server at `base_url` shows resources.
pub fn web_urls(base_url: &str) -> WebUrls {
    let start = format!("{base_url}/#");
    WebUrls::new(move |page| {
        let path = match page {
            WebPage::Forum(forum) => format!("forums/{forum}"),
            WebPage::Thread(thread) => format!("threads/{thread}"),
            WebPage::Post(thread, post) => format!("threads/{thread}/posts/{post}"),
            WebPage::Member(member) => format!("members/{member}"),
            WebPage::Message(message) => format!("messages/{message}"),
            _ => return None,
        };
        Some(format!("{start}/{path}"))
    })
}
