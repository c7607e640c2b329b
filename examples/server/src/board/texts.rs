//! Texts of refusals, in English and German. `{}` is replaced with a number or a name. An English text
//! that follows the name of a field begins with a small letter.

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
            Language::German => &GERMAN,
            _ => &ENGLISH,
        }
    }
}

/// Replaces `{}` in a text.
pub fn fill(text: &str, value: impl Display) -> String {
    text.replace("{}", &value.to_string())
}

texts! {
    title_missing: "a title is required."
        "Ein Titel ist erforderlich."
    not_single_line: "control characters, line breaks and bidirectional overrides are not allowed."
        "Steuerzeichen, Zeilenumbrüche und Zeichen zum Ändern der Schreibrichtung sind nicht erlaubt."
    title_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    title_of_reply: "only an edit of the first post can change the title."
        "Nur eine Bearbeitung des ersten Beitrags kann den Titel ändern."
    body_missing: "a text is required."
        "Ein Text ist erforderlich."
    body_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    reason_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    post_interval: "{} seconds must pass between two posts."
        "Zwischen zwei Beiträgen müssen {} Sekunden liegen."
    too_many_posts: "No more than {} posts per hour are allowed."
        "Höchstens {} Beiträge pro Stunde sind erlaubt."
    too_many_edits: "No more than {} edits per hour are allowed."
        "Höchstens {} Bearbeitungen pro Stunde sind erlaubt."
    account_closed: "This account can no longer be used."
        "Dieses Konto kann nicht mehr verwendet werden."
    may_not_start: "You may not start threads in this forum."
        "In diesem Forum dürfen Sie keine Themen eröffnen."
    may_not_reply: "You may not reply in this forum."
        "In diesem Forum dürfen Sie nicht antworten."
    may_not_edit: "You may not edit in this forum, because you may not reply in it."
        "In diesem Forum dürfen Sie nichts bearbeiten, weil Sie hier nicht antworten dürfen."
    locked: "This thread is locked."
        "Dieses Thema ist geschlossen."
    not_visible: "You cannot reply to a thread that is deleted or awaits approval."
        "In einem gelöschten oder noch nicht freigegebenen Thema können Sie nicht antworten."
    not_author: "Only the author and moderators may change this post."
        "Nur der Verfasser und Moderatoren dürfen diesen Beitrag ändern."
    first_post_needs_moderator: "Only moderators may delete the first post of a thread."
        "Nur Moderatoren dürfen den ersten Beitrag eines Themas löschen."
    edit_window_closed: "The edit window of this post has closed."
        "Die Bearbeitungszeit dieses Beitrags ist abgelaufen."
    deleted: "This post is deleted."
        "Dieser Beitrag ist gelöscht."
    version_conflict: "The content has changed in the meantime. Load it again before you change it."
        "Der Inhalt wurde inzwischen geändert. Laden Sie ihn erneut, bevor Sie ihn ändern."
    unknown_target: "unknown thread or forum."
        "Unbekanntes Thema oder Forum."
    not_subscribed: "You are not subscribed to this thread or forum."
        "Sie haben dieses Thema oder Forum nicht abonniert."
    subject_missing: "a subject is required."
        "Ein Betreff ist erforderlich."
    subject_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    message_missing: "a text is required."
        "Ein Text ist erforderlich."
    no_recipients: "at least one recipient is required."
        "Mindestens ein Empfänger ist erforderlich."
    too_many_recipients: "no more than {} recipients are allowed."
        "Höchstens {} Empfänger sind erlaubt."
    recipient_unknown: "one of these members does not exist."
        "Eines dieser Mitglieder gibt es nicht."
    sender_ignored: "{} does not accept messages from you."
        "{} nimmt von Ihnen keine Nachrichten an."
    inbox_full: "the inbox of {} is full."
        "Der Posteingang von {} ist voll."
    too_many_messages: "No more than {} messages per hour are allowed."
        "Höchstens {} Nachrichten pro Stunde sind erlaubt."
    receipt: "Your message was read."
        "Ihre Nachricht wurde gelesen."
    question_missing: "a question is required."
        "Eine Frage ist erforderlich."
    question_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    option_missing: "each option must have a text."
        "Jede Option muss einen Text haben."
    option_too_long: "no more than {} characters are allowed per option."
        "Pro Option sind höchstens {} Zeichen erlaubt."
    too_few_options: "at least 2 options are required."
        "Mindestens 2 Optionen sind erforderlich."
    too_many_options: "no more than {} options are allowed."
        "Höchstens {} Optionen sind erlaubt."
    duplicate_option: "all options must be different."
        "Alle Optionen müssen verschieden sein."
    max_choices: "must be 1 to {}."
        "Erlaubt sind Werte von 1 bis {}."
    closes_at_in_the_past: "must be in the future."
        "Der Zeitpunkt muss in der Zukunft liegen."
    poll_closed: "This poll is closed."
        "Diese Umfrage ist beendet."
    already_voted: "You have already voted in this poll. Votes in it cannot be changed."
        "Sie haben in dieser Umfrage bereits abgestimmt. Abgegebene Stimmen lassen sich nicht ändern."
    vote_missing: "at least one option is required."
        "Mindestens eine Option ist erforderlich."
    too_many_choices: "the maximum number of options in a vote is {}."
        "Die Höchstzahl wählbarer Optionen ist {}."
    duplicate_choice: "an option can be chosen only once."
        "Jede Option kann nur einmal gewählt werden."
    unknown_option: "this poll does not have this option."
        "Diese Umfrage hat diese Option nicht."
    poll_may_not_edit: "Only the author and moderators may edit this poll."
        "Nur der Verfasser und Moderatoren dürfen diese Umfrage bearbeiten."
    poll_needs_approval: "Your content awaits approval. You cannot change the question or the options of a visible poll."
        "Ihre Inhalte müssen freigegeben werden. Frage und Optionen einer sichtbaren Umfrage können Sie nicht ändern."
    options_have_votes: "Votes have been cast. Only moderators can change the question or the options now."
        "Es wurde bereits abgestimmt. Nur Moderatoren können Frage und Optionen noch ändern."
    max_choices_below_votes: "A member has voted for {} options. Only moderators can lower maxChoices below this number."
        "Ein Mitglied hat für {} Optionen gestimmt. Nur Moderatoren können maxChoices unter diese Zahl senken."
    poll_thread_deleted: "The thread of this poll is deleted."
        "Das Thema dieser Umfrage ist gelöscht."
    self_rating: "You cannot rate yourself."
        "Sie können sich nicht selbst bewerten."
    unknown_post: "unknown post."
        "Unbekannter Beitrag."
    unknown_rated_post: "no post of this member has this id."
        "Kein Beitrag dieses Mitglieds hat diese ID."
    points_zero: "must not be 0."
        "Der Wert darf nicht 0 sein."
    too_many_points: "the absolute value must be at most {}."
        "Der Absolutwert darf höchstens {} sein."
    negative_points: "negative points are not allowed."
        "Negative Punkte sind nicht erlaubt."
    comment_missing: "a comment is required."
        "Ein Kommentar ist erforderlich."
    comment_too_long: "no more than {} characters are allowed."
        "Höchstens {} Zeichen sind erlaubt."
    post_rated: "You have already rated this post."
        "Sie haben diesen Beitrag bereits bewertet."
    member_rated: "You have already rated this member within the last 24 hours."
        "Sie haben dieses Mitglied in den letzten 24 Stunden bereits bewertet."
    too_many_ratings: "No more than {} ratings per day are allowed."
        "Höchstens {} Bewertungen pro Tag sind erlaubt."
}
