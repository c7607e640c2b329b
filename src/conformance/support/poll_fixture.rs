//! Polls that the rules vote in and edit.

use super::{
    Audience, CallResult, Capability, Suite, TestCaller, TestFailure, TestResult, start, tea, with,
};
use crate::model::*;

/// A thread with `poll`. The rule is skipped on a board without polls.
pub(crate) fn with_poll(suite: &Suite, poll: NewPoll) -> TestResult<NewThread> {
    suite.require(Capability::Polls)?;
    let new = start("What to drink", "There is hot water.");
    Ok(with(new, |new| new.poll = Some(poll)))
}

/// A poll in a new thread by alice that everyone sees.
#[derive(Debug)]
pub(crate) struct PollFixture {
    pub(crate) forum: ForumId,
    pub(crate) alice: TestCaller,
    pub(crate) bob: TestCaller,
    pub(crate) thread: ThreadId,
    pub(crate) id: PollId,
    /// The three options, in order.
    pub(crate) options: [OptionId; 3],
}

impl PollFixture {
    pub(crate) async fn new(suite: &Suite, poll: NewPoll) -> TestResult<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let [alice, bob] = suite.members(["alice", "bob"]).await?;
        Self::by(alice, bob, forum, &with_poll(suite, poll)?).await
    }

    /// A poll in a new thread by `author`, as `alice`.
    pub(crate) async fn by(
        author: TestCaller,
        bob: TestCaller,
        forum: ForumId,
        new: &NewThread,
    ) -> TestResult<Self> {
        let thread = author.create_thread(&forum, new).await.expect_ok()?;
        let thread = thread.thread_id;
        let poll = author.get_poll(&thread).await.expect_ok()?.value;
        let options: Vec<_> = poll.options.into_iter().map(|it| it.option_id).collect();
        let options = options.try_into().map_err(|options: Vec<OptionId>| {
            TestFailure::mismatch("a poll", format_args!("{options:?}"), "three options")
        })?;
        Ok(Self {
            forum,
            alice: author,
            bob,
            thread,
            id: poll.poll_id,
            options,
        })
    }

    /// A poll in which up to `max_choices` of the three options can be chosen.
    pub(crate) async fn with_max_choices(suite: &Suite, max_choices: i64) -> TestResult<Self> {
        Self::new(suite, with(tea(), |poll| poll.max_choices = max_choices)).await
    }

    pub(crate) fn vote(&self, places: &[usize]) -> NewVote {
        let options = places.iter().filter_map(|place| self.options.get(*place));
        NewVote {
            option_ids: options.cloned().collect(),
        }
    }

    pub(crate) async fn cast(&self, voter: &TestCaller, places: &[usize]) -> CallResult<Poll> {
        let voted = voter.vote(&self.id, &self.vote(places)).await;
        voted.map(|poll| poll.value)
    }

    pub(crate) async fn edit(&self, editor: &TestCaller, edit: &PollUpdate) -> CallResult<Poll> {
        editor
            .update_poll(&self.id, edit)
            .await
            .map(|poll| poll.value)
    }

    pub(crate) async fn seen(&self, reader: &TestCaller) -> TestResult<Poll> {
        Ok(reader.get_poll(&self.thread).await.expect_ok()?.value)
    }

    pub(crate) async fn counts(
        &self,
        reader: &TestCaller,
        votes: [u64; 3],
        voters: u64,
    ) -> TestResult {
        check_counts(&self.seen(reader).await?, &votes, voters)
    }
}

/// The poll has counted these votes for each option, of so many voters.
pub(crate) fn check_counts(poll: &Poll, votes: &[u64], voters: u64) -> TestResult {
    let found: Vec<_> = poll.options.iter().map(|option| option.votes).collect();
    check_eq!((&*found, poll.total_votes), (votes, voters), "counts")
}

pub(crate) fn check_question(poll: &Poll, question: &str) -> TestResult {
    check_eq!(poll.question, question)
}

pub(crate) fn option_texts(poll: &Poll) -> Vec<&str> {
    poll.options.iter().map(|option| &*option.text).collect()
}

pub(crate) fn edit_poll(set: impl FnOnce(&mut PollUpdate)) -> PollUpdate {
    with(PollUpdate::default(), set)
}

pub(crate) fn to_question(question: &str) -> PollUpdate {
    edit_poll(|edit| edit.question = Some(question.into()))
}

pub(crate) fn to_choices(max_choices: i64) -> PollUpdate {
    edit_poll(|edit| edit.max_choices = Some(max_choices))
}

pub(crate) fn to_options(options: &[(Option<&OptionId>, &str)]) -> PollUpdate {
    let options = options.iter().map(|(option_id, text)| PollOptionUpdate {
        option_id: option_id.cloned(),
        text: (*text).into(),
    });
    edit_poll(|edit| edit.options = Some(options.collect()))
}
