//! Polls that the rules vote in and edit.

use super::{
    Audience, CallResult, Capability, Suite, TestCaller, TestResult, exactly, new_poll, new_thread,
    with,
};
use crate::model::*;

/// Returns a new thread with `poll`. Needs [`Capability::Polls`] and the operation `getPoll`.
pub(crate) fn thread_with_poll(suite: &Suite, poll: NewPoll) -> TestResult<NewThread> {
    suite.require_operation("getPoll", Capability::Polls)?;
    let new = new_thread("What to drink", "There is hot water.");
    Ok(with(new, |new| new.poll = Some(poll)))
}

/// A poll in a thread by alice that all callers see.
#[derive(Debug)]
pub(crate) struct PollFixture {
    pub(crate) forum: ForumId,
    pub(crate) alice: TestCaller,
    pub(crate) bob: TestCaller,
    pub(crate) thread: ThreadId,
    pub(crate) id: PollId,
    pub(crate) options: [OptionId; 3],
    shows_totals: bool,
}

impl PollFixture {
    pub(crate) async fn new(suite: &Suite, poll: NewPoll) -> TestResult<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let [alice, bob] = suite.members(["alice", "bob"]).await?;
        Self::create(alice, bob, forum, &thread_with_poll(suite, poll)?).await
    }

    /// Creates a thread with a poll of three options.
    pub(crate) async fn create(
        alice: TestCaller,
        bob: TestCaller,
        forum: ForumId,
        new: &NewThread,
    ) -> TestResult<Self> {
        let thread = alice.create_thread(&forum, new).await.expect_ok()?.thread_id;
        let poll = alice.get_poll(&thread).await.expect_ok()?.value;
        let options = poll.options.into_iter().map(|option| option.option_id);
        Ok(Self {
            shows_totals: alice.inner.require(Capability::PollTotals).is_ok(),
            forum,
            bob,
            thread,
            id: poll.poll_id,
            options: exactly(options)?,
            alice,
        })
    }

    pub(crate) async fn with_max_choices(suite: &Suite, max_choices: i64) -> TestResult<Self> {
        let poll = with(new_poll(), |poll| poll.max_choices = max_choices);
        Self::new(suite, poll).await
    }

    pub(crate) fn new_vote(&self, indexes: &[usize]) -> NewVote {
        let options = indexes.iter().filter_map(|index| self.options.get(*index));
        NewVote { option_ids: options.cloned().collect() }
    }

    pub(crate) async fn vote(&self, voter: &TestCaller, indexes: &[usize]) -> CallResult<Poll> {
        let poll = voter.vote(&self.id, &self.new_vote(indexes)).await;
        poll.map(|poll| poll.value)
    }

    /// Bob votes several times concurrently. Expects that one of the votes succeeds, and returns its poll.
    pub(crate) async fn race_to_vote(&self, suite: &Suite) -> TestResult<Poll> {
        let votes = (0..50).map(|number| {
            let bob = self.bob.clone();
            let id = self.id.clone();
            let vote = self.new_vote(&[number % 3]);
            async move { bob.vote(&id, &vote).await }
        });
        Ok(suite.race_for_one(votes).await?.value)
    }

    pub(crate) async fn edit(&self, editor: &TestCaller, edit: &PollUpdate) -> CallResult<Poll> {
        let poll = editor.update_poll(&self.id, edit).await;
        poll.map(|poll| poll.value)
    }

    pub(crate) async fn fetch(&self, reader: &TestCaller) -> TestResult<Poll> {
        Ok(reader.get_poll(&self.thread).await.expect_ok()?.value)
    }

    pub(crate) async fn expect_counts(
        &self,
        reader: &TestCaller,
        votes: [u64; 3],
        voters: u64,
    ) -> TestResult {
        self.check_counts(&self.fetch(reader).await?, &votes, voters)
    }

    /// Checks the number of votes for each option and the number of voters. A board can hide all of them, if it does not
    /// have [`Capability::PollTotals`].
    pub(crate) fn check_counts(&self, poll: &Poll, votes: &[u64], voters: u64) -> TestResult {
        let counts: Vec<_> = poll.options.iter().map(|option| option.votes).collect();
        let is_hidden = poll.total_votes.is_none() && counts.iter().all(Option::is_none);
        if is_hidden && !self.shows_totals {
            return Ok(());
        }
        let votes: Vec<_> = votes.iter().copied().map(Some).collect();
        let actual = (counts, poll.total_votes);
        check_eq!(actual, (votes, Some(voters)), "votes and voters")
    }
}

pub(crate) fn option_texts(poll: &Poll) -> Vec<&str> {
    poll.options.iter().map(|option| &*option.text).collect()
}

pub(crate) fn poll_update(set: impl FnOnce(&mut PollUpdate)) -> PollUpdate {
    with(PollUpdate::default(), set)
}

pub(crate) fn question_update(question: &str) -> PollUpdate {
    poll_update(|update| update.question = Some(question.into()))
}

pub(crate) fn max_choices_update(max_choices: i64) -> PollUpdate {
    poll_update(|update| update.max_choices = Some(max_choices))
}

pub(crate) fn options_update(options: &[(Option<&OptionId>, &str)]) -> PollUpdate {
    let options = options.iter().map(|(option_id, text)| PollOptionUpdate {
        option_id: option_id.cloned(),
        text: (*text).into(),
    });
    poll_update(|update| update.options = Some(options.collect()))
}
