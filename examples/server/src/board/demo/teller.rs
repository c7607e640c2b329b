//! Writes the demo board's stories, the oldest post first, so that ids follow time.

use std::collections::HashMap;
use std::time::Duration;

use forum_api::host::{Refusal, Result};
use forum_api::model::Timestamp;

use super::super::actor::Actor;
use super::super::db::Transaction;
use super::super::forums::{self, NewForum};
use super::super::insert::{self, NewPost};
use super::super::messages::{self, NewMessage};
use super::super::polls::{self, Choice, Draft};
use super::super::{accounts, rules};
use super::letters::Letter;
use super::people::Person;
use super::places::{Place, Post, Question, Story};

/// What was put on the board, by its names and titles.
pub(super) struct Teller<'a> {
    tx: &'a Transaction<'a>,
    now: Timestamp,
    members: HashMap<&'static str, i64>,
    forums: HashMap<&'static str, i64>,
    threads: HashMap<&'static str, i64>,
}

const HOUR: Duration = rules::HOUR;
const DAY: Duration = rules::DAY;

impl<'a> Teller<'a> {
    /// One who has told nothing yet.
    pub(super) fn new(tx: &'a Transaction<'a>, now: Timestamp) -> Self {
        Self {
            tx,
            now,
            members: HashMap::new(),
            forums: HashMap::new(),
            threads: HashMap::new(),
        }
    }

    /// Adds a member.
    pub(super) async fn join(&mut self, person: &Person) -> Result<i64> {
        let joined = self.now.minus(DAY * person.days_ago);
        let member = accounts::add(self.tx, person.name, person.groups, joined).await?;
        self.members.insert(person.name, member);
        Ok(member)
    }

    /// Adds a forum.
    pub(super) async fn open(&mut self, place: &Place) -> Result<()> {
        let new = NewForum {
            title: place.title.into(),
            description: place.description.into(),
            parent: place
                .below
                .map(|title| found(&self.forums, title))
                .transpose()?,
            lists: place.lists,
        };
        let forum = forums::add(self.tx, &new).await?;
        self.forums.insert(place.title, forum);
        for name in place.moderators {
            forums::name_moderator(self.tx, forum, self.member(name)?).await?;
        }
        Ok(())
    }

    /// Writes what was written in these forums.
    pub(super) async fn tell(&mut self, places: &[Place]) -> Result<()> {
        let mut posts = Vec::new();
        for place in places {
            for story in place.stories {
                let mut at = self.now.minus(DAY * story.days_ago);
                for post in story.posts {
                    at = at.plus(HOUR * post.1);
                    posts.push((at, place, story, post));
                }
            }
        }
        posts.sort_by_key(|(at, ..)| *at);
        for (at, place, story, post) in posts {
            self.write(at, place, story, post).await?;
        }
        Ok(())
    }

    async fn write(
        &mut self,
        at: Timestamp,
        place: &Place,
        story: &Story,
        post: &Post,
    ) -> Result<()> {
        let (name, _, body) = *post;
        let (member, forum) = (self.member(name)?, found(&self.forums, place.title)?);
        let actor = Actor::load(self.tx, Some(member))
            .await?
            .ok_or(Refusal::Absent)?;
        let new = NewPost {
            author: Some(member),
            body,
            state: rules::first_state(actor.groups),
            at,
            counts: actor.access(forum).counts,
        };
        match self.threads.get(story.title) {
            Some(thread) => drop(insert::reply(self.tx, (forum, *thread), new, at).await?),
            None => {
                let (thread, _) = insert::thread(self.tx, forum, story.title, new).await?;
                self.threads.insert(story.title, thread);
            }
        }
        Ok(())
    }

    /// Adds the poll of a story.
    pub(super) async fn ask(&self, question: &Question) -> Result<()> {
        let options = question.options.iter();
        let draft = Draft {
            question: question.text,
            options: Some(options.map(|text| Choice { id: None, text }).collect()),
            max_choices: 1,
            can_change_vote: false,
            closes_at: None,
        };
        polls::add(self.tx, self.thread(question.story)?, &draft).await
    }

    /// Sends a message.
    pub(super) async fn send(&self, letter: &Letter) -> Result<()> {
        let new = NewMessage {
            sender: self.member(letter.from)?,
            subject: letter.subject,
            body: letter.body,
            receipt_requested: true,
            at: self.now.minus(DAY * letter.days_ago),
        };
        messages::deliver(self.tx, new, &[self.member(letter.to)?]).await?;
        Ok(())
    }

    /// The member of this name.
    pub(super) fn member(&self, name: &str) -> Result<i64> {
        found(&self.members, name)
    }

    /// The thread with this title.
    pub(super) fn thread(&self, title: &str) -> Result<i64> {
        found(&self.threads, title)
    }
}

fn found(ids: &HashMap<&'static str, i64>, name: &str) -> Result<i64> {
    let unknown = || Refusal::failed(format!("the demo board knows no {name:?}"));
    ids.get(name).copied().ok_or_else(unknown)
}
