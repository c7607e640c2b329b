//! Texts of refusals, in English and German. `{}` is replaced with a number or a name.

use std::fmt::Display;

use forum_api::Language;

macro_rules! texts {
    ($($name:ident: $english:literal $german:literal)+) => {
        #[derive(Debug)]
        pub struct Texts {
            $(pub $name: &'static str,)+
        }

        const ENGLISH: Texts = Texts { $($name: $english,)+ };
        const GERMAN: Texts = Texts { $($name: $german,)+ };
    };
}

impl Texts {
    pub const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &ENGLISH,
            Language::German => &GERMAN,
        }
    }
}

/// Replaces `{}` in a text.
pub fn fill(text: &str, value: impl Display) -> String {
    text.replace("{}", &value.to_string())
}

texts! {
    title_missing: "a thread needs one."
        "Ein Thema braucht einen Titel."
    not_single_line: "control characters, line breaks and bidirectional overrides are not allowed."
        "Steuerzeichen, Zeilenumbrüche und Richtungszeichen sind nicht erlaubt."
    title_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    body_missing: "a post needs some text."
        "Ein Beitrag braucht etwas Text."
    body_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    reason_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    too_soon: "{} seconds have to pass between two posts."
        "Zwischen zwei Beiträgen müssen {} Sekunden liegen."
    too_many_posts: "No more than {} posts an hour are allowed."
        "Höchstens {} Beiträge in der Stunde sind erlaubt."
    account_closed: "This account can no longer act."
        "Dieses Konto kann nicht mehr handeln."
    may_not_start: "You may not start threads in this forum."
        "In diesem Forum dürfen Sie keine Themen beginnen."
    may_not_reply: "You may not reply in this forum."
        "In diesem Forum dürfen Sie nicht antworten."
    locked: "This thread is locked."
        "Dieses Thema ist geschlossen."
    not_visible: "Nobody can reply while this thread is hidden."
        "Solange dieses Thema verborgen ist, kann niemand antworten."
    not_yours: "Only its author and moderators may change this post."
        "Nur der Verfasser und Moderatoren dürfen diesen Beitrag ändern."
    takes_moderator: "Only moderators may delete a thread with its first post."
        "Nur Moderatoren dürfen mit dem ersten Beitrag ein Thema löschen."
    too_late: "It is too late to change this post."
        "Für eine Änderung dieses Beitrags ist es zu spät."
    deleted: "This post is deleted."
        "Dieser Beitrag ist gelöscht."
    stale: "This was changed in the meantime."
        "Das wurde inzwischen geändert."
    no_such_target: "targetId: there is nothing like that to follow."
        "targetId: Dem kann man nicht folgen, denn es ist nicht da."
    not_followed: "You do not follow this."
        "Dem folgen Sie nicht."
    subject_missing: "a message needs one."
        "Eine Nachricht braucht einen Betreff."
    subject_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    message_missing: "a message needs some text."
        "Eine Nachricht braucht etwas Text."
    no_recipients: "a message needs a recipient."
        "Eine Nachricht braucht einen Empfänger."
    too_many_recipients: "no more than {} recipients are allowed."
        "Höchstens {} Empfänger sind erlaubt."
    recipient_unknown: "to: one of these members does not exist."
        "to: Eines dieser Mitglieder gibt es nicht."
    ignored: "{} takes no messages from you."
        "{} nimmt von Ihnen keine Nachrichten an."
    inbox_full: "the inbox of {} is full."
        "Der Posteingang von {} ist voll."
    too_many_messages: "No more than {} messages an hour are allowed."
        "Höchstens {} Nachrichten in der Stunde sind erlaubt."
    receipt: "Your message was read."
        "Ihre Nachricht wurde gelesen."
    question_missing: "a poll needs one."
        "Eine Umfrage braucht eine Frage."
    question_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    option_missing: "each one needs some text."
        "Jede Antwort braucht etwas Text."
    option_too_long: "no more than {} characters are allowed in each."
        "In jeder Antwort sind höchstens {} Zeichen erlaubt."
    too_few_options: "a poll needs at least 2."
        "Eine Umfrage braucht mindestens 2 Antworten."
    too_many_options: "no more than {} are allowed."
        "Höchstens {} Antworten sind erlaubt."
    option_doubled: "no two may be the same."
        "Keine zwei Antworten dürfen gleich sein."
    max_choices: "1 to {} are possible."
        "Möglich sind 1 bis {}."
    poll_ends_in_the_past: "a new poll has to close later than now."
        "Eine neue Umfrage muss später als jetzt enden."
    poll_closed: "This poll is closed."
        "Diese Umfrage ist beendet."
    voted_already: "You have voted in this poll, and votes cannot be changed."
        "Sie haben in dieser Umfrage schon abgestimmt, und Stimmen lassen sich hier nicht ändern."
    vote_missing: "a vote needs at least one."
        "Eine Stimme braucht mindestens eine Antwort."
    too_many_choices: "no more than {} can be chosen."
        "Höchstens {} Antworten sind wählbar."
    choice_doubled: "no option can be chosen twice."
        "Keine Antwort ist zweimal wählbar."
    no_such_option: "This poll has no such option."
        "Diese Umfrage hat keine solche Antwort."
    poll_may_not_edit: "Only its writer and the moderators may edit this poll."
        "Nur ihr Verfasser und die Moderatoren dürfen diese Umfrage bearbeiten."
    voted_for: "A vote was cast: only moderators can still change the question or the options."
        "Es wurde schon abgestimmt: Frage und Antworten können nur noch Moderatoren ändern."
    voted_for_more: "A vote names {} options: only moderators can still lower maxChoices below that."
        "Eine Stimme nennt {} Antworten: maxChoices können nur noch Moderatoren weiter senken."
    poll_thread_deleted: "The thread of this poll is deleted."
        "Das Thema dieser Umfrage ist gelöscht."
    self_rating: "You cannot rate yourself."
        "Sich selbst kann man nicht bewerten."
    no_such_post: "This member has no such post."
        "Dieses Mitglied hat keinen solchen Beitrag."
    points_missing: "a rating needs some."
        "Eine Bewertung braucht Punkte."
    too_many_points: "no more than {} are allowed."
        "Höchstens {} sind erlaubt."
    negative_points: "negative ones are not allowed."
        "Negative sind nicht erlaubt."
    comment_missing: "a rating needs one."
        "Eine Bewertung braucht einen Kommentar."
    comment_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    post_rated: "You have rated this post already."
        "Sie haben diesen Beitrag schon bewertet."
    member_rated: "You have rated this member within the last 24 hours."
        "Sie haben dieses Mitglied in den letzten 24 Stunden schon bewertet."
    too_many_ratings: "No more than {} ratings a day are allowed."
        "Höchstens {} Bewertungen am Tag sind erlaubt."
}
