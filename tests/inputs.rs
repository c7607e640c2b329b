//! What a command takes can be made outside of the library: a web form calls the command that the API calls.

use forum_api::model::{
    EditOption, EditPoll, EditPost, ListMessages, ListPosts, ListSubscriptions, ListThreads,
    NewPoll, OptionId, Query, Rate, Reply, Search, SendMessage, StartThread, Vote,
};

/// The parts of `made`, as its `Debug` names them.
fn is(made: impl std::fmt::Debug, parts: &[&str]) {
    let shown = format!("{made:?}");
    for part in parts {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[test]
fn a_form_starts_a_thread_with_a_poll() {
    let mut new = StartThread::default();
    new.title = "Tea".into();
    new.body = "Which one?".into();
    new.poll = Some(NewPoll::new("Which?", vec!["Green".into(), "Black".into()]));
    is(
        &new,
        &[
            r#"title: "Tea""#,
            r#"options: ["Green", "Black"]"#,
            "max_choices: 1",
        ],
    );
    is(
        new,
        &[
            "can_change_vote: false",
            "closes_at: None",
            "subscribe: false",
        ],
    );
}

#[test]
fn a_form_edits_the_options_of_a_poll() {
    let mut edit = EditPoll::default();
    let kept = EditOption::new(Some(OptionId::from(1)), "Green");
    edit.options = Some(vec![kept, EditOption::new(None, "Herbs")]);
    is(
        edit,
        &[
            r#"option_id: Some(OptionId(1)), text: "Green""#,
            r#"option_id: None, text: "Herbs""#,
        ],
    );
}

#[test]
fn the_rest_has_a_default() {
    is(Reply::default(), &[r#"body: """#]);
    is(EditPost::default(), &["expected_version: None"]);
    is(Rate::default(), &["points: 0"]);
    is(SendMessage::default(), &["to: []"]);
    is(Vote::default(), &["option_ids: []"]);
    is(ListThreads::default(), &["limit: Limit(20)"]);
    is(ListPosts::default(), &["body: Both"]);
    is(ListMessages::default(), &["folder: Inbox"]);
    is(ListSubscriptions::default(), &["target: None"]);
    let search = Search::new(Query::parse("tea").unwrap());
    is(search, &["sort: Relevance", "show: Posts"]);
}
