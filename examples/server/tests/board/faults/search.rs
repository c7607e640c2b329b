//! What is found, and what is not.

use forum_api::host::{Refusal, Result};
use forum_api::model::{Page, Query, Search, SearchHit, SearchIn, Show, Timestamp, UserRef};

use super::Fault;
use super::plant::Plant;
use super::sound::Sound;
use super::twist::{Question, Twist};

pub const FAULTS: &[Fault] = &[
    (
        "every_word_is_required",
        "the first word is enough",
        Plant::Search(Twist::Ask(|question| {
            let q = &mut question.it.0.q;
            if q.terms().iter().all(|term| !term.excluded && !term.text.contains(' ')) {
                *q = Query::parse(&q.terms()[0].text).unwrap();
            }
        })),
    ),
    (
        "the_most_common_word_is_found",
        "there are stop words",
        Plant::Search(Twist::Granted(|page, question| {
            if question.it.0.q == Query::parse("the").unwrap() {
                page.items.clear();
            }
        })),
    ),
    (
        "a_phrase_stands_together",
        "a phrase is its words",
        Plant::Search(Twist::Ask(|question| {
            rewrite(&mut question.it.0.q, |text| text.replace('"', ""));
        })),
    ),
    (
        "what_is_excluded_is_in_no_hit",
        "nothing is excluded",
        Plant::Search(Twist::Ask(|question| {
            rewrite(&mut question.it.0.q, |text| {
                text.split(" -").next().unwrap().into()
            });
        })),
    ),
    (
        "a_word_is_found_however_it_is_coded",
        "a word ends at an accent",
        Plant::Search(Twist::Ask(|question| {
            rewrite(&mut question.it.0.q, |text| text.replace('\u{308}', " "));
        })),
    ),
    (
        "a_word_is_excluded_however_it_is_coded",
        "a word that is excluded ends at an accent",
        Plant::Search(Twist::Ask(|question| {
            rewrite(&mut question.it.0.q, |text| text.replace("-gru\u{308}n", "-\"gru n\""));
        })),
    ),
    (
        "a_word_with_marks_is_found",
        "an excerpt is without marks",
        Plant::Search(Twist::Granted(|page, _| {
            for hit in &mut page.items {
                hit.excerpt.retain(|letter| letter.is_alphanumeric() || letter == ' ');
            }
        })),
    ),
    (
        "a_title_belongs_to_the_first_post",
        "titles are not searched",
        Plant::Search(Twist::Ask(|question| {
            let within = &mut question.it.0.within;
            if let SearchIn::All = within {
                *within = SearchIn::Posts;
            }
        })),
    ),
    (
        "titles_and_posts_are_searched_apart",
        "`in` is ignored",
        Plant::Search(Twist::Ask(|question| question.it.0.within = SearchIn::All)),
    ),
    (
        "a_hit_tells_what_was_found",
        "an excerpt is HTML",
        Plant::Search(Twist::Granted(|page, _| {
            for hit in &mut page.items {
                hit.excerpt = format!("<p>{}</p>", hit.excerpt);
            }
        })),
    ),
    (
        "a_thread_is_one_hit",
        "`show` is ignored",
        Plant::Search(Twist::Ask(|question| question.it.0.show = Show::Posts)),
    ),
    (
        "a_forum_is_searched_with_its_sub_forums",
        "a forum is searched without its sub-forums",
        Plant::Search(Twist::Granted(|page, question| {
            let forums = &question.it.0.forum;
            page.items.retain(|hit| forums.is_empty() || forums.contains(&hit.forum_id));
        })),
    ),
    (
        "an_author_is_named_by_id_or_by_name",
        "an author who is named by name is ignored",
        Plant::Search(Twist::Ask(|question| {
            let by = &mut question.it.0.by;
            by.take_if(|by| matches!(by, UserRef::Name(name) if name == "bob"));
        })),
    ),
    (
        "a_span_of_time_has_a_beginning_and_an_end",
        "`when` is ignored",
        Plant::Search(Twist::Ask(|question| question.it.0.when = None)),
    ),
    (
        "a_span_of_time_includes_its_start_and_excludes_its_end",
        "the end is inclusive",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(within(sound, question, |from, until, at| from <= at && at <= until))
        })),
    ),
    (
        "a_span_of_time_includes_its_start_and_excludes_its_end",
        "the start is exclusive",
        Plant::Search(Twist::Instead(|sound, question| {
            Box::pin(within(sound, question, |from, until, at| from < at && at < until))
        })),
    ),
    (
        "what_is_not_there_gives_no_hits",
        "a forum that is not there is absent",
        Plant::Search(Twist::Answer(|page, question| {
            let nothing = page.as_ref().is_ok_and(|page| page.items.is_empty());
            if nothing && !question.it.0.forum.is_empty() {
                *page = Err(Refusal::Absent);
            }
        })),
    ),
];

/// Hits whose time is between two dates, by this comparison.
async fn within(
    sound: &Sound,
    question: &Question<(Search,)>,
    is_within: fn(Timestamp, Timestamp, Timestamp) -> bool,
) -> Result<Page<SearchHit>> {
    let mut search = question.it.0.clone();
    let when = search.when.take_if(|when| when.to_string().contains(".."));
    let mut page = sound.board.search(&question.by, search).await?;
    if let Some((from, until)) = when.map(|when| when.range(Timestamp::default())) {
        let from = from.unwrap_or(Timestamp::from_millis(0));
        let until = until.unwrap_or(Timestamp::from_millis(i64::MAX));
        page.items.retain(|hit| is_within(from, until, hit.created_at));
    }
    Ok(page)
}

fn rewrite(q: &mut Query, change: fn(&str) -> String) {
    let text = serde_json::to_value(&*q).unwrap();
    *q = Query::parse(&change(text.as_str().unwrap())).unwrap();
}
