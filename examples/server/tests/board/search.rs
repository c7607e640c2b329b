//! Search: rules of the reference board beyond the conformance suite.

use forum_test_support::random::Random;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::demo::field_values;
use crate::prelude::*;

/// Returns the first 100 hits of `query`.
async fn hits(demo: &Demo, name: &'static str, query: &str) -> Value {
    let (status, page) = demo.get(name, &format!("/search?limit=100&{query}")).await;
    assert_eq!(status, 200, "{page}");
    page
}

const PARTS: &str = "上 海 東 タ ﾀ ข้ า 서 울 tea ＴＥＡ ， . é";

fn random_text(random: &mut Random, max_parts: usize) -> String {
    let parts: Vec<_> = PARTS.split(' ').chain([" ", " "]).collect();
    let parts = (0..=random.below(max_parts)).filter_map(|_| random.choose(&parts).copied());
    parts.collect()
}

/// The last text is longer than the default limit of Postgres for places of a word, and has a phrase only at its end.
#[tokio::test]
async fn searches_of_each_script_have_the_same_hits_on_both_databases() {
    let mut demos = Vec::new();
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        demo.set(settings::POST_INTERVAL.key, "0").await;
        demos.push(demo);
    }
    let mut random = Random::new(1);
    let mut texts: Vec<_> = (0..40).map(|_| random_text(&mut random, 12)).collect();
    texts.push("我家在上海东边，".repeat(2000) + "东京塔在海边");
    for demo in &demos {
        let threads = demo.threads_path("General").await;
        for pair in texts.chunks(2) {
            let title: String = pair[0].chars().take(100).collect();
            let new = json!({ "title": format!("t {title}"), "body": "x" });
            let (_, thread) = demo.post("alice", &threads, new).await;
            for text in pair {
                let reply = body(&format!("y {text}"));
                assert_eq!(demo.post("alice", &posts_path(&thread), reply).await.0, 201);
            }
            demo.advance(3600);
        }
    }
    let queries = (0..150).map(|number| {
        let mut terms = vec![random_text(&mut random, 3)];
        for _ in 0..random.below(3) {
            let text = random_text(&mut random, 3);
            terms.push(["", "-", "\"", "-\""][random.below(4)].to_owned() + &text + "\"");
        }
        let within = ["all", "titles", "posts"][number % 3];
        (terms.join(" "), within)
    });
    let long = ["东京塔", "在海边", "边，东京", "塔东"];
    let queries = queries.chain(long.map(|query| (query.to_owned(), "posts")));
    let mut found = 0;
    for (query, within) in queries {
        let q = utf8_percent_encode(&query, NON_ALPHANUMERIC);
        let path = format!("/search?limit=100&q={q}&in={within}");
        for demo in &demos {
            demo.advance(300);
        }
        let (_, one) = demos[0].get("guest", &path).await;
        let (_, other) = demos[1].get("guest", &path).await;
        assert_eq!(one["items"], other["items"], "{query} in {within}");
        let hits = one["items"].as_array().map_or(0, Vec::len);
        found += hits;
        if long.contains(&&*query) {
            assert_eq!(hits, usize::from(query != "塔东"), "{query}");
        }
    }
    assert!(found > 200, "{found}");
}

/// On Postgres the index is read in spans of ids, whose lengths depend on the number of matches.
#[tokio::test]
async fn frequent_matches_behind_many_posts_without_the_word_are_found_in_order() {
    let demo = Demo::new().await;
    let path = demo.tea_posts_path().await;
    let thread = path.split('/').nth(2).unwrap();
    let insert = format!(
        "INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
        WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 3100)
        SELECT {thread}, 1000 + n, 'visible', n, n, '', '', CASE WHEN n <= 2000 THEN 'nettle' ELSE 'clover' END FROM new"
    );
    demo.sql(insert.leak()).await;
    let ids = async |query: &str| -> Vec<i64> {
        let found = hits(&demo, "guest", query).await;
        let ids = field_values(&found, "postId").into_iter();
        ids.map(|id| id.parse().unwrap()).collect()
    };
    let last = ids("q=clover&sort=newest").await[0];
    let newest_nettle = last - 1100;
    let expected: Vec<i64> = (newest_nettle - 99..=newest_nettle).rev().collect();
    assert_eq!(ids("q=nettle&sort=newest").await, expected);
    let expected: Vec<i64> = (newest_nettle + 1..=newest_nettle + 100).collect();
    assert_eq!(ids("q=clover&sort=oldest").await, expected);
}

/// Most matches are in threads that an earlier page has listed, and many pages are short.
#[tokio::test]
async fn pages_of_threads_list_each_thread_once_and_are_not_empty() {
    let demo = Demo::new().await;
    let amount = ContentSize { members: 2, threads: 150, posts: 3000 };
    demo.generate(amount).await;
    for sort in ["newest", "oldest"] {
        let query = format!("/search?q=da&sort={sort}");
        let posts = demo.pages("alice", &format!("{query}&limit=100")).await;
        let mut threads = Vec::new();
        for thread in thread_ids(&posts) {
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        assert!(threads.len() > 100);
        for limit in [1, 3, 100] {
            let query = format!("{query}&show=threads&limit={limit}");
            let pages = demo.pages("alice", &query).await;
            assert_eq!(thread_ids(&pages), threads, "{sort} by {limit}");
            let is_empty = |page: &Value| page["items"] == json!([]);
            assert!(!pages.iter().any(is_empty), "{sort} by {limit}");
            if limit == 100 {
                assert_eq!(pages.len(), threads.len().div_ceil(100), "{sort}");
            }
        }
    }
}

/// Returns the threads of the hits of all pages.
fn thread_ids(pages: &[Value]) -> Vec<&str> {
    let pages = pages.iter();
    let ids = pages.flat_map(|page| field_values(page, "threadId"));
    ids.collect()
}

/// All posts except the first stay in the index.
#[tokio::test]
async fn a_thread_is_not_found_while_it_is_deleted() {
    let demo = Demo::new().await;
    let before = hits(&demo, "mod", "q=tea").await;
    let indexed = count_indexed(&demo).await;
    let tea = demo.tea_posts_path().await;
    let posts = demo.get("mod", &tea).await.1;
    let thread = posts["items"][0]["threadId"].clone();
    let [first, second, ..] = field_values(&posts, "postId")[..] else {
        panic!("{posts}");
    };
    let moderator = demo.as_member("mod").await;
    for post in [first, second] {
        let deleted = moderator.delete(&format!("{tea}/{post}")).await;
        assert_eq!(deleted.status, 204);
    }
    demo.restore(second.parse().unwrap()).await.unwrap();
    assert_eq!(count_indexed(&demo).await, indexed - 1);
    for sort in ["relevance", "newest", "oldest"] {
        for show in ["posts", "threads"] {
            let response = hits(&demo, "mod", &format!("q=tea&sort={sort}&show={show}")).await;
            let found = field_values(&response, "threadId");
            assert!(!found.is_empty() && found.iter().all(|found| thread != *found));
        }
    }
    demo.restore(first.parse().unwrap()).await.unwrap();
    assert_eq!(hits(&demo, "mod", "q=tea").await, before);
}

/// Returns the number of posts in the index.
async fn count_indexed(demo: &Demo) -> i64 {
    let sqlite = "SELECT count(*) AS value FROM post_text_docsize";
    let postgres = "SELECT count(*) AS value FROM post_text";
    demo.query_value(demo.for_backend(sqlite, postgres)).await
}

/// A restore of a backup leaves out ids, and so do operators.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_passes_over_gaps_between_ids() {
    let demo = Demo::in_postgres().await;
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let tea = demo.tea_posts_path().await;
    let client = demo.pool().get().await.unwrap();
    for bits in [0, 40, 62] {
        let leave_out = format!(
            "SELECT setval('post_id_seq', greatest(last_value, 1::BIGINT << {bits})) FROM post_id_seq"
        );
        client.batch_execute(&leave_out).await.unwrap();
        assert_eq!(demo.post("alice", &tea, body("nettle")).await.0, 201);
    }
    for sort in ["relevance", "newest", "oldest"] {
        let found = hits(&demo, "guest", &format!("q=nettle&sort={sort}")).await;
        assert_eq!(field_values(&found, "postId").len(), 3, "{sort}");
    }
}

/// The index contains a text up to the last word that ends within the limit. A longer first word is cut.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_cut_for_the_index_ends_at_a_word() {
    let demo = Demo::in_postgres().await;
    let pool = demo.pool();
    let text = prop::collection::vec("[a-c\u{e9}\u{8336}\u{20000}]{1,9}", 0..40);
    let texts = (text, 1..150_i32);
    let handle = tokio::runtime::Handle::current();
    let indexed_words = move |text: String, max: i32| -> Vec<String> {
        handle.block_on(async {
            let sql = "SELECT tsvector_to_array(placed($1, $2, '', 'C', 0)::TSVECTOR)";
            let client = pool.get().await.unwrap();
            client.query_one(sql, &[&text, &max]).await.unwrap().get(0)
        })
    };
    let check = move |(text, max): (Vec<String>, i32)| {
        let mut length = 0;
        let mut expected = BTreeSet::new();
        for word in &text {
            length += word.chars().count();
            if length > max as usize {
                break;
            }
            expected.insert(word.clone());
            length += 1;
        }
        let indexed = BTreeSet::from_iter(indexed_words(text.join(" "), max));
        if expected.is_empty() {
            expected.extend(text.first().map(|word| word.chars().take(max as usize + 1).collect()));
        }
        prop_assert_eq!(indexed, expected);
        Ok(())
    };
    let run = move || TestRunner::default().run(&texts, check);
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}

/// Title and body with the words that need the most bytes in the index of Postgres.
#[tokio::test]
async fn the_largest_texts_are_indexed() {
    let demo = Demo::new().await;
    for setting in [&settings::TITLE_MAX, &settings::BODY_MAX] {
        demo.set(setting.key, "1000000").await;
    }
    demo.set(settings::POST_INTERVAL.key, "0").await;
    let threads = demo.threads_path("General").await;
    let letters = |count: usize| -> String {
        let letters = ('\u{20000}'..='\u{2a6d0}').chain('\u{30000}'..='\u{31340}');
        let letters = letters.cycle().take(count);
        letters.flat_map(|letter| [letter, ' ']).collect()
    };
    let long_words = "\u{20000}".repeat(2_000) + " ";
    for (title, text) in [
        (letters(150_000), "short".to_owned()),
        (letters(26_000), letters(100_000)),
        (long_words.repeat(30), long_words.repeat(80)),
        ("x".repeat(400_000), "x".repeat(600_000)),
        ("x ".repeat(26_000), "x ".repeat(450_000)),
    ] {
        let new = json!({ "title": title.trim_end(), "body": text.trim_end() });
        let (status, thread) = demo.post("alice", &threads, new).await;
        assert_eq!(status, 201, "{thread}");
    }
}
