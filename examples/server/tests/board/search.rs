//! Search: rules of the reference board beyond the conformance suite.

use forum_test_support::random::Random;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::demo::field_values;
use crate::prelude::*;

/// Returns the first 100 hits of `query`.
async fn find_hits(demo: &Demo, name: &'static str, query: &str) -> Value {
    let (status, page) = demo.get(name, &format!("/search?limit=100&{query}")).await;
    assert_eq!(status, 200, "{page}");
    page
}

/// Spaces are more frequent than other parts.
const PARTS: [&str; 16] =
    ["上", "海", "東", "タ", "ﾀ", "ข้", "า", "서", "울", "tea", "ＴＥＡ", "，", ".", "é", " ", " "];

fn random_text(random: &mut Random, max_parts: usize) -> String {
    (0..=random.below(max_parts)).filter_map(|_| random.choose(&PARTS).copied()).collect()
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

/// Words that are required, and whether they are a phrase; the excluded word.
type PlainQuery = (&'static [&'static str], bool, Option<&'static str>);

/// Returns the score in millionths of a post with these words; `None` if it does not match.
fn plain_score(
    (required, is_phrase, excluded): PlainQuery,
    title: &str,
    body: &str,
) -> Option<f64> {
    let texts = [title, body].map(|text| text.split(' ').collect::<Vec<_>>());
    let has = |words: &[&str]| {
        texts.iter().any(|text| text.windows(words.len()).any(|part| part == words))
    };
    let has_required =
        if is_phrase { has(required) } else { required.iter().all(|word| has(&[word])) };
    if !has_required || excluded.is_some_and(|word| has(&[word])) {
        return None;
    }
    let weight = |word: &&str| {
        let count = |text: &[&str]| text.iter().filter(|found| *found == word).count();
        let weights = std::iter::repeat_n(1.0, count(&texts[0]))
            .chain(std::iter::repeat_n(0.2, count(&texts[1])));
        weights.take(256).zip(1..).map(|(weight, n)| weight / f64::from(n * n)).sum::<f64>()
            / 1.644_934
    };
    let words = BTreeSet::from_iter(required);
    let mean = words.iter().map(|word| weight(word)).sum::<f64>() / words.len() as f64;
    Some(mean * 1e6 / (1.0 + body.len() as f64 / 400.0).sqrt())
}

#[tokio::test]
async fn the_newest_matches_are_ordered_by_score() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        let amount = ContentSize { members: 5, threads: 300, posts: 2500 };
        demo.generate(amount).await;
        let select = "
            SELECT post.id || '|' || CASE post.number WHEN 1 THEN thread.title_words ELSE '' END || '|' || post.body_words AS value
            FROM post JOIN thread ON thread.id = post.thread_id
            WHERE post.state = 'visible' AND thread.state = 'visible' ORDER BY post.id DESC";
        let texts: Vec<String> = demo.query_values(select).await;
        for (q, query) in [
            ("da", (&["da"][..], false, None)),
            ("fa+da", (&["da", "fa"], false, None)),
            ("da+-fa", (&["da"], false, Some("fa"))),
            ("%22da+fa%22", (&["da", "fa"], true, None)),
            ("%22da+fa+da%22+-ga", (&["da", "fa", "da"], true, Some("ga"))),
            ("da+fa+ga+ka", (&["da", "fa", "ga", "ka"], false, None)),
        ] {
            let scores = texts.iter().filter_map(|text| {
                let [id, title, body] = text.split('|').collect::<Vec<_>>().try_into().unwrap();
                Some((id.to_owned(), plain_score(query, title, body)?))
            });
            let plain: HashMap<String, f64> = scores.take(1000).collect();
            let pages = demo.pages("admin", &format!("/search?limit=100&q={q}")).await;
            let hits: Vec<(f64, i64)> = pages
                .iter()
                .flat_map(|page| page["items"].as_array().unwrap())
                .map(|hit| (hit["score"].as_f64().unwrap(), number(&hit["postId"])))
                .collect();
            assert_eq!(hits.len(), plain.len(), "{q}");
            assert!(hits.is_sorted_by(|better, worse| better > worse), "{q}");
            for (score, post) in hits {
                let expected = plain[&post.to_string()];
                assert!((score * 1e6 - expected).abs() < 3.0, "{q} in {post}: {score}, {expected}");
            }
        }
    }
}

/// A clock that was 18 hours ahead has left its time in one forum.
#[tokio::test]
async fn times_of_a_clock_that_was_ahead_in_one_forum_hide_no_posts_of_others() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        demo.advance(12 * 60 * 60);
        let mut threads = Vec::new();
        for (name, forum, ahead) in [("alice", "General", 18), ("bob", "Help", 0)] {
            let newest = 1_767_225_600_000_i64 + (12 + ahead) * 60 * 60 * 1000;
            demo.sql(&format!("UPDATE forum_count SET newest_at = {newest}")).await;
            let new = json!({ "title": "okapi", "body": "okapi" });
            let created = demo.post(name, &demo.threads_path(forum).await, new).await.1;
            threads.push(created["threadId"].as_str().unwrap().to_owned());
        }
        let [ahead, right] = threads.try_into().unwrap();
        for (when, expected) in [
            ("24h", &[&right, &ahead][..]),
            ("2026-01-01..", &[&right, &ahead]),
            ("..2026-01-02", &[&right]),
            ("2026-01-01..2026-01-02", &[&right]),
            ("2026-01-02..2026-01-03", &[&ahead]),
            ("..2026-01-03", &[&right, &ahead]),
        ] {
            let hits = find_hits(&demo, "alice", &format!("q=okapi&sort=newest&when={when}")).await;
            assert_eq!(field_values(&hits, "threadId"), expected, "{when}");
        }
    }
}

/// The phrase is in none of the posts that have its words.
#[tokio::test]
async fn a_search_ends_early_and_goes_on_with_the_next_page() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        let path = demo.tea_posts_path().await;
        let thread = thread_in(&path);
        let insert = format!(
            "INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
            WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 50000)
            SELECT {thread}, 1000 + n, 'visible', n, n, '', '', CASE WHEN n % 10000 = 1 THEN 'green nettle' ELSE 'nettle green' END
            FROM new"
        );
        demo.sql(&insert).await;
        let last =
            "UPDATE thread SET last_number = 51000, last_post_id = (SELECT max(id) FROM post)";
        demo.sql(last).await;
        for (query, hits) in [
            ("sort=newest", 5),
            ("sort=oldest", 5),
            ("sort=relevance", 5),
            ("sort=newest&show=threads", 1),
            ("sort=oldest&show=threads", 1),
            ("sort=relevance&show=threads", 1),
        ] {
            demo.advance(3600);
            let path = format!("/search?q=%22green+nettle%22&{query}");
            let pages = demo.pages_of_long_search(&path).await;
            let found: usize = pages.iter().map(|page| field_values(page, "postId").len()).sum();
            assert_eq!(found, hits, "{query}");
            assert!((2..=6).contains(&pages.len()), "{} pages of {query}", pages.len());
        }
    }
}

/// On SQLite a page reads the newest candidates of all forums before it restricts the search to the forum.
#[tokio::test]
async fn each_page_of_a_search_in_a_small_forum_ranks_the_same_matches() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        demo.set(settings::MAX_RANKED_MATCHES.key, "2000").await;
        let path = demo.tea_posts_path().await;
        let thread = thread_in(&path);
        let new = json!({ "title": "tea", "body": "tea" });
        let created = demo.post("bob", &demo.threads_path("Help").await, new).await.1;
        let small = created["threadId"].as_str().unwrap();
        let insert = format!(
            "INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
            WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 40000)
            SELECT CASE n % 500 WHEN 0 THEN {small} ELSE {thread} END, 1000 + n, 'visible', n, n, '', '', 'nettle' FROM new"
        );
        demo.sql(&insert).await;
        let forum = created["forumId"].as_str().unwrap();
        let path = format!("/search?q=nettle&sort=relevance&forum={forum}");
        let pages = demo.pages("guest", &path).await;
        let found: Vec<_> = pages.iter().flat_map(|page| field_values(page, "postId")).collect();
        assert_eq!((found.len(), BTreeSet::from_iter(&found).len()), (80, 80));
    }
}

/// On Postgres the index is read in spans of ids, whose lengths depend on the number of matches.
#[tokio::test]
async fn frequent_matches_behind_many_posts_without_the_word_are_found_in_order() {
    let demo = Demo::new().await;
    let path = demo.tea_posts_path().await;
    let thread = thread_in(&path);
    let insert = format!(
        "INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
        WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 3100)
        SELECT {thread}, 1000 + n, 'visible', n, n, '', '', CASE WHEN n <= 2000 THEN 'nettle' ELSE 'clover' END FROM new"
    );
    demo.sql(insert.leak()).await;
    let ids = async |query: &str| -> Vec<i64> {
        let found = find_hits(&demo, "guest", query).await;
        field_values(&found, "postId").into_iter().map(|id| id.parse().unwrap()).collect()
    };
    let last = ids("q=clover&sort=newest").await[0];
    let newest_nettle = last - 1100;
    let expected: Vec<i64> = (newest_nettle - 99..=newest_nettle).rev().collect();
    assert_eq!(ids("q=nettle&sort=newest").await, expected);
    let expected: Vec<i64> = (newest_nettle + 1..=newest_nettle + 100).collect();
    assert_eq!(ids("q=clover&sort=oldest").await, expected);
}

/// Each post is alone among 128 ids. On Postgres, a search reads more ids at a time while it finds few matches.
#[tokio::test(flavor = "multi_thread")]
async fn the_only_match_behind_many_ids_is_on_the_first_page() {
    let demo = Demo::in_postgres().await;
    let path = demo.tea_posts_path().await;
    let thread = thread_in(&path);
    let insert = format!(
        "INSERT INTO post (id, thread_id, number, state, created_at, written_at, body, body_html, body_words)
        SELECT 1000 + 128 * n, {thread}, 1000 + n, 'visible', n, n, '', '', CASE n WHEN 1 THEN 'nettle' ELSE 'clover' END
        FROM generate_series(1, 1100) AS n"
    );
    demo.sql(insert.leak()).await;
    let found = find_hits(&demo, "guest", "q=nettle&sort=newest").await;
    assert_eq!(field_values(&found, "postId"), ["1128"], "{found}");
    assert!(found["next"].is_null(), "{found}");
}

/// Begins a transaction in which the clock advances by 6 ms between two calls: a million units.
const BEGIN_WITH_SLOW_CLOCK: &str = "
    BEGIN;
    CREATE SCHEMA fake;
    CREATE SEQUENCE fake.ticks;
    CREATE FUNCTION fake.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql AS
    'SELECT TIMESTAMPTZ ''epoch'' + nextval(''fake.ticks'') * INTERVAL ''6 ms''';
    SET LOCAL search_path = fake, public, pg_catalog";

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_the_index_of_postgres_costs_its_time() {
    let demo = Demo::in_postgres().await;
    let client = demo.pool().get().await.unwrap();
    client.batch_execute(BEGIN_WITH_SLOW_CLOCK).await.unwrap();
    let find = "
        SELECT work FROM matches('zebra', '[2]', 1, 1000000, 21, -1, TRUE, 1000000, 0, 10000000)
        WHERE post IS NULL";
    let left: i64 = client.query_one(find, &[]).await.unwrap().get(0);
    assert_eq!(left, 10_000_000 - 10_000 - 1_000_000);
    // A candidate costs as much as on SQLite, and a comparison with each of two forums.
    let find = "
        SELECT work FROM matches('toast', '[2,3]', 1, 1000000, 21, -1, TRUE, 1000000, 3, 10000000)
        WHERE post IS NULL";
    let left: i64 = client.query_one(find, &[]).await.unwrap().get(0);
    let texts = "
        SELECT count(*), CAST(sum(length * (4 + 3) / 4) AS BIGINT) FROM post_text
        WHERE words @@ CAST('toast' AS TSQUERY)";
    let row = client.query_one(texts, &[]).await.unwrap();
    let [candidates, of_texts]: [i64; 2] = [row.get(0), row.get(1)];
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(candidates, 2);
    assert_eq!(left, 10_000_000 - 10_000 - 1_000_000 - candidates * (500 + 2) - of_texts);
}

/// Adds forums with the ids 1001 to 1101. The counts of each are those of a post, and most posts are in other forums.
const ADD_SMALL_FORUMS: &str = "
    INSERT INTO forum (id, position, title, description)
    WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 101)
    SELECT 1000 + n, n, 'small', '' FROM new;
    UPDATE forum_count SET post_count = 1000;
    INSERT INTO forum_count (forum_id, thread_count, post_count, newest_at)
    SELECT id, 1, 1, 0 FROM forum WHERE id > 1000";

/// The posts of the demo board are in one span of ids.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_postgres_names_few_forums_and_costs_a_lookup_of_each() {
    let demo = Demo::in_postgres().await;
    demo.sql(ADD_SMALL_FORUMS).await;
    let client = demo.pool().get().await.unwrap();
    client.batch_execute(BEGIN_WITH_SLOW_CLOCK).await.unwrap();
    let count = "SELECT max(post_id) - min(post_id) + 1 FROM post_text HAVING max(post_id) < 128";
    let ids: i64 = client.query_one(count, &[]).await.unwrap().get(0);
    let mut spent = Vec::new();
    for last in [1001, 1100, 1101] {
        let find = format!(
            "SELECT work FROM matches(
                'zebra', (SELECT CAST(json_agg(id) AS TEXT) FROM forum WHERE id BETWEEN 1001 AND {last}),
                1, 1000000, 21, -1, FALSE, 1, 0, 10000000
            )
            WHERE post IS NULL"
        );
        let left: i64 = client.query_one(&*find, &[]).await.unwrap().get(0);
        spent.push(10_000_000 - 10_000 - left);
    }
    client.batch_execute("ROLLBACK").await.unwrap();
    let lookups = [1 + 1, 1 + 100, 1];
    assert_eq!(spent, lookups.map(|lookups| (10 + 4 * lookups) * ids));
}

#[tokio::test]
async fn a_search_in_many_small_forums_finds_their_posts() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        demo.sql(ADD_SMALL_FORUMS).await;
        let tea = demo.tea_posts_path().await;
        let thread = thread_in(&tea);
        let insert = format!(
            "INSERT INTO thread (id, forum_id, title, title_words, state, created_at, last_activity_at)
            SELECT id, id, 'x', '', 'visible', 0, 0 FROM forum WHERE id > 1000;
            INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
            WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 505)
            SELECT CASE n % 5 WHEN 0 THEN 1000 + n / 5 ELSE {thread} END, 1000 + n, 'visible', n, n, '', '', 'nettle' FROM new"
        );
        demo.sql(&insert).await;
        for last in [1100, 1101] {
            let expected: Vec<_> = (1001..=last).rev().map(|forum| forum.to_string()).collect();
            let path =
                format!("/search?q=nettle&sort=newest&limit=100&forum={}", expected.join(","));
            let pages = demo.pages("guest", &path).await;
            let found: Vec<_> =
                pages.iter().flat_map(|page| field_values(page, "forumId")).collect();
            assert_eq!(found, expected, "{backend:?}");
        }
    }
}

/// Half of the candidates have the phrase.
#[tokio::test]
async fn a_search_ranks_no_more_matches_than_the_setting_allows() {
    for backend in [Backend::Memory, Backend::Postgres] {
        let demo = Demo::in_storage(backend.create_storage().await, Language::English).await;
        demo.set(settings::MAX_RANKED_MATCHES.key, "5").await;
        let path = demo.tea_posts_path().await;
        let thread = thread_in(&path);
        let insert = format!(
            "INSERT INTO post (thread_id, number, state, created_at, written_at, body, body_html, body_words)
            WITH RECURSIVE new (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM new WHERE n < 40)
            SELECT {thread}, 1000 + n, 'visible', n, n, '', '', CASE n % 2 WHEN 0 THEN 'green nettle' ELSE 'nettle green' END
            FROM new"
        );
        demo.sql(insert.leak()).await;
        let query = "q=%22green+nettle%22&sort=relevance";
        let found = find_hits(&demo, "guest", query).await;
        assert_eq!(field_values(&found, "postId").len(), 5, "{found}");
        assert!(found["next"].is_null(), "{found}");
    }
}

/// Most matches are in threads that an earlier page has listed, and many pages are short.
#[tokio::test]
async fn pages_of_threads_list_each_thread_once_and_are_not_empty() {
    let demo = Demo::new().await;
    demo.generate(ContentSize { members: 2, threads: 150, posts: 3000 }).await;
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
    pages.iter().flat_map(|page| field_values(page, "threadId")).collect()
}

/// All posts except the first stay in the index.
#[tokio::test]
async fn a_thread_is_not_found_while_it_is_deleted() {
    let demo = Demo::new().await;
    let before = find_hits(&demo, "mod", "q=tea").await;
    let indexed = count_indexed(&demo).await;
    let tea = demo.tea_posts_path().await;
    let posts = demo.get("mod", &tea).await.1;
    let thread = posts["items"][0]["threadId"].clone();
    let [first, second, ..] = field_values(&posts, "postId")[..] else {
        panic!("{posts}");
    };
    let moderator = demo.as_member("mod").await;
    for post in [first, second] {
        assert_eq!(moderator.delete(&format!("{tea}/{post}")).await.status, 204);
    }
    demo.restore(second.parse().unwrap()).await.unwrap();
    assert_eq!(count_indexed(&demo).await, indexed - 1);
    for sort in ["relevance", "newest", "oldest"] {
        for show in ["posts", "threads"] {
            let response = find_hits(&demo, "mod", &format!("q=tea&sort={sort}&show={show}")).await;
            let found = field_values(&response, "threadId");
            assert!(!found.is_empty() && found.iter().all(|found| thread != *found));
        }
    }
    demo.restore(first.parse().unwrap()).await.unwrap();
    assert_eq!(find_hits(&demo, "mod", "q=tea").await, before);
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
        let found = find_hits(&demo, "guest", &format!("q=nettle&sort={sort}")).await;
        assert_eq!(field_values(&found, "postId").len(), 3, "{sort}");
    }
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
        ('\u{20000}'..='\u{2a6d0}')
            .chain('\u{30000}'..='\u{31340}')
            .cycle()
            .take(count)
            .flat_map(|letter| [letter, ' '])
            .collect()
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
        let (mut status, mut thread) = demo.post("alice", &threads, new.clone()).await;
        // On a busy machine, a command can exceed its time limit: then it has no effect.
        for _ in 0..4 {
            if status == 503 {
                (status, thread) = demo.post("alice", &threads, new.clone()).await;
            }
        }
        assert_eq!(status, 201, "{thread}");
    }
}
