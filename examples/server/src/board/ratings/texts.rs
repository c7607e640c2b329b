//! What the board says when it refuses a rating. `{}` stands for a number.

/// The sentences in one language.
#[derive(Debug)]
pub struct RatingTexts {
    /// The caller rates themselves.
    pub oneself: &'static str,
    /// The member has no post of this id that the caller sees.
    pub no_such_post: &'static str,
    /// No points are given.
    pub points_missing: &'static str,
    /// More than `{}` points are given, or taken.
    pub too_many_points: &'static str,
    /// Points are taken, and must not be.
    pub negative: &'static str,
    /// The comment has no visible character.
    pub comment_missing: &'static str,
    /// The comment has more than `{}` characters.
    pub comment_too_long: &'static str,
    /// The caller has rated this post.
    pub post_rated: &'static str,
    /// The caller has rated this member without a post lately.
    pub member_rated: &'static str,
    /// No more than `{}` ratings a day.
    pub too_many: &'static str,
}

/// In English.
pub const ENGLISH: RatingTexts = RatingTexts {
    oneself: "You cannot rate yourself.",
    no_such_post: "This member has no such post.",
    points_missing: "a rating needs some.",
    too_many_points: "no more than {} are allowed.",
    negative: "negative ones are not allowed.",
    comment_missing: "a rating needs one.",
    comment_too_long: "no more than {} characters are allowed.",
    post_rated: "You have rated this post already.",
    member_rated: "You have rated this member within the last 24 hours.",
    too_many: "No more than {} ratings a day are allowed.",
};

/// In German.
pub const GERMAN: RatingTexts = RatingTexts {
    oneself: "Sich selbst kann man nicht bewerten.",
    no_such_post: "Dieses Mitglied hat keinen solchen Beitrag.",
    points_missing: "Eine Bewertung braucht Punkte.",
    too_many_points: "Höchstens {} sind erlaubt.",
    negative: "Negative sind nicht erlaubt.",
    comment_missing: "Eine Bewertung braucht einen Kommentar.",
    comment_too_long: "Höchstens {} Zeichen sind erlaubt.",
    post_rated: "Sie haben diesen Beitrag schon bewertet.",
    member_rated: "Sie haben dieses Mitglied in den letzten 24 Stunden schon bewertet.",
    too_many: "Höchstens {} Bewertungen am Tag sind erlaubt.",
};
