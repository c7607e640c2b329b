//! Adding an endpoint, and the actions of an endpoint.

use std::time::Duration;

use forum_api::panel::PanelSettings;
use forum_api::runtime::Clock as _;
use forum_api::store::EndpointStats;
use forum_api::test_util::{Intervention, audit_entry};
use forum_api::webhook::{DeliveryState, Endpoint};
use forum_test_support::thread_log;
use tokio::time::{Instant, sleep};

use crate::fixture::{PanelFixture, Response};

impl PanelFixture {
    async fn stored_endpoint(&self) -> Option<Endpoint> {
        let id = self.endpoint_id();
        self.webhooks.find_endpoint(&id).await.unwrap()
    }

    /// Sends the form of an action and follows its redirect.
    async fn run_action(&self, action: &str) -> (u16, Response) {
        self.post_and_follow(&self.endpoint_path(action)).await
    }
}

#[tokio::test]
async fn an_endpoint_is_added_and_its_secret_shown_once() {
    let fixture = PanelFixture::new().await;
    let form = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", ""),
        ("topics", "*"),
        ("topics", "message.sent"),
        ("secret", ""),
    ];
    let added = fixture.post_confirmed("/panel/webhooks", &form).await;
    assert_eq!(added.status, 200);
    assert!(added.after("whsec_").len() == 43 && added.contains("aria-readonly=\"true\""));
    let stored = &fixture.webhooks.list_endpoints().await.unwrap()[0];
    assert_eq!(stored.topics.to_string(), "*,message.sent");
    assert_eq!(stored.owner, 1.into());
    let list = fixture.get("/panel/webhooks").await;
    assert!(list.contains("https://93.184.215.14/hook") && !list.contains("whsec_"));
}

#[tokio::test]
async fn each_invalid_field_is_marked() {
    let fixture = PanelFixture::new().await;
    let valid = [
        ("url", "https://93.184.215.14/hook"),
        ("owner", "alice"),
        ("topics", "*"),
        ("secret", "a secret of 16 characters"),
    ];
    for (field, text) in [
        ("url", "no-url"),
        ("url", "http://127.0.0.1/"),
        ("owner", "missing"),
        ("topics", "no.such"),
        ("topics", "a,b"),
        ("secret", "short"),
    ] {
        let form = valid.map(|(name, value)| (name, if name == field { text } else { value }));
        let page = fixture.post_confirmed("/panel/webhooks", &form).await;
        assert!(page.marks(field), "{field} {text}");
        assert!(!page.contains("value=\"a secret") && !page.contains("\"short\""));
    }
    let no_topics = fixture.post_confirmed("/panel/webhooks", &valid[..2]).await;
    assert!(no_topics.marks("topics"));
    assert!(fixture.webhooks.list_endpoints().await.unwrap().is_empty());
    let without_password = [("url", "no-url"), ("topics", "*")];
    let page = fixture.post("/panel/webhooks", &without_password).await;
    assert!(page.marks("url") && page.marks("password"));
}

/// Values of the form "Save changes".
const CHANGED: [(&str, &str); 4] = [
    ("url", "https://93.184.215.14/new?key=secret"),
    ("owner", "alice"),
    ("topics", "post.created"),
    ("topics", "poll.voted"),
];

#[tokio::test]
async fn url_owner_and_topics_are_changed_together() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.endpoint_path("");
    let saved = fixture.post_confirmed(&path, &CHANGED).await;
    let page = fixture.get(saved.header("location")).await;
    let url = "value=\"https://93.184.215.14/new?key=secret\"";
    page.expect(&["Changes saved.", url, "value=\"alice\""]);
    assert!(page.contains("value=\"poll.voted\" checked") && !page.contains("value=\"*\" checked"));
    let stored = fixture.stored_endpoint().await.unwrap();
    assert_eq!(stored.url, "https://93.184.215.14/new?key=secret");
    assert_eq!(stored.owner, 2.into());
    assert_eq!(stored.topics.to_string(), "poll.voted,post.created");
    let log = fixture.get("/panel/audit?action=endpoint.updated").await;
    let details = "owner alice; topics poll.voted,post.created; url https://93.184.215.14/new";
    assert!(log.contains(details));
    let again = fixture.post_confirmed(&path, &CHANGED).await;
    assert_eq!(again.status, 303);
    assert_eq!(fixture.stored_endpoint().await.unwrap(), stored);
}

#[tokio::test]
async fn an_outdated_form_does_not_undo_another_change() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.endpoint_path("");
    let opened = fixture.get(&path).await;
    let owner = opened.after("name=\"opened_owner\" value=\"").to_owned();
    let before = fixture.stored_endpoint().await.unwrap();
    fixture.post_confirmed(&path, &CHANGED).await;
    let topics = before.topics.to_string();
    let stale = [
        ("opened_url", before.url.as_str()),
        ("opened_owner", &owner),
        ("opened_topics", &topics),
        ("url", "https://93.184.215.14/newer"),
        ("owner", &owner),
        ("topics", &topics),
    ];
    assert_eq!(fixture.post_confirmed(&path, &stale).await.status, 303);
    let stored = fixture.stored_endpoint().await.unwrap();
    assert_eq!(stored.url, "https://93.184.215.14/newer");
    assert_eq!(stored.owner, 2.into());
    assert_eq!(stored.topics.to_string(), "poll.voted,post.created");
}

#[tokio::test]
async fn an_invalid_change_is_shown_with_the_entered_values() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.stored_endpoint().await;
    let path = fixture.endpoint_path("");
    for (field, text) in [
        ("url", ""),
        ("url", "http://127.0.0.1/"),
        ("owner", ""),
        ("owner", "missing"),
        ("topics", "no.such"),
    ] {
        let form = CHANGED.map(|(name, value)| (name, if name == field { text } else { value }));
        let page = fixture.post_confirmed(&path, &form).await;
        assert!(page.marks(field), "{field} {text}");
        assert!(field == "topics" || page.contains(&format!("value=\"{text}\"")));
        assert!(field == "owner" || page.contains("value=\"alice\""));
    }
    let page = fixture.post_confirmed(&path, &CHANGED[..2]).await;
    assert!(page.marks("topics"));
    let without_password = [("url", "no-url"), ("owner", "alice"), ("topics", "*")];
    let page = fixture.post(&path, &without_password).await;
    assert!(page.marks("url") && page.marks("password"));
    assert_eq!(fixture.stored_endpoint().await, before);
}

#[tokio::test]
async fn adding_an_endpoint_requires_the_password() {
    let fixture = PanelFixture::new().await;
    let url = "https://93.184.215.14/hook";
    for password in ["", "wrong"] {
        let form = [("url", url), ("topics", "*"), ("password", password)];
        let page = fixture.post("/panel/webhooks", &form).await;
        assert!(page.marks("password"));
        assert!(page.contains(&format!("value=\"{url}\"")));
        assert!(!page.contains("value=\"wrong\"") && !page.contains("whsec_"));
    }
    assert!(fixture.webhooks.list_endpoints().await.unwrap().is_empty());
}

#[tokio::test]
async fn only_a_change_of_url_or_owner_requires_the_password() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.endpoint_path("");
    let before = fixture.stored_endpoint().await.unwrap();
    let opened = fixture.get(&path).await;
    assert!(opened.contains("Required to change the URL or the owner."));
    let owner = opened.after("name=\"opened_owner\" value=\"").to_owned();
    let unchanged = [
        ("opened_url", before.url.as_str()),
        ("opened_owner", owner.as_str()),
        ("opened_topics", "*"),
        ("url", before.url.as_str()),
        ("owner", owner.as_str()),
        ("topics", "post.created"),
    ];
    for (field, text) in [("url", "https://93.184.215.14/new"), ("owner", "alice")] {
        let form = unchanged.map(|(name, value)| (name, if name == field { text } else { value }));
        for password in ["", "wrong"] {
            let form = [&form[..], &[("password", password)]].concat();
            let page = fixture.post(&path, &form).await;
            assert!(page.marks("password"));
            assert!(page.contains(&format!("value=\"{text}\"")), "{field}");
        }
    }
    assert_eq!(fixture.stored_endpoint().await.unwrap(), before);
    assert_eq!(fixture.post(&path, &unchanged).await.status, 303);
    let stored = fixture.stored_endpoint().await.unwrap();
    assert_eq!(stored.topics.to_string(), "post.created");
}

#[tokio::test]
async fn wrong_passwords_of_tokens_and_endpoints_have_one_limit() {
    let fixture = PanelFixture::with_content().await;
    let before = fixture.snapshot().await;
    for _ in 0..2 {
        fixture.issue(&[("password", "wrong")]).await;
    }
    let add = [("url", "https://93.184.215.14/"), ("topics", "*")];
    let wrong = [("password", "wrong")];
    let page = fixture.endpoint_path("");
    let forms = [("/panel/webhooks", &add[..]), (&page, &CHANGED)];
    for (path, form) in [forms[0], forms[1], forms[0]] {
        assert_eq!(fixture.post(path, &[form, &wrong].concat()).await.status, 422);
    }
    for (path, form) in forms {
        let locked = fixture.post_confirmed(path, form).await;
        assert_eq!((locked.status, locked.header("retry-after")), (429, "300"));
        assert!(locked.contains("too many incorrect passwords. Try again in 5 minutes."));
    }
    assert_eq!(fixture.issue(&[]).await.status, 429);
    assert_eq!(fixture.snapshot().await, before);
}

#[tokio::test]
async fn the_list_shows_the_results_of_each_endpoint() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get("/panel/webhooks").await;
    assert!(page.contains("failing</span> <small>since <time") && !page.contains("abled</span>"));
    assert!(page.contains("<small>500</small>") && page.contains("0 of 1"));
    assert!(page.contains(&format!("href=\"{}\"", fixture.delivery_path(""))));
    fixture.queue(2).await;
    fixture.end_attempt(DeliveryState::Delivered).await;
    let page = fixture.get("/panel/webhooks").await;
    assert!(page.contains("enabled</span>") && !page.contains("failing</span>"));
    assert!(page.contains("50\u{a0}%") && page.contains("1 of 2"));
    fixture.interceptor.take_counts();
    fixture.get("/panel/webhooks").await;
    let counts = fixture.interceptor.take_counts();
    assert_eq!(counts["deliveries.endpoint_stats"], 1);
    fixture.clock.advance(Duration::from_secs(24 * 60 * 60));
    let page = fixture.get("/panel/webhooks").await;
    assert!(page.contains("no results") && page.contains("1 day ago"));
}

#[tokio::test(start_paused = true)]
async fn failing_endpoints_are_listed_first_and_endpoints_are_filtered() {
    let mut fixture = PanelFixture::with_content().await;
    let form = [
        ("url", "https://93.184.215.14/Other"),
        ("topics", "poll.voted"),
        ("topics", "post.created"),
    ];
    let added = fixture.post_confirmed("/panel/webhooks", &form).await;
    let failing = fixture.endpoint.clone();
    let other = added.added_endpoint();
    let listed = async |fixture: &PanelFixture, query: &str| {
        let page = fixture.get(&format!("/panel/webhooks{query}")).await;
        let links = page.body.split("<a href=\"/panel/webhooks/whe_").skip(1);
        let ids = links.map(|link| format!("whe_{}", link.split('"').next().unwrap()));
        let is_empty = page.contains("No endpoints match these filters.");
        let ids: Vec<_> = ids.collect();
        assert_eq!(is_empty, ids.is_empty(), "{query}");
        ids
    };
    for (query, expected) in [
        ("", &[&failing, &other][..]),
        ("?state=failing", &[&failing]),
        ("?state=unknown", &[&failing, &other]),
        ("?search=+OTHER", &[&other]),
        ("?search=poll.voted", &[&other]),
        ("?search=BOB", &[&failing]),
        ("?search=admin&state=failing", &[]),
    ] {
        let expected: Vec<_> = expected.iter().map(|id| id.to_string()).collect();
        assert_eq!(listed(&fixture, query).await, expected, "{query}");
    }
    fixture.queue(1).await;
    fixture.end_attempt(DeliveryState::Delivered).await;
    fixture.endpoint = other.clone();
    let ping = format!("/panel/webhooks/{other}/ping");
    fixture.post(&ping, &[]).await;
    fixture.end_attempt(DeliveryState::Dead).await;
    assert_eq!(listed(&fixture, "").await, [other, failing]);
    let page = fixture.get("/panel/webhooks").await;
    assert!(page.contains("<small>all topics</small>"));
    assert!(page.contains("<summary>2 topics</summary><small>poll.voted, post.created</small>"));
}

#[tokio::test]
async fn the_list_has_the_form_that_adds_an_endpoint_while_there_are_fewer_than_ten() {
    let fixture = PanelFixture::with_content().await;
    for (count, has_form) in [(9, true), (10, false)] {
        let repeat =
            move |endpoints: &mut Vec<Endpoint>| *endpoints = vec![endpoints[0].clone(); count];
        fixture.interceptor.on_result("endpoints.list", repeat);
        let page = fixture.get("/panel/webhooks").await;
        assert_eq!(page.body.matches("data-label=\"Endpoint\"").count(), count);
        assert_eq!(page.contains("name=\"password\""), has_form, "{count}");
    }
}

#[tokio::test]
async fn an_endpoint_without_a_response_or_without_attempts_has_no_status() {
    let fixture = PanelFixture::with_content().await;
    for (last, shown) in [(true, "<small>no response</small>"), (false, "no stored attempts")] {
        fixture.interceptor.on_result(
            "deliveries.endpoint_stats",
            move |stats: &mut Vec<EndpointStats>| {
                stats[0].last = stats[0].last.take().filter(|_| last);
                if let Some(attempt) = &mut stats[0].last {
                    attempt.status = None;
                }
                (stats[0].delivered, stats[0].failed) = (1_999, 1);
            },
        );
        let page = fixture.get("/panel/webhooks").await;
        page.expect(&[shown, "<div>99\u{a0}% <small>1,999 of 2,000</small></div>"]);
    }
}

#[tokio::test]
async fn results_that_cannot_be_loaded_are_unknown() {
    let fixture = PanelFixture::with_content().await;
    fixture.interceptor.on_call(|method, _| match method {
        "deliveries.endpoint_stats" => Intervention::Fail,
        _ => Intervention::Proceed,
    });
    thread_log::record();
    let page = fixture.get("/panel/webhooks").await;
    let log = thread_log::take();
    assert!(log.contains("failed to load delivery statistics"), "{log}");
    assert_eq!(page.body.matches(">unknown<").count(), 2);
    assert!(!page.contains("no results") && !page.contains("no stored attempts"));
}

#[tokio::test]
async fn an_endpoint_that_was_disabled_after_failures_is_marked() {
    let fixture = PanelFixture::with_content().await;
    let id = fixture.endpoint_id();
    let now = fixture.clock.now();
    let endpoints = fixture.webhooks.endpoints();
    let audit = audit_entry();
    let disabled = endpoints.disable_if_failing(&id, Duration::ZERO, now, &audit).await;
    assert!(disabled.unwrap());
    for path in ["/panel/webhooks", &fixture.endpoint_path("")] {
        let page = fixture.get(path).await;
        page.expect(&["disabled after failures</span> <small>failing since <time"]);
    }
    fixture.run_action("/enable").await;
    let page = fixture.get("/panel/webhooks").await;
    page.expect(&["enabled</span>"]);
    assert!(!page.contains("failures"), "{}", page.body);
}

#[tokio::test(start_paused = true)]
async fn a_sent_delivery_waits_for_its_result_up_to_ten_seconds() {
    use DeliveryState::{Delivered, Gone, Retrying};
    for (state, expected) in [
        (Delivered, "delivered. The endpoint responded with 500."),
        (Retrying, "failed. The endpoint responded with 500."),
        (Gone, "failed."),
    ] {
        let fixture = PanelFixture::with_content().await;
        let retry = fixture.delivery_path("/retry");
        fixture.post_and_follow(&retry).await;
        fixture.end_attempt(Retrying).await;
        for (path, topic, what) in [
            (fixture.endpoint_path("/ping"), "", "Ping"),
            (fixture.endpoint_path("/example"), "post.created", "Event"),
            (fixture.delivery_path("/retry"), "", "Ping"),
        ] {
            fixture.clock.advance(Duration::from_secs(1));
            let began = Instant::now();
            let worker = async {
                sleep(Duration::from_millis(8_450)).await;
                fixture.end_attempt(state).await;
            };
            let form = [("topic", topic)];
            let sent = fixture.send_and_follow(&path, &form);
            let ((status, page), ()) = tokio::join!(sent, worker);
            let expected = format!("{what} {expected}");
            let is_shown = status == 303 && page.contains(&expected);
            assert!(is_shown, "{state:?} {path}");
            let is_fast = began.elapsed() < Duration::from_millis(8_700);
            assert!(is_fast, "{state:?} {path}");
        }
    }
    let fixture = PanelFixture::with_content().await;
    let began = Instant::now();
    let (status, page) = fixture.run_action("/ping").await;
    assert!(status == 303 && page.contains("Ping queued.") && page.contains("queued</span>"));
    let waited = began.elapsed();
    assert!((Duration::from_secs(10)..Duration::from_millis(10_500)).contains(&waited));
}

#[tokio::test(start_paused = true)]
async fn an_example_of_each_topic_can_be_sent() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert!(page.contains("<option>message.sent</option>") && page.contains(">Send example<"));
    page.expect(&["<select class=\"choice\" id=\"topic\" name=\"topic\">"]);
    let example = fixture.endpoint_path("/example");
    let rated = [("topic", "member.rated")];
    let (_, page) = fixture.send_and_follow(&example, &rated).await;
    assert!(page.contains("&quot;example&quot;: true,") && page.contains("&quot;ratingId&quot;"));
    let unknown = [("topic", "no.topic")];
    let (status, page) = fixture.send_and_follow(&example, &unknown).await;
    assert!(status == 409 && page.contains("unknown topic"));
}

#[tokio::test]
async fn a_stale_page_does_not_activate_the_secret_of_a_later_rotation() {
    let fixture = PanelFixture::with_content().await;
    let path = fixture.endpoint_path("/activate");
    let stale = fixture.get(&fixture.endpoint_path("")).await;
    fixture.clock.advance(Duration::from_millis(1));
    fixture.post(&fixture.endpoint_path("/rotate"), &[]).await;
    let rotated = fixture.stored_endpoint().await;
    let stale = [("activates_at", stale.after("name=\"activates_at\" value=\""))];
    let outdated = "The form is outdated.";
    for (form, reason) in [
        (&stale[..], "replaced by another rotation"),
        (&[], outdated),
        (&[("activates_at", "x")], outdated),
    ] {
        let page = fixture.post_confirmed(&path, form).await;
        assert!(page.status == 409 && page.contains(reason), "{form:?}");
        assert_eq!(fixture.stored_endpoint().await, rotated, "{form:?}");
    }
    // Other changes of the endpoint do not affect the form.
    let page = fixture.get(&fixture.endpoint_path("")).await;
    let hint = "Events that occur while the endpoint is disabled are not sent to it, even after you enable it.";
    assert!(!page.contains(hint));
    let (_, disabled) = fixture.run_action("/disable").await;
    assert!(disabled.contains("Endpoint disabled.") && !disabled.contains("/ping\""));
    disabled.expect(&[hint, ">Enable<"]);
    let form = [("activates_at", page.after("name=\"activates_at\" value=\""))];
    let response = fixture.post_confirmed(&path, &form).await;
    assert_eq!(response.status, 303);
    let page = fixture.get(response.header("location")).await;
    assert!(page.contains("The new secret is active.") && !page.contains("activates_at"));
    page.expect(&["<p>Rotating creates a new secret and shows it once. Deliveries are signed with the old secret until you activate the new one, or until 24 hours have passed.</p>"]);
}

/// The worker signs with the secret at once.
#[tokio::test]
async fn a_secret_whose_rotation_was_written_by_a_clock_that_was_ahead_is_not_pending() {
    let fixture = PanelFixture::with_content().await;
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert!(page.contains("Another rotation replaces it"), "{page:?}");
    let now = fixture.clock.now();
    fixture.clock.advance(Duration::from_secs(3 * 24 * 60 * 60));
    fixture.post_confirmed(&fixture.endpoint_path("/rotate"), &[]).await;
    fixture.clock.set(now);
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert!(page.contains("Rotate secret") && !page.contains("activates_at"), "{page:?}");
}

#[tokio::test]
async fn an_endpoint_is_removed_with_its_deliveries() {
    let fixture = PanelFixture::with_content().await;
    let (status, page) = fixture.run_action("/remove").await;
    assert!(status == 303 && page.contains("Endpoint deleted"));
    assert!(fixture.stored_endpoint().await.is_none() && fixture.state().await.is_none());
    for action in ["remove", "rotate", "activate", "enable", "disable", "ping", "retry-dead"] {
        let action = &format!("/{action}");
        assert_eq!(fixture.run_action(action).await.0, 404, "{action}");
    }
    let page = fixture.get(&fixture.endpoint_path("")).await;
    assert_eq!(page.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_ping_without_a_result_is_shown_within_the_request_timeout() {
    let mut fixture = PanelFixture::with_content().await;
    let mut settings = PanelSettings::default();
    settings.request_timeout = Duration::from_millis(500);
    let node = fixture.node_builder().settings(settings);
    fixture.panel = node.build().unwrap();
    let ping = fixture.endpoint_path("/ping");
    let (status, page) = fixture.post_and_follow(&ping).await;
    assert_eq!(status, 303);
    assert!(page.contains("Ping queued. There is no result yet."));
}
