//! Limits of messages.

use serde_json::json;

use crate::board::settings;
use crate::demo::{Demo, status_and_code};

/// The setting limits recipients. Each of them can be named by id and by username.
#[tokio::test]
async fn a_message_has_a_maximum_number_of_recipients() {
    let demo = Demo::new().await;
    demo.set(settings::RECIPIENTS_MAX.key, "3").await;
    let mut names = Vec::new();
    for name in ["bob", "carol", "mod", "admin"] {
        names.extend([format!("@{name}"), demo.id(name).await.to_string()]);
    }
    let once: Vec<_> = names.iter().step_by(2).collect();
    for (to, is_allowed) in [
        (json!(once[..3]), true),
        (json!(once), false),
        (json!(names[..6]), true),
        (json!(names[..7]), false),
    ] {
        let message = json!({ "to": to, "subject": "x", "body": "x" });
        let (status, sent) = demo.post("alice", "/messages", message).await;
        if is_allowed {
            assert_eq!(sent["recipients"].as_array().unwrap().len(), 3, "{sent}");
        } else {
            assert_eq!(
                status_and_code(&(status, sent)),
                (422, "VALIDATION"),
                "{to}"
            );
        }
    }
}
