//! Settings at their largest values.

use crate::prelude::*;

const LARGEST: [(&str, i64); 11] = [
    ("thread.title_max", 1_000_000),
    ("post.body_max", 1_000_000),
    ("post.interval_seconds", 31_536_000),
    ("post.per_hour", 1_000_000_000),
    ("message.recipients_max", 1_000),
    ("message.per_hour", 1_000_000_000),
    ("message.inbox_quota", 1_000_000_000),
    ("reputation.max_points", 1_000_000),
    ("reputation.per_day", 1_000_000_000),
    ("poll.options_max", 1_000),
    ("search.max_ranked_matches", 10_000),
];

#[tokio::test]
async fn each_number_works_at_its_largest_value() {
    let demo = Demo::new().await;
    for (key, largest) in LARGEST {
        let setting = settings::find(key).unwrap();
        demo.set(key, &largest.to_string()).await;
        assert!(setting.rule().ends_with(&format!(" to {largest}")), "{key}");
        let larger = (largest + 1).to_string();
        demo.change(move |tx| {
            Box::pin(async move {
                assert_eq!(setting.set(tx, &larger).await?, None);
                Ok(())
            })
        })
        .await;
    }
    demo.set("post.edit_window_minutes", &u32::MAX.to_string()).await;
    demo.generate(ContentSize { members: 1_000, threads: 2, posts: 4 }).await;

    let threads = demo.threads_path("General").await;
    let posted = async |member: &'static str, path: &str, new: Value| {
        let (status, created) = demo.post(member, path, new).await;
        assert_eq!(status, 201, "{path} {created}");
        created
    };
    let options = (0..1_000).map(|number| format!("Option {number}"));
    let poll =
        json!({ "question": "Which?", "options": Vec::from_iter(options), "maxChoices": 1_000 });
    let new = json!({ "title": "Many", "body": "options", "poll": poll });
    let thread = posted("admin", &threads, new).await;
    let poll_path = format!("/threads/{}/poll", thread["threadId"].as_str().unwrap());
    let (_, poll) = demo.get("bob", &poll_path).await;
    let options = poll["options"].as_array().unwrap();
    let ids = options.iter().map(|option| &option["optionId"]);
    let vote = json!({ "optionIds": Vec::from_iter(ids) });
    let votes = format!("/polls/{}/votes", poll["pollId"].as_str().unwrap());
    posted("bob", &votes, vote).await;
    demo.set("poll.options_max", "10").await;
    let unchanged = options
        .iter()
        .map(|option| json!({ "optionId": option["optionId"], "text": option["text"] }));
    let present = json!({ "question": "Which?", "options": Vec::from_iter(unchanged) });
    let path = format!("/polls/{}", poll["pollId"].as_str().unwrap());
    let admin = demo.as_member("admin").await;
    assert_eq!(admin.patch(&path, &present).await.status, 200);

    let replies = demo.tea_posts_path().await;
    let post = posted("mod", &replies, body(&"b".repeat(1_000_000))).await;
    assert_eq!(demo.post("alice", &replies, body("too soon")).await.0, 422);
    let edit = format!("{replies}/{}", post["postId"].as_str().unwrap());
    let moderator = demo.as_member("mod").await;
    assert_eq!(moderator.patch(&edit, &body("edited")).await.status, 200);
    let title = json!({ "title": "t".repeat(1_000_000), "body": "b" });
    posted("mod", &threads, title).await;

    let find = "SELECT username AS value FROM member WHERE id > 7 ORDER BY id LIMIT 1000";
    let names: Vec<String> = demo.query_values(find).await;
    let to: Vec<_> = names.iter().map(|name| format!("@{name}")).collect();
    assert_eq!(to.len(), 1_000);
    let message = json!({ "to": to, "subject": "Hi", "body": "there" });
    posted("bob", "/messages", message).await;
    let rating = json!({ "points": 1_000_000, "comment": "Thanks" });
    posted("admin", "/members/@bob/reputation", rating).await;
    let (status, hits) = demo.get("bob", "/search?q=edited&sort=relevance").await;
    assert_eq!((status, hits["items"].as_array().unwrap().len()), (200, 1));
}
