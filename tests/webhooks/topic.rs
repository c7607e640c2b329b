//! Topics, and the set of topics to which an endpoint subscribes.

use forum_api::webhook::{Topic, TopicSet, UnknownTopicError};
use proptest::prelude::*;

fn parse(text: &str) -> Result<TopicSet, UnknownTopicError> {
    text.parse()
}

#[test]
#[rustfmt::skip]
fn a_topic_is_words_with_dots_between() {
    let (longest, longer) = (format!("a.{}", "b".repeat(62)), format!("a.{}", "b".repeat(63)));
    for name in ["post.created", "ping", "a.b", "_._", "a.b.c_d", &longest] {
        assert_eq!(Topic::parse(name).unwrap().to_string(), name);
    }
    for name in [
        "", "post", ".", "a.", ".b", "a..b", "A.b", "a.b1", "a-b.c", "a.b ", "*", "pings", "ä.b", &longer,
    ] {
        assert_eq!(Topic::parse(name), None, "{name}");
    }
}

#[test]
fn a_star_is_every_topic_but_private_messages_and_pings() {
    let own = Topic::parse("badge.given").unwrap();
    for (text, expected) in [
        ("*", [true, true, false, false]),
        ("*,message.sent", [true, true, true, false]),
        ("post.created", [true, false, false, false]),
        ("post.created,message.sent", [true, false, true, false]),
        ("badge.given", [false, true, false, false]),
    ] {
        let topics = parse(text).unwrap();
        let asked = [
            &Topic::POST_CREATED,
            &own,
            &Topic::MESSAGE_SENT,
            &Topic::PING,
        ];
        assert_eq!(
            asked.map(|topic| topics.contains(topic)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_topic_set_is_parsed_and_formatted() {
    let (long, cut) = ("x".repeat(99), "x".repeat(64));
    for (text, expected) in [
        ("*", Ok("*")),
        ("post.created", Ok("post.created")),
        (
            "post.updated,post.created,post.updated",
            Ok("post.created,post.updated"),
        ),
        (" * , message.sent ", Ok("*,message.sent")),
        ("", Err("")),
        (" ", Err("")),
        ("post.created,", Err("")),
        ("*,ping", Err("ping")),
        ("post.created,Post.Deleted", Err("Post.Deleted")),
        ("**", Err("**")),
        (
            "post.created;post.deleted",
            Err("post.created;post.deleted"),
        ),
        (&long, Err(&cut)),
    ] {
        let parsed = parse(text).map(|topics| topics.to_string());
        let expected = expected.map(str::to_owned);
        assert_eq!(
            parsed,
            expected.map_err(|name| UnknownTopicError(name.into())),
            "{text}"
        );
    }
    let refused = UnknownTopicError("post.eaten".into()).to_string();
    assert_eq!(refused, "unknown topic \"post.eaten\"");
}

#[test]
fn a_board_sends_the_standard_topics_and_its_own() {
    let own = [Topic::parse("badge.given").unwrap()];
    let standard = Topic::STANDARD.map(|topic| topic.to_string()).join(",");
    for (text, own, refused) in [
        ("*", &own[..], None),
        (&standard, &[], None),
        ("badge.given,*", &own, None),
        ("badge.given", &[], Some("badge.given")),
        ("post.created,post.eaten", &own, Some("post.eaten")),
    ] {
        let checked = parse(text).unwrap().validated(own);
        assert_eq!(
            checked.err(),
            refused.map(|name| UnknownTopicError(name.into())),
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn a_topic_set_survives_formatting(text in "[*a-b_. ,]{0,12}") {
        if let Ok(topics) = parse(&text) {
            prop_assert_eq!(parse(&topics.to_string()), Ok(topics));
        }
    }
}
