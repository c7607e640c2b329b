//! What each command tells of what it did: nothing that is not there for everybody.

use forum_api::Language;
use forum_api::model::{EditPost, Reply, StartThread, Timestamp};
use rusqlite::{Connection, Savepoint};

use super::actor::Actor;
use super::events::Event::{self, *};
use super::events::{Events, PostAt};
use super::forums::{self, NewForum};
use super::groups::{Group, Groups};
use super::texts::Texts;
use super::{STEPS, accounts, edits, moderation, replies, threads};

const SAY: &Texts = Texts::of(Language::English);

const MEMBER: Groups = Groups::of([Group::Members]);
const NEWCOMER: Groups = MEMBER.with(Group::Newcomers);
const ADMINISTRATOR: Groups = MEMBER.with(Group::Administrators);

/// A board with one forum.
struct Scene<'a> {
    tx: Savepoint<'a>,
    forum: i64,
    minutes: i64,
}

impl<'a> Scene<'a> {
    fn set(connection: &'a mut Connection) -> Self {
        STEPS
            .iter()
            .for_each(|step| connection.execute_batch(step).unwrap());
        let tx = connection.savepoint().unwrap();
        let new = NewForum {
            title: "General".into(),
            ..NewForum::default()
        };
        let forum = forums::add(&tx, &new).unwrap();
        Self {
            tx,
            forum,
            minutes: 0,
        }
    }

    fn join(&self, name: &str, groups: Groups) -> Actor {
        let id = accounts::add(&self.tx, name, groups, Timestamp::default()).unwrap();
        Actor::load(&self.tx, Some(id)).unwrap().unwrap()
    }

    /// What a command tells that is carried out a minute after the one before, and what it gives.
    fn tell<T>(
        &mut self,
        command: impl FnOnce(&Savepoint<'_>, &mut Events) -> forum_api::host::Result<T>,
    ) -> (Vec<Event>, T) {
        self.minutes += 1;
        let mut events = Events::at(Timestamp::from_millis(self.minutes * 60_000));
        let done = command(&self.tx, &mut events).unwrap();
        (events.noted().to_vec(), done)
    }

    fn start(&mut self, by: &Actor) -> (Vec<Event>, PostAt) {
        let mut new = StartThread::default();
        (new.title, new.body) = ("Tea".into(), "Green?".into());
        let forum = self.forum;
        let start = |tx: &Savepoint<'_>, events: &mut Events| {
            threads::start(tx, events, by, forum, &new, SAY)
        };
        let (told, thread) = self.tell(start);
        let at = PostAt {
            forum,
            thread: thread.thread_id.number().unwrap(),
            post: thread.first_post_id.number().unwrap(),
        };
        (told, at)
    }

    fn reply(&mut self, by: &Actor, to: PostAt) -> (Vec<Event>, PostAt) {
        let mut new = Reply::default();
        new.body = "Black.".into();
        let reply = |tx: &Savepoint<'_>, events: &mut Events| {
            replies::reply(tx, events, by, to.thread, &new, SAY)
        };
        let (told, reply) = self.tell(reply);
        let post = reply.it.post_id.number().unwrap();
        (told, PostAt { post, ..to })
    }

    fn edit(&mut self, by: &Actor, at: PostAt) -> Vec<Event> {
        let mut edit = EditPost::default();
        edit.body = "White.".into();
        let place = (at.thread, at.post);
        self.tell(|tx, events| edits::edit(tx, events, by, place, &edit, SAY))
            .0
    }

    fn delete(&mut self, by: &Actor, at: PostAt) -> Vec<Event> {
        let place = (at.thread, at.post);
        self.tell(|tx, events| edits::delete(tx, events, by, place, SAY))
            .0
    }

    fn approve(&mut self, at: PostAt) -> Vec<Event> {
        self.tell(|tx, events| moderation::approve(tx, events, at.post))
            .0
    }

    fn restore(&mut self, at: PostAt) -> Vec<Event> {
        self.tell(|tx, events| moderation::restore(tx, events, at.post))
            .0
    }
}

#[test]
fn a_reply_is_told_of_by_itself() {
    let mut connection = Connection::open_in_memory().unwrap();
    let mut scene = Scene::set(&mut connection);
    let alice = scene.join("alice", MEMBER);
    let (told, first) = scene.start(&alice);
    assert_eq!(told, [ThreadCreated(first.thread()), PostCreated(first)]);
    let (told, reply) = scene.reply(&alice, first);
    assert_eq!(told, [PostCreated(reply)]);
    assert_eq!(scene.edit(&alice, reply), [PostUpdated(reply)]);
    assert_eq!(scene.delete(&alice, reply), [PostDeleted(reply)]);
    assert_eq!(scene.restore(reply), [PostRestored(reply)]);
}

#[test]
fn a_first_post_is_told_of_as_its_thread() {
    let mut connection = Connection::open_in_memory().unwrap();
    let mut scene = Scene::set(&mut connection);
    let (alice, admin) = (
        scene.join("alice", MEMBER),
        scene.join("admin", ADMINISTRATOR),
    );
    let first = scene.start(&alice).1;
    let reply = scene.reply(&alice, first).1;
    assert_eq!(scene.edit(&alice, first), [PostUpdated(first)]);
    assert_eq!(scene.delete(&admin, first), [ThreadDeleted(first.thread())]);
    assert_eq!(scene.edit(&admin, reply), []);
    assert_eq!(scene.delete(&admin, reply), []);
    assert_eq!(scene.restore(reply), []);
    assert_eq!(scene.restore(first), [ThreadRestored(first.thread())]);
}

#[test]
fn what_awaits_approval_is_told_of_when_it_is_approved() {
    let mut connection = Connection::open_in_memory().unwrap();
    let mut scene = Scene::set(&mut connection);
    let (alice, nora) = (scene.join("alice", MEMBER), scene.join("nora", NEWCOMER));
    let admin = scene.join("admin", ADMINISTRATOR);
    let (told, thread) = scene.start(&nora);
    assert_eq!(told, []);
    assert_eq!(scene.edit(&nora, thread), []);
    let created = [ThreadCreated(thread.thread()), PostCreated(thread)];
    assert_eq!(scene.approve(thread), created);
    let first = scene.start(&alice).1;
    let (told, reply) = scene.reply(&nora, first);
    assert_eq!(told, []);
    assert_eq!(scene.delete(&nora, reply), []);
    assert_eq!(scene.restore(reply), []);
    assert_eq!(scene.approve(reply), [PostCreated(reply)]);
    let hidden = scene.reply(&nora, first).1;
    assert_eq!(scene.delete(&admin, first), [ThreadDeleted(first.thread())]);
    assert_eq!(scene.approve(hidden), []);
}
