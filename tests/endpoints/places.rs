//! Places on the demo board.

use serde_json::json;

use crate::client::get;
use crate::program::Server;

/// The list of posts of the thread in General about tea.
pub fn tea(server: &Server) -> String {
    let threads = get(&server.api("/forums/2/threads")).json();
    let items = threads["items"].as_array().unwrap();
    let title = "Which tea for a rainy afternoon?";
    let found = items.iter().find(|thread| thread["title"] == title);
    let id = found.unwrap()["threadId"].as_str().unwrap();
    format!("/threads/{id}/posts")
}

/// The last post of that thread.
pub fn last_post(server: &Server) -> String {
    post(server, usize::MAX)
}

/// The first post of that thread.
pub fn first_post(server: &Server) -> String {
    post(server, 0)
}

fn post(server: &Server, index: usize) -> String {
    let tea = tea(server);
    let posts = get(&server.api(&tea)).json();
    let items = posts["items"].as_array().unwrap();
    let post = &items[index.min(items.len() - 1)];
    format!("{tea}/{}", post["postId"].as_str().unwrap())
}

/// A new reply there.
pub fn reply(server: &Server, token: &str) -> String {
    let tea = tea(server);
    let post = server
        .post(token, &tea, &json!({ "body": "Black." }))
        .json();
    format!("{tea}/{}", post["postId"].as_str().unwrap())
}
