//! What may be done with a poll: pure functions of values.

use std::collections::HashSet;
use std::hash::Hash;

use forum_api::host::{Refusal, Result};
use forum_api::model::{OptionId, Poll, State, Vote};

use super::super::texts::{Texts, fill};
use super::draft::Draft;

/// What somebody is to a poll.
#[derive(Clone, Copy, Debug)]
pub struct Editor {
    /// The one who wrote it.
    pub writer: bool,
    /// A moderator of its forum.
    pub moderator: bool,
    /// A member who may reply in its forum.
    pub replies: bool,
}

/// Refuses votes and edits in a deleted thread, of moderators too.
pub fn may_change(state: State, say: &Texts) -> Result<()> {
    match state {
        State::Deleted => Err(Refusal::Forbidden(say.polls.thread_deleted.into())),
        _ => Ok(()),
    }
}

/// Whether somebody may edit a poll in such a thread.
pub fn may_edit(editor: Editor, locked: bool, say: &Texts) -> Result<()> {
    let obstacle = match editor {
        Editor { replies: false, .. } => Some(say.may_not_reply),
        Editor {
            moderator: true, ..
        } => None,
        Editor { writer: false, .. } => Some(say.polls.may_not_edit),
        _ => locked.then_some(say.locked),
    };
    obstacle.map_or(Ok(()), |text| Err(Refusal::Forbidden(text.into())))
}

/// Refuses what the writer of a poll can no longer change once a vote was cast: the question, the options, and a number of
/// choices below that of a vote. `largest_vote` is the largest number of options of one vote. Moderators can change all.
pub fn may_become(poll: &Poll, draft: &Draft<'_>, largest_vote: i64, say: &Texts) -> Result<()> {
    let options_stay = draft.options.as_ref().is_none_or(|options| {
        let are = poll.options.iter();
        let are = are.map(|option| (option.option_id.number().ok(), option.text.as_str()));
        are.eq(options.iter().map(|choice| (choice.id, choice.text)))
    });
    let voted = largest_vote > 0;
    let obstacle = if voted && !(options_stay && draft.question == poll.question) {
        Some(say.polls.voted_for.into())
    } else {
        let below = draft.max_choices < largest_vote;
        below.then(|| fill(say.polls.voted_for_more, largest_vote))
    };
    obstacle.map_or(Ok(()), |text| Err(Refusal::Conflict(text)))
}

/// The options that a vote names, if its voter may vote so now.
pub fn vote(poll: &Poll, vote: &Vote, say: &Texts) -> Result<Vec<i64>> {
    if poll.closed {
        return Err(Refusal::Forbidden(say.polls.closed.into()));
    }
    if poll.own_vote.is_some() && !poll.can_change_vote {
        return Err(Refusal::Conflict(say.polls.voted_already.into()));
    }
    let named = vote.option_ids.iter().map(|id| known(poll, id, say));
    let named = named.collect::<Result<Vec<_>>>()?;
    if named.is_empty() {
        return Err(Refusal::invalid("optionIds", say.polls.vote_missing));
    }
    if !all_differ(named.iter()) {
        return Err(Refusal::invalid("optionIds", say.polls.choice_doubled));
    }
    (named.len() <= poll.max_choices as usize)
        .then_some(named)
        .ok_or_else(|| {
            Refusal::invalid(
                "optionIds",
                fill(say.polls.too_many_choices, poll.max_choices),
            )
        })
}

/// The number of the option of `poll` with this id.
pub fn known(poll: &Poll, id: &OptionId, say: &Texts) -> Result<i64> {
    let is_here = poll.options.iter().any(|option| option.option_id == *id);
    let number = id.number().ok().filter(|_| is_here);
    number.ok_or_else(|| Refusal::NotFound(say.polls.no_such_option.into()))
}

/// Whether no two are the same.
pub fn all_differ<T: Eq + Hash>(items: impl Iterator<Item = T>) -> bool {
    let mut seen = HashSet::new();
    items.into_iter().all(|item| seen.insert(item))
}

#[cfg(test)]
mod tests {
    use super::super::draft::Choice;
    use super::super::sample::poll;
    use super::*;
    use forum_api::Language;
    use serde_json::{Value, from_value, json};

    const SAY: &Texts = Texts::of(Language::English);

    fn cast(poll: &Poll, options: &Value) -> Result<Vec<i64>> {
        let cast = from_value(json!({ "optionIds": options })).unwrap();
        vote(poll, &cast, SAY)
    }

    #[test]
    fn a_vote_names_one_option_to_as_many_as_can_be_chosen() {
        for (options, named) in [
            (json!(["8"]), Some(vec![8])),
            (json!(["9", "7"]), Some(vec![9, 7])),
            (json!([]), None),
            (json!(["7", "7"]), None),
            (json!(["7", "8", "9"]), None),
        ] {
            match cast(&poll(), &options) {
                Ok(found) => assert_eq!(Some(found), named, "{options}"),
                Err(refusal) => {
                    assert!(
                        named.is_none() && matches!(refusal, Refusal::Invalid { .. }),
                        "{options}"
                    );
                }
            }
        }
        for options in [json!(["6"]), json!(["7", "07"]), json!(["?", "!"])] {
            let refused = cast(&poll(), &options);
            assert!(matches!(refused, Err(Refusal::NotFound(_))), "{options}");
        }
    }

    #[test]
    fn a_vote_stands_unless_it_can_be_changed_and_nobody_votes_in_a_closed_poll() {
        let voted = Poll {
            own_vote: Some(vec![7.into()]),
            ..poll()
        };
        let refused = cast(&voted, &json!(["8"]));
        assert!(matches!(refused, Err(Refusal::Conflict(_))));
        let changeable = Poll {
            can_change_vote: true,
            ..voted
        };
        assert!(cast(&changeable, &json!(["8"])).is_ok());
        let closed = Poll {
            closed: true,
            ..changeable
        };
        let refused = cast(&closed, &json!(["8"]));
        assert!(matches!(refused, Err(Refusal::Forbidden(_))));
    }

    #[test]
    fn its_writer_may_edit_it_unless_its_thread_is_locked_and_a_moderator_always() {
        for (writer, moderator, locked, may) in [
            (false, false, false, false),
            (false, false, true, false),
            (true, false, false, true),
            (true, false, true, false),
            (false, true, true, true),
            (true, true, true, true),
        ] {
            let editor = Editor {
                writer,
                moderator,
                replies: true,
            };
            assert_eq!(may_edit(editor, locked, SAY).is_ok(), may, "{editor:?}");
            let editor = Editor {
                replies: false,
                ..editor
            };
            assert!(may_edit(editor, locked, SAY).is_err());
        }
    }

    #[test]
    fn what_was_voted_for_does_not_change() {
        let choice = |id, text| Choice { id, text };
        let same = vec![
            choice(Some(7), "yes"),
            choice(Some(8), "no"),
            choice(Some(9), "both"),
        ];
        let other_order = same.iter().rev().copied().collect();
        let other_text = [&same[..2], &[choice(Some(9), "all")]].concat();
        let one_more = [&same[..], &[choice(None, "all")]].concat();
        for (options, changes) in [
            (None, false),
            (Some(same.clone()), false),
            (Some(other_order), true),
            (Some(other_text), true),
            (Some(one_more), true),
            (Some(same[..2].to_vec()), true),
        ] {
            let draft = Draft {
                options,
                ..unchanged()
            };
            let refused = may_become(&poll(), &draft, 1, SAY);
            assert_eq!(refused.is_err(), changes, "{draft:?}");
            assert!(may_become(&poll(), &draft, 0, SAY).is_ok());
        }
        let draft = Draft {
            question: "Coffee?",
            ..unchanged()
        };
        assert!(may_become(&poll(), &draft, 1, SAY).is_err());
        assert!(may_become(&poll(), &draft, 0, SAY).is_ok());
    }

    #[test]
    fn fewer_choices_than_a_vote_has_are_refused() {
        for (max_choices, largest_vote, fine) in
            [(1, 0, true), (1, 1, true), (1, 2, false), (2, 2, true)]
        {
            let draft = Draft {
                max_choices,
                ..unchanged()
            };
            let become_so = may_become(&poll(), &draft, largest_vote, SAY);
            assert_eq!(become_so.is_ok(), fine, "{max_choices} of {largest_vote}");
        }
    }

    fn unchanged() -> Draft<'static> {
        Draft {
            question: "Tea?",
            options: None,
            max_choices: 1,
            can_change_vote: true,
            closes_at: None,
        }
    }
}
