//! Polls to try the rules with.

use super::{Asked, Audience, Part, Someone, Suite, Verdict};
use crate::host::In;
use crate::model::{
    EditOption, EditPoll, ForumId, NewPoll, OptionId, Poll, PollId, StartThread, ThreadId, Vote,
};

/// A poll with three options, of which one can be chosen for good.
pub(crate) fn tea() -> NewPoll {
    NewPoll {
        question: "Which tea?".into(),
        options: ["Green", "Black", "Herbs"].map(String::from).into(),
        max_choices: 1,
        can_change_vote: false,
        closes_at: None,
    }
}

/// A thread that carries `poll`. What a board without polls does with one is its own matter.
pub(crate) fn carrying(suite: &Suite, poll: NewPoll) -> Verdict<StartThread> {
    suite.needs(Part::Polls)?;
    Ok(StartThread {
        title: "What to drink".into(),
        body: "There is hot water.".into(),
        poll: Some(poll),
        ..StartThread::default()
    })
}

/// A poll in a new thread of alice's that everybody sees.
pub(crate) struct Asking {
    pub(crate) forum: ForumId,
    pub(crate) alice: Someone,
    pub(crate) bob: Someone,
    pub(crate) thread: ThreadId,
    pub(crate) id: PollId,
    /// The options, in order.
    pub(crate) options: Vec<OptionId>,
}

impl Asking {
    /// One that is as `poll` says.
    pub(crate) async fn new(suite: &Suite, poll: NewPoll) -> Verdict<Self> {
        let forum = suite.forum(Audience::Guests).await?;
        let (alice, bob) = (suite.member("alice").await?, suite.member("bob").await?);
        let thread = alice.start_thread(&forum, &carrying(suite, poll)?).await?;
        let thread = thread.granted()?.thread_id;
        let poll = alice.poll(&thread).await?.granted()?.it;
        let options = poll.options.into_iter();
        Ok(Self {
            forum,
            alice,
            bob,
            thread,
            id: poll.poll_id,
            options: options.map(|option| option.option_id).collect(),
        })
    }

    /// A poll in which up to `max_choices` of the three options can be chosen.
    pub(crate) async fn with_max_choices(suite: &Suite, max_choices: i64) -> Verdict<Self> {
        let poll = NewPoll {
            max_choices,
            ..tea()
        };
        Self::new(suite, poll).await
    }

    /// A vote for the options in these places.
    pub(crate) fn vote(&self, places: &[usize]) -> Vote {
        let options = places.iter().filter_map(|place| self.options.get(*place));
        Vote {
            option_ids: options.cloned().collect(),
        }
    }

    /// Lets `voter` vote for the options in these places.
    pub(crate) async fn cast(&self, voter: &Someone, places: &[usize]) -> Verdict<Asked<In<Poll>>> {
        voter.vote(&self.id, &self.vote(places)).await
    }

    /// Lets `editor` change the poll.
    pub(crate) async fn edit(&self, editor: &Someone, edit: &EditPoll) -> Verdict<Asked<In<Poll>>> {
        editor.edit_poll(&self.id, edit).await
    }

    /// The poll as `reader` sees it.
    pub(crate) async fn seen(&self, reader: &Someone) -> Verdict<Poll> {
        Ok(reader.poll(&self.thread).await?.granted()?.it)
    }
}

/// What a poll has counted: for each option, and of voters.
pub(crate) fn counted(poll: &Poll) -> (Vec<u64>, u64) {
    let votes = poll.options.iter().map(|option| option.votes);
    (votes.collect(), poll.total_votes)
}

/// An edit to this question.
pub(crate) fn to_question(question: &str) -> EditPoll {
    EditPoll {
        question: Some(question.into()),
        ..EditPoll::default()
    }
}

/// An edit to these options.
pub(crate) fn to_options<'a>(
    options: impl IntoIterator<Item = (Option<&'a OptionId>, &'a str)>,
) -> EditPoll {
    let options = options.into_iter().map(|(option_id, text)| EditOption {
        option_id: option_id.cloned(),
        text: text.into(),
    });
    EditPoll {
        options: Some(options.collect()),
        ..EditPoll::default()
    }
}
