//! The pages: the sign-in link, the topics that a rank sees, and the form.

use std::time::Duration;

use crate::fixture::run_with_postgres;
use crate::site::{Site, TOPIC, TextResponse};

/// Adds a topic to each section, the one of the last section with the latest activity.
const TOPICS: &str = "
    WITH added AS (
        INSERT INTO topic (section, subject, entries, active_at)
        SELECT id, 'About <' || title || '>', 1, club_now() + 60000 * id FROM section ORDER BY id
        RETURNING id
    )
    INSERT INTO entry (topic, number, writer, body)
    SELECT added.id, 1, member.id, 'Hello.' FROM added CROSS JOIN member";

const FORM: &str = "<form method=post><textarea name=body></textarea><button>Reply</button></form>";

fn header<'a>(response: &'a TextResponse, name: &str) -> &'a str {
    response.headers[name].to_str().unwrap()
}

#[test]
fn the_start_page_lists_the_topics_that_the_visitor_sees_by_their_activity() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        site.change(TOPICS, &[]).await;
        let staff = "<li>Staff: <a href=\"/topics/4\">About &lt;Staff&gt;</a>";
        let members = "<li>Members: <a href=\"/topics/3\">About &lt;Members&gt;</a>";
        let tea = "<li>Tea: <a href=\"/topics/2\">About &lt;Tea&gt;</a>\
                   <li>Tea: <a href=\"/topics/1\">Which tea?</a>";
        let page = |topics: &[&str]| {
            let list = topics.concat();
            format!("<!doctype html><title>Topics</title><h1>Topics</h1><ul>{list}</ul>")
        };
        assert_eq!(site.send_as_guest("GET", "/").await.text, page(&[tea]));
        for (change, topics) in [
            ("SELECT", &[members, tea][..]),
            ("UPDATE member SET rank = 2", &[staff, members, tea]),
            ("UPDATE member SET banned = true", &[tea]),
        ] {
            site.change(change, &[]).await;
            assert_eq!(site.open_page("/").await.text, page(topics), "{change}");
        }
    });
}

#[test]
fn a_topic_has_the_form_if_the_visitor_may_reply() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let page = |form: &str| {
            format!(
                "<!doctype html><title>Which tea?</title><h1>Which tea?</h1>\
                 <article id=\"1\"><h2>alice</h2><p>Green or black?</p></article>{form}"
            )
        };
        let guest = site.send_as_guest("GET", "/topics/1").await;
        assert_eq!(guest.text, page(""));
        for (change, form) in [
            ("SELECT", FORM),
            ("UPDATE topic SET locked = true", ""),
            ("UPDATE member SET rank = 3", FORM),
        ] {
            site.change(change, &[]).await;
            assert_eq!(site.open_page("/topics/1").await.text, page(form), "{change}");
        }
        let absent = site.open_page("/topics/17").await;
        assert_eq!(absent.status, 404);
        let text = "<!doctype html><title>Error</title><h1>Error</h1>Topic not found.";
        assert_eq!(absent.text, text);
    });
}

#[test]
fn a_member_signs_in_with_a_link_and_a_reply_leads_to_its_entry() {
    run_with_postgres(async {
        let site = Site::new(Duration::ZERO).await;
        let signed_in = site.send_as_guest("GET", &format!("/in/{}", site.session)).await;
        assert_eq!((signed_in.status.as_u16(), header(&signed_in, "location")), (303, "/"));
        let cookie = format!("session={}; Path=/; HttpOnly; SameSite=Lax", site.session);
        assert_eq!(header(&signed_in, "set-cookie"), cookie);
        let replied = site.submit_reply(TOPIC, "Green.").await;
        let location = header(&replied, "location");
        assert_eq!((replied.status.as_u16(), location), (303, "/topics/1#2"));
        let refused = site.send_as_guest("POST", "/topics/1").await;
        assert_eq!(refused.status, 401);
        let text = "<!doctype html><title>Please sign in</title><h1>Please sign in</h1>\
                    Follow the link that you were sent.";
        assert_eq!(refused.text, text);
    });
}
