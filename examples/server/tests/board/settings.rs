//! Settings at their largest values.

use serde_json::{Value, json};

use crate::board::generate::ContentSize;
use crate::board::settings;
use crate::demo::{Demo, body};

#[tokio::test]
async fn each_number_works_at_its_largest_value() {
    let demo = Demo::new().await;
    let all = demo.read(|connection| Box::pin(async { Ok(settings::all(connection).await?) }));
    for (setting, _) in all.await {
        let rule = setting.rule();
        let Some((_, largest)) = rule.split_once(" to ") else {
            continue;
        };
        let largest = largest.trim_end_matches(", or unlimited");
        demo.set(setting.key(), largest).await;
        let larger = (largest.parse::<u64>().unwrap() + 1).to_string();
        demo.change(move |tx| {
            Box::pin(async move {
                assert_eq!(setting.set(tx, &larger).await?, None);
                Ok(())
            })
        })
        .await;
    }
    demo.generate(ContentSize {
        members: 1_000,
        threads: 2,
        posts: 4,
    })
    .await;

    let threads = demo.threads_path("General").await;
    let posted = async |member: &'static str, path: &str, new: Value| {
        let (status, created) = demo.post(member, path, new).await;
        assert_eq!(status, 201, "{path} {created}");
        created
    };
    let options = (0..settings::OPTIONS_MAX.max).map(|number| format!("Option {number}"));
    let poll = json!({
        "question": "Which?",
        "options": Vec::from_iter(options),
        "maxChoices": settings::OPTIONS_MAX.max,
    });
    let new = json!({ "title": "Many", "body": "options", "poll": poll });
    let thread = posted("admin", &threads, new).await;
    let poll = format!("/threads/{}/poll", thread["threadId"].as_str().unwrap());
    let (_, poll) = demo.get("bob", &poll).await;
    let options = poll["options"].as_array().unwrap().iter();
    let vote = json!({ "optionIds": Vec::from_iter(options.map(|option| &option["optionId"])) });
    let votes = format!("/polls/{}/votes", poll["pollId"].as_str().unwrap());
    posted("bob", &votes, vote).await;

    let replies = demo.tea_posts_path().await;
    let post = posted(
        "mod",
        &replies,
        body(&"b".repeat(settings::BODY_MAX.max as usize)),
    )
    .await;
    let (status, _) = demo.post("alice", &replies, body("too soon")).await;
    assert_eq!(status, 422);
    let edit = format!("{replies}/{}", post["postId"].as_str().unwrap());
    let moderator = demo.as_member("mod").await;
    assert_eq!(moderator.patch(&edit, &body("edited")).await.status, 200);
    let title = json!({ "title": "t".repeat(settings::TITLE_MAX.max as usize), "body": "b" });
    posted("mod", &threads, title).await;

    let find = "SELECT username AS value FROM member WHERE id > 7 ORDER BY id LIMIT 1000";
    let names: Vec<String> = demo.query_values(find).await;
    let to: Vec<_> = names.iter().map(|name| format!("@{name}")).collect();
    assert_eq!(to.len(), settings::RECIPIENTS_MAX.max as usize);
    let message = json!({ "to": to, "subject": "Hi", "body": "there" });
    posted("bob", "/messages", message).await;
    let rating = json!({ "points": settings::MAX_POINTS.max, "comment": "Thanks" });
    posted("admin", "/members/@bob/reputation", rating).await;
    let (status, hits) = demo.get("bob", "/search?q=edited&sort=relevance").await;
    assert_eq!((status, hits["items"].as_array().unwrap().len()), (200, 1));
}
