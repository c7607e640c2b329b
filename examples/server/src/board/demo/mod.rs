//! What a new board begins with: its administrator, and a few people who talk about tea, bread and bicycles.

mod announcements;
mod general;
mod help;
mod letters;
mod members;
mod people;
mod places;
mod staff;
mod teller;

use forum_api::host::Result;
use forum_api::model::Timestamp;

use super::accounts;
use super::db::{Connection, Transaction};
use teller::Teller;

/// Who can try a new board, and where.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// A member's id.
    pub member: i64,
    /// The member's name.
    pub name: &'static str,
    /// A thread that guests may read, and in which the member may post.
    pub thread: i64,
}

/// Puts the administrator on a new board, with a password of which this is the hash, and unless it is to be `empty`
/// everybody else, the forums, and what was written in them.
pub async fn begin(
    tx: &Transaction<'_>,
    hash: &str,
    empty: bool,
    now: Timestamp,
) -> Result<Option<Trial>> {
    let mut teller = Teller::new(tx, now);
    let admin = teller.join(&people::ADMINISTRATOR).await?;
    accounts::set_password(tx, admin, hash).await?;
    if empty {
        return Ok(None);
    }
    for person in &people::OTHERS {
        teller.join(person).await?;
    }
    for place in &places::ALL {
        teller.open(place).await?;
    }
    teller.tell(&places::ALL).await?;
    teller.ask(&places::QUESTION).await?;
    for name in people::BANNED {
        accounts::set_banned(tx, teller.member(name)?, true).await?;
    }
    for (name, ignored) in people::IGNORED {
        accounts::ignore(tx, teller.member(name)?, teller.member(ignored)?).await?;
    }
    for letter in &letters::ALL {
        teller.send(letter).await?;
    }
    let (name, story) = places::TRIAL;
    Ok(Some(Trial {
        member: teller.member(name)?,
        name,
        thread: teller.thread(story)?,
    }))
}

/// Returns whether the board holds the demo's forums, members and posts and no others.
pub async fn is_fresh(connection: &Connection<'_>) -> Result<bool> {
    let count = "
        SELECT (SELECT count(*) FROM forum), (SELECT count(*) FROM member), (SELECT count(*) FROM post)";
    let found: [usize; 3] = connection
        .one(count, &[], |columns| {
            Ok([columns.count()?, columns.count()?, columns.count()?])
        })
        .await?;
    let posts = places::ALL.iter().flat_map(|place| place.stories);
    let posts: usize = posts.map(|story| story.posts.len()).sum();
    Ok(found == [places::ALL.len(), 1 + people::OTHERS.len(), posts])
}
