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
        let url = match page {
            WebPage::Forum(forum) => format!("{start}/forums/{forum}"),
            WebPage::Thread(thread) => format!("{start}/threads/{thread}"),
            WebPage::Post(thread, post) => format!("{start}/threads/{thread}/posts/{post}"),
            WebPage::Member(member) => format!("{start}/members/{member}"),
            WebPage::Message(message) => format!("{start}/messages/{message}"),
            _ => return None,
        };
        Some(url)
    })
}

#[cfg(test)]
mod tests {
    use forum_api::model::{ForumId, MessageId, PostId, ThreadId, UserId};

    use super::*;

    #[test]
    fn each_resource_has_a_page() {
        let urls = web_urls("https://board.example");
        let thread = ThreadId::from(2);
        for (page, expected) in [
            (WebPage::Forum(&ForumId::from(1)), "forums/1"),
            (WebPage::Thread(&thread), "threads/2"),
            (WebPage::Post(&thread, &PostId::from(3)), "threads/2/posts/3"),
            (WebPage::Member(&UserId::from(4)), "members/4"),
            (WebPage::Message(&MessageId::from(5)), "messages/5"),
        ] {
            assert_eq!(urls.url(page), Some(format!("https://board.example/#/{expected}")));
        }
    }
}
