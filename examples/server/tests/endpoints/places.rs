//! Places on the demo board.

use serde_json::{Value, json};

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

/// The thread with the demo board's poll.
pub fn thread(server: &Server) -> String {
    tea(server).trim_end_matches("/posts").into()
}

/// A thread in Staff.
pub fn staff_thread(server: &Server) -> String {
    let threads = server.get(&server.token("mod"), "/forums/5/threads").json();
    path_of(&threads["items"][0])
}

/// A new thread in General.
pub fn new_thread(server: &Server, author: &str) -> String {
    let new = json!({ "title": "Sugar", "body": "White or brown?" });
    path_of(&server.post(author, "/forums/2/threads", &new).json())
}

fn path_of(thread: &Value) -> String {
    format!("/threads/{}", thread["threadId"].as_str().unwrap())
}

/// The demo board's poll, as a token sees it.
pub fn poll(server: &Server, token: &str) -> Value {
    server
        .get(token, &format!("{}/poll", thread(server)))
        .json()
}

/// The poll of a new thread in General, as its author sees it.
pub fn new_poll(server: &Server, author: &str, poll: &Value) -> Value {
    let new = json!({ "title": "Milk", "body": "First or last?", "poll": poll });
    let started = server.post(author, "/forums/2/threads", &new);
    assert_eq!(started.status, 201, "{started:?}");
    let path = format!("{}/poll", path_of(&started.json()));
    server.get(author, &path).json()
}

/// The ids of a poll's options.
pub fn options(poll: &Value) -> Vec<&str> {
    let options = poll["options"].as_array().unwrap();
    let ids = options.iter().map(|option| &option["optionId"]);
    ids.map(|id| id.as_str().unwrap()).collect()
}
