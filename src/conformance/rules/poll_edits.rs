//! Edits of polls: whose, and what they leave.

use std::time::Duration;

use super::poll_fixture::{Asking, counted, tea, to_options, to_question};
use super::sanitizing::NOT_SINGLE_LINE;
use super::{Audience, Part, Suite, Verdict, equal, holds};
use crate::model::{EditPoll, NewPoll, OptionId, Poll};

board_rules!(
    mod poll_edits;

    /// Who wrote a poll edits it, and so does who moderates its forum; others may not.
    async fn its_writer_and_moderators_edit_a_poll(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let edit = to_question("Which coffee?");
        poll.edit(&poll.bob, &edit).await?.forbidden()?;
        let found = poll.seen(&poll.bob).await?.question;
        equal("question", found, "Which tea?")?;
        let edited = poll.edit(&poll.alice, &edit).await?.granted()?.it;
        equal("question", &edited.question, "Which coffee?")?;
        equal("as read again", poll.seen(&poll.alice).await?, edited)?;
        let elsewhere = suite.forum(Audience::Guests).await?;
        let stranger = suite.moderator("max", &elsewhere).await?;
        poll.edit(&stranger, &to_question("Which milk?"))
            .await?
            .forbidden()?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.edit(&moderator, &to_question("Which water?"))
            .await?
            .granted()?;
        let found = poll.seen(&poll.bob).await?.question;
        equal("question", found, "Which water?")
    }

    /// The poll of a locked thread is edited by moderators alone, as its posts are.
    async fn a_locked_threads_poll_is_a_moderators(suite: &Suite) -> Verdict {
        suite.needs(Part::Locking)?;
        let poll = Asking::new(suite, tea()).await?;
        suite.stage.set_locked(&poll.thread, true).await?;
        let edit = to_question("Which coffee?");
        poll.edit(&poll.alice, &edit).await?.forbidden()?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.edit(&moderator, &edit).await?.granted()?;
        Ok(())
    }

    /// A moderator who is none any more when the edit is made does not make it.
    async fn an_edit_is_decided_when_it_is_made(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let held = moderator.hold().await?;
        let id = moderator.id();
        suite.stage.set_moderator(&poll.forum, &id, false).await?;
        poll.edit(&held, &to_question("Which coffee?"))
            .await?
            .forbidden()?;
        let found = poll.seen(&poll.bob).await?.question;
        equal("question", found, "Which tea?")
    }

    /// A field that an edit leaves out stays as it is.
    async fn what_an_edit_leaves_out_stays(suite: &Suite) -> Verdict {
        let closes_at = Some(suite.now().plus(Duration::from_secs(3600)));
        let poll = Asking::new(suite, NewPoll { closes_at, ..tea() }).await?;
        let before = poll.seen(&poll.alice).await?;
        let edit = EditPoll {
            max_choices: Some(3),
            can_change_vote: Some(true),
            ..EditPoll::default()
        };
        let edited = poll.edit(&poll.alice, &edit).await?.granted()?.it;
        let expected = Poll {
            max_choices: 3,
            can_change_vote: true,
            version: edited.version,
            ..before
        };
        equal("the poll", edited, expected)
    }

    /// While nobody has voted the writer changes the options; afterwards that is a conflict, and a moderator's to do.
    async fn options_that_were_voted_for_are_a_moderators(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let [green, black, herbs] = &poll.options[..] else {
            return holds("there are three options", false);
        };
        let without = to_options([(Some(green), "Green"), (Some(black), "Black")]);
        let edited = poll.edit(&poll.alice, &without).await?.granted()?.it;
        equal("counts", counted(&edited), (vec![0, 0], 0))?;
        poll.cast(&poll.bob, &[1]).await?.granted()?;
        let renamed = to_options([(Some(green), "Mint"), (Some(black), "Black")]);
        poll.edit(&poll.alice, &renamed).await?.conflict()?;
        let gone = to_options([(Some(green), "Green"), (Some(herbs), "Herbs")]);
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.edit(&moderator, &gone).await?.not_found()?;
        let edited = poll.edit(&moderator, &renamed).await?.granted()?.it;
        equal("counts", counted(&edited), (vec![0, 1], 1))
    }

    /// Until a vote is cast the writer changes the question; afterwards that is a conflict, unless the question stays the same,
    /// and a moderator changes it.
    async fn a_question_that_was_voted_on_is_a_moderators(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let edit = to_question("Which coffee?");
        poll.edit(&poll.alice, &edit).await?.granted()?;
        poll.cast(&poll.bob, &[1]).await?.granted()?;
        poll.edit(&poll.alice, &to_question("Which milk?"))
            .await?
            .conflict()?;
        poll.edit(&poll.alice, &edit).await?.granted()?;
        let found = poll.seen(&poll.bob).await?;
        equal("question", &*found.question, "Which coffee?")?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let edited = poll.edit(&moderator, &to_question("Which water?")).await?;
        let edited = edited.granted()?.it;
        equal("question", &*edited.question, "Which water?")?;
        equal("counts", counted(&edited), (vec![0, 1, 0], 1))
    }

    /// The writer may not lower `maxChoices` below the number of options of a vote. A moderator may, and the vote is kept.
    async fn choices_that_were_made_are_a_moderators(suite: &Suite) -> Verdict {
        let poll = Asking::with_max_choices(suite, 3).await?;
        poll.cast(&poll.alice, &[1]).await?.granted()?;
        poll.cast(&poll.bob, &[0, 2]).await?.granted()?;
        let most = |max_choices| EditPoll {
            max_choices: Some(max_choices),
            ..EditPoll::default()
        };
        poll.edit(&poll.alice, &most(1)).await?.conflict()?;
        let found = poll.seen(&poll.alice).await?.max_choices;
        equal("maxChoices", found, 3)?;
        poll.edit(&poll.alice, &most(2)).await?.granted()?;
        let moderator = suite.moderator("mod", &poll.forum).await?;
        let edited = poll.edit(&moderator, &most(1)).await?.granted()?.it;
        equal("maxChoices", edited.max_choices, 1)?;
        equal("counts", counted(&edited), (vec![1, 1, 1], 2))
    }

    /// The votes of a removed option go with it. Who voted for nothing else has not voted any more.
    async fn a_removed_option_takes_its_votes(suite: &Suite) -> Verdict {
        let poll = Asking::with_max_choices(suite, 2).await?;
        let [green, black, _] = &poll.options[..] else {
            return holds("there are three options", false);
        };
        let moderator = suite.moderator("mod", &poll.forum).await?;
        poll.cast(&poll.alice, &[0, 2]).await?.granted()?;
        poll.cast(&poll.bob, &[2]).await?.granted()?;
        let edit = to_options([
            (None, "Milk"),
            (Some(black), "Black"),
            (Some(green), "Mint"),
        ]);
        let edited = poll.edit(&moderator, &edit).await?.granted()?.it;
        let texts = edited.options.iter().map(|option| option.text.as_str());
        let found = texts.collect::<Vec<_>>();
        equal("options", found, ["Milk", "Black", "Mint"])?;
        equal("counts", counted(&edited), (vec![0, 0, 1], 1))?;
        let kept = poll.seen(&poll.alice).await?.own_vote;
        equal("what is left of a vote", kept, Some(vec![green.clone()]))?;
        let found = poll.seen(&poll.bob).await?.own_vote;
        equal("a vote that is gone", found, None)?;
        poll.cast(&poll.bob, &[2]).await?.not_found()?;
        let voted = poll.cast(&poll.bob, &[1]).await?.granted()?.it;
        equal("counts", counted(&voted), (vec![0, 1, 1], 2))
    }

    /// An edit to what no poll can be changes nothing.
    async fn a_refused_edit_changes_nothing(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let before = poll.seen(&poll.alice).await?;
        let [green, black, _] = &poll.options[..] else {
            return holds("there are three options", false);
        };
        let most = |max_choices| EditPoll {
            max_choices: Some(max_choices),
            ..EditPoll::default()
        };
        let fewer = EditPoll {
            max_choices: Some(3),
            ..to_options([(Some(green), "Green"), (Some(black), "Black")])
        };
        for (edit, field) in [
            (to_question(" "), "question"),
            (to_question(NOT_SINGLE_LINE[0]), "question"),
            (
                to_options([(Some(green), "Green"), (None, NOT_SINGLE_LINE[3])]),
                "options",
            ),
            (to_options([]), "options"),
            (to_options([(Some(green), "Green")]), "options"),
            (to_options([(Some(green), "Tea"), (None, "Tea")]), "options"),
            (most(0), "maxChoices"),
            (most(4), "maxChoices"),
            (fewer, "maxChoices"),
        ] {
            poll.edit(&poll.alice, &edit).await?.invalid(field)?;
        }
        for stranger in [OptionId::from(i64::MAX), OptionId::nothing()] {
            let edit = to_options([(Some(green), "Green"), (Some(&stranger), "Black")]);
            poll.edit(&poll.alice, &edit).await?.not_found()?;
        }
        equal("the poll", poll.seen(&poll.alice).await?, before)
    }

    /// An end in the past closes a poll at once; without an end it is open again.
    async fn an_end_is_set_and_taken_away(suite: &Suite) -> Verdict {
        let poll = Asking::new(suite, tea()).await?;
        let end = suite.now().minus(Duration::from_secs(60));
        let until = |closes_at| EditPoll {
            closes_at: Some(closes_at),
            ..EditPoll::default()
        };
        let edited = poll
            .edit(&poll.alice, &until(Some(end)))
            .await?
            .granted()?
            .it;
        equal("end", (edited.closes_at, edited.closed), (Some(end), true))?;
        poll.cast(&poll.bob, &[0]).await?.forbidden()?;
        let edited = poll.edit(&poll.alice, &until(None)).await?.granted()?.it;
        equal("end", (edited.closes_at, edited.closed), (None, false))?;
        poll.cast(&poll.bob, &[0]).await?.granted()?;
        Ok(())
    }

    /// An edit that was made for an older version is a conflict. A vote is no edit.
    async fn a_stale_edit_is_a_conflict(suite: &Suite) -> Verdict {
        suite.needs(Part::Versions)?;
        let poll = Asking::new(suite, tea()).await?;
        equal("version", poll.seen(&poll.alice).await?.version, 1)?;
        poll.cast(&poll.bob, &[0]).await?.granted()?;
        let first = EditPoll {
            expected_version: Some(1),
            can_change_vote: Some(true),
            ..EditPoll::default()
        };
        let edited = poll.edit(&poll.alice, &first).await?.granted()?.it;
        equal("version", edited.version, 2)?;
        poll.edit(&poll.alice, &first).await?.conflict()?;
        equal("the poll", poll.seen(&poll.alice).await?, edited)
    }
);
