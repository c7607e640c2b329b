//! What events are about, and what an endpoint is told of.

use forum_api::webhook::{Topic, Topics, UnknownTopic};
use proptest::prelude::*;

fn read(text: &str) -> Result<Topics, UnknownTopic> {
    text.parse()
}

#[test]
fn a_topic_is_words_with_dots_between() {
    for name in [
        "post.created",
        "ping",
        "a.b",
        "_._",
        "a.b.c_d",
        &format!("a.{}", "b".repeat(62)),
    ] {
        assert_eq!(Topic::new(name).unwrap().to_string(), name);
    }
    let long = format!("a.{}", "b".repeat(63));
    for name in [
        "", "post", ".", "a.", ".b", "a..b", "A.b", "a.b1", "a-b.c", "a.b ", "*", "pings", "ä.b",
        &long,
    ] {
        assert_eq!(Topic::new(name), None, "{name}");
    }
}

#[test]
fn a_star_is_everything_but_private_messages_and_pings() {
    let own = Topic::new("badge.given").unwrap();
    #[rustfmt::skip]
    let table = [
        ("*", [true, true, false, false]),
        ("*,message.sent", [true, true, true, false]),
        ("post.created", [true, false, false, false]),
        ("post.created,message.sent", [true, false, true, false]),
        ("badge.given", [false, true, false, false]),
    ];
    for (text, expected) in table {
        let topics = read(text).unwrap();
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
fn topics_are_written_as_they_are_read() {
    for (text, written) in [
        ("*", "*"),
        ("post.created", "post.created"),
        (
            "post.updated,post.created,post.updated",
            "post.created,post.updated",
        ),
        ("message.sent,*", "*,message.sent"),
        (" * , message.sent ", "*,message.sent"),
    ] {
        let topics = read(text).unwrap();
        assert_eq!(topics.to_string(), written, "{text}");
        assert_eq!(read(written), Ok(topics));
    }
}

#[test]
fn what_is_no_topic_is_named() {
    for (text, name) in [
        ("", ""),
        (" ", ""),
        ("post.created,", ""),
        ("ping", "ping"),
        ("*,ping", "ping"),
        ("post.created,Post.Deleted", "Post.Deleted"),
        ("**", "**"),
        ("post.created;post.deleted", "post.created;post.deleted"),
        (&"x".repeat(99), &"x".repeat(64)),
    ] {
        assert_eq!(read(text), Err(UnknownTopic(name.into())), "{text}");
    }
    let refused = UnknownTopic("post.eaten".into());
    assert_eq!(
        refused.to_string(),
        "there is no topic \"post.eaten\" to subscribe to"
    );
}

#[test]
fn a_board_sends_the_standard_topics_and_its_own() {
    let own = [Topic::new("badge.given").unwrap()];
    let standard = Topic::STANDARD.map(|topic| topic.to_string()).join(",");
    for (text, refused) in [
        ("*", None),
        (standard.as_str(), None),
        ("badge.given,*", None),
        ("badge.taken", Some("badge.taken")),
        ("post.created,post.eaten", Some("post.eaten")),
    ] {
        let topics = read(text).unwrap();
        let expected = refused.map_or(Ok(topics.clone()), |name| Err(UnknownTopic(name.into())));
        assert_eq!(topics.checked(&own), expected, "{text}");
    }
    assert!(read("badge.given").unwrap().checked(&[]).is_err());
}

proptest! {
    #[test]
    fn whatever_is_read_can_be_written_and_read_again(text in "[*a-b_. ,]{0,12}") {
        if let Ok(topics) = read(&text) {
            prop_assert_eq!(read(&topics.to_string()), Ok(topics));
        }
    }
}
