//! What the board says when it refuses a poll, a vote or an edit. `{}` stands for a number.

/// The sentences in one language.
#[derive(Debug)]
pub struct PollTexts {
    /// The question has no visible character.
    pub question_missing: &'static str,
    /// The question has more than `{}` characters.
    pub question_too_long: &'static str,
    /// An option has no visible character.
    pub option_missing: &'static str,
    /// An option has more than `{}` characters.
    pub option_too_long: &'static str,
    /// There are fewer than two options.
    pub too_few_options: &'static str,
    /// There are more than `{}` options.
    pub too_many_options: &'static str,
    /// Two options say the same, or one is named twice.
    pub option_doubled: &'static str,
    /// Not one choice to as many as there are options, which are `{}`.
    pub max_choices: &'static str,
    /// It would be closed from the start.
    pub ends_in_the_past: &'static str,
    /// The poll is closed.
    pub closed: &'static str,
    /// The caller has voted, and the vote stands.
    pub voted_already: &'static str,
    /// The vote names nothing.
    pub vote_missing: &'static str,
    /// The vote names more than `{}` options.
    pub too_many_choices: &'static str,
    /// The vote names an option twice.
    pub choice_doubled: &'static str,
    /// Something names an option that the poll does not have.
    pub no_such_option: &'static str,
    /// The caller neither wrote the poll nor moderates it.
    pub may_not_edit: &'static str,
    /// The writer may change neither the question nor the options after a vote.
    pub voted_for: &'static str,
    /// The writer may not lower `maxChoices` below the `{}` options of a vote.
    pub voted_for_more: &'static str,
    /// The thread is deleted.
    pub thread_deleted: &'static str,
}

/// In English.
pub const ENGLISH: PollTexts = PollTexts {
    question_missing: "a poll needs one.",
    question_too_long: "no more than {} characters are allowed.",
    option_missing: "each one needs some text.",
    option_too_long: "no more than {} characters are allowed in each.",
    too_few_options: "a poll needs at least 2.",
    too_many_options: "no more than {} are allowed.",
    option_doubled: "no two may be the same.",
    max_choices: "1 to {} are possible.",
    ends_in_the_past: "a new poll has to close later than now.",
    closed: "This poll is closed.",
    voted_already: "You have voted in this poll, and votes cannot be changed.",
    vote_missing: "a vote needs at least one.",
    too_many_choices: "no more than {} can be chosen.",
    choice_doubled: "no option can be chosen twice.",
    no_such_option: "This poll has no such option.",
    may_not_edit: "Only its writer and the moderators may edit this poll.",
    voted_for: "A vote was cast: only moderators can still change the question or the options.",
    voted_for_more: "A vote names {} options: only moderators can still lower maxChoices below that.",
    thread_deleted: "The thread of this poll is deleted.",
};

/// In German.
pub const GERMAN: PollTexts = PollTexts {
    question_missing: "Eine Umfrage braucht eine Frage.",
    question_too_long: "Höchstens {} Zeichen sind erlaubt.",
    option_missing: "Jede Antwort braucht etwas Text.",
    option_too_long: "In jeder Antwort sind höchstens {} Zeichen erlaubt.",
    too_few_options: "Eine Umfrage braucht mindestens 2 Antworten.",
    too_many_options: "Höchstens {} Antworten sind erlaubt.",
    option_doubled: "Keine zwei Antworten dürfen gleich sein.",
    max_choices: "Möglich sind 1 bis {}.",
    ends_in_the_past: "Eine neue Umfrage muss später als jetzt enden.",
    closed: "Diese Umfrage ist beendet.",
    voted_already: "Sie haben in dieser Umfrage schon abgestimmt, und Stimmen lassen sich hier nicht ändern.",
    vote_missing: "Eine Stimme braucht mindestens eine Antwort.",
    too_many_choices: "Höchstens {} Antworten sind wählbar.",
    choice_doubled: "Keine Antwort ist zweimal wählbar.",
    no_such_option: "Diese Umfrage hat keine solche Antwort.",
    may_not_edit: "Nur ihr Verfasser und die Moderatoren dürfen diese Umfrage bearbeiten.",
    voted_for: "Es wurde schon abgestimmt: Frage und Antworten können nur noch Moderatoren ändern.",
    voted_for_more: "Eine Stimme nennt {} Antworten: maxChoices können nur noch Moderatoren weiter senken.",
    thread_deleted: "Das Thema dieser Umfrage ist gelöscht.",
};
