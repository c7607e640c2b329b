//! Properties of pure functions for arbitrary input.

use std::net::{IpAddr, Ipv4Addr};

use forum_api::model::*;
use forum_api::runtime::SeededRandom;
use forum_api::token::PlainToken;
use forum_api::{IpNet, client_ip};
use http::HeaderMap;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_generated_token_is_parsed_and_a_changed_one_is_not(seed: u64, place in 0..76_usize, letter in "[0-9A-Za-z_]") {
        let generated = PlainToken::generate(&SeededRandom::new(seed)).unwrap();
        let text = generated.expose_secret();
        let parsed = PlainToken::parse(text).unwrap();
        prop_assert_eq!(parsed.lookup(), generated.lookup());
        prop_assert_eq!(parsed.digest(), generated.digest());
        let mut other = text.to_owned();
        other.replace_range(place..=place, &letter);
        prop_assert_eq!(PlainToken::parse(&other).is_ok(), other == text);
    }

    #[test]
    fn other_texts_are_not_parsed_as_tokens(text in ".{0,90}") {
        prop_assert!(PlainToken::parse(&text).is_err());
    }

    #[test]
    fn a_search_query_keeps_its_terms_and_has_a_required_term(text in ".{0,220}") {
        let Ok(query) = SearchQuery::parse(&text) else {
            let short = text.chars().count() <= 200 && text.split_whitespace().count() <= SearchQuery::MAX_TERMS;
            let plain = short && !text.contains(['-', '"']);
            prop_assert!(!plain || !text.contains(char::is_alphanumeric), "{text:?} has words");
            return Ok(());
        };
        prop_assert!(text.chars().count() <= 200);
        prop_assert!(query.terms().iter().any(|term| !term.excluded));
        let mut rest = text.as_str();
        for term in query.terms() {
            prop_assert!(term.text.contains(char::is_alphanumeric));
            let (_, after) = rest.split_once(&term.text).unwrap();
            rest = after;
        }
        let sign = |excluded| if excluded { "-" } else { "" };
        let terms = query.terms().iter().map(|term| format!("{}\"{}\"", sign(term.excluded), term.text));
        let formatted = terms.collect::<Vec<_>>().join(" ");
        if formatted.chars().count() <= 200 {
            let again = SearchQuery::parse(&formatted);
            prop_assert_eq!(again.as_ref().map(SearchQuery::terms), Ok(query.terms()));
        }
    }

    #[test]
    fn a_client_cannot_forge_its_address(
        forged in "[0-9a-f.:%, \\[\\]]{0,40}", client in any::<Ipv4Addr>(), proxies in 0..3_usize,
    ) {
        let trusted = ["10.0.0.0/8".parse::<IpNet>().unwrap()];
        prop_assume!(!trusted[0].contains(&IpAddr::from(client)));
        let line = format!("{forged},{client}{}", ", 10.1.1.1".repeat(proxies));
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", line.parse().unwrap());
        prop_assert_eq!(client_ip([10, 0, 0, 1].into(), &headers, &trusted), client);
        let untrusted = [192, 0, 2, 1].into();
        prop_assert_eq!(client_ip(untrusted, &headers, &trusted), untrusted);
    }

    #[test]
    fn a_formatted_time_is_parsed_to_the_same_time(millis in -62_135_596_800_000..253_402_300_799_999_i64) {
        let time = Timestamp::from_millis(millis);
        prop_assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
    }
}

/// A host that calls its own methods, for example from a web form, builds their input.
#[test]
fn a_host_can_build_the_input_of_its_methods() {
    let mut new = NewThread::default();
    new.poll = Some(NewPoll::new("Which?", vec!["Green".into(), "Black".into()]));
    let mut update = PollUpdate::default();
    update.options = Some(vec![PollOptionUpdate::new(
        Some(OptionId::from(1)),
        "Green",
    )]);
    let search = List::new(SearchFilter::new(SearchQuery::parse("tea").unwrap()));
    #[rustfmt::skip]
    let inputs = [
        (format!("{new:?}"), "max_choices: 1, can_change_vote: false, closes_at: None"),
        (format!("{update:?}"), r#"PollOptionUpdate { option_id: Some(OptionId(1)), text: "Green" }"#),
        (format!("{:?}", NewPost::default()), r#"body: """#),
        (format!("{:?}", PostUpdate::default()), "expected_version: None"),
        (format!("{:?}", NewRating::default()), "points: 0"),
        (format!("{:?}", NewMessage::default()), "to: []"),
        (format!("{:?}", NewVote::default()), "option_ids: []"),
        (format!("{:?}", List::<ThreadFilter>::default()), "limit: PageLimit(20)"),
        (format!("{:?}", List::<PostFilter>::default()), "body: Both"),
        (format!("{:?}", List::<MessageFilter>::default()), "folder: Inbox"),
        (format!("{:?}", List::<SubscriptionFilter>::default()), "target: None"),
        (format!("{search:?}"), "sort: Relevance"),
    ];
    for (input, part) in inputs {
        assert!(input.contains(part), "{part} is not in {input}");
    }
}
