//! Topics and topic sets.

use forum_api::webhook::{Topic, TopicSet, UnknownTopicError};

fn parse(text: &str) -> Result<TopicSet, UnknownTopicError> {
    text.parse()
}

#[test]
#[rustfmt::skip]
fn a_topic_is_words_separated_by_dots() {
    let longest = format!("a.{}", "b".repeat(62));
    let longer = format!("a.{}", "b".repeat(63));
    for name in ["post.created", "ping", "a.b", "_._", "a.b.c_d", &longest] {
        assert_eq!(Topic::parse(name).unwrap().to_string(), name);
    }
    for name in [
        "", "post", ".", "a.", ".b", "a..b", "A.b", "a.b1", "a-b.c", "a.b ", "*", "pings", "ä.b", &longer,
    ] {
        assert!(Topic::parse(name).is_err(), "{name}");
    }
}

#[test]
fn a_star_includes_all_topics_except_private_messages_and_pings() {
    let own = Topic::from_static("badge.given");
    for (text, expected) in [
        ("*", [true, true, false, false]),
        ("*,message.sent", [true, true, true, false]),
        ("post.created", [true, false, false, false]),
        ("post.created,message.sent", [true, false, true, false]),
        ("badge.given", [false, true, false, false]),
    ] {
        let topics = parse(text).unwrap();
        let contained = [&Topic::POST_CREATED, &own, &Topic::MESSAGE_SENT, &Topic::PING]
            .map(|topic| topics.contains(topic));
        assert_eq!(contained, expected, "{text}");
    }
}

#[test]
fn a_topic_set_is_parsed_and_formatted() {
    let long = "x".repeat(99);
    let cut = "x".repeat(64);
    for (text, expected) in [
        ("*", Ok("*")),
        ("post.created", Ok("post.created")),
        ("poll.voted,poll.updated,poll.voted", Ok("poll.updated,poll.voted")),
        (" * , message.sent ", Ok("*,message.sent")),
        ("", Err("")),
        (" ", Err("")),
        ("post.created,", Err("")),
        ("*,ping", Err("ping")),
        ("post.created,Post.Deleted", Err("Post.Deleted")),
        ("**", Err("**")),
        ("poll.voted;ping", Err("poll.voted;ping")),
        (&long, Err(&cut)),
    ] {
        let parsed = parse(text).map(|topics| topics.to_string());
        let result = parsed.as_deref().map_err(UnknownTopicError::name);
        assert_eq!(result, expected, "{text}");
    }
}
