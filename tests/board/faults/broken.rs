//! The reference board with one fault, as the suite meets it.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::clock::ManualClock;
use forum_api::conformance::{Audience, Host, NewForum, Part, Role, Set, Stage};
use forum_api::host::{Authority, Board};
use forum_api::model::{ForumId, ThreadId, UserId};

use super::faulty::Faulty;
use super::plant::Plant;
use crate::stage::Reference;

/// A kind of board that has this fault.
pub struct Broken(pub Plant);

struct BrokenStage {
    sound: Box<dyn Stage>,
    faulty: Arc<Faulty>,
}

#[async_trait]
impl Host for Broken {
    async fn empty(&self, clock: Arc<ManualClock>) -> Set<Box<dyn Stage>> {
        let sound = Reference::Memory.empty(clock).await?;
        let root = sound.add_member("root", Role::Administrator).await?;
        let faulty = Faulty::new(sound.board(), root, self.0);
        Ok(Box::new(BrokenStage {
            sound,
            faulty: Arc::new(faulty),
        }))
    }

    fn lacks(&self) -> &[Part] {
        Reference::Memory.lacks()
    }
}

#[async_trait]
impl Stage for BrokenStage {
    fn board(&self) -> (Arc<dyn Authority>, Arc<dyn Board>) {
        (self.faulty.clone(), self.faulty.clone())
    }

    async fn add_member(&self, name: &str, role: Role) -> Set<UserId> {
        let member = self.sound.add_member(name, role).await?;
        self.faulty.members.lock().unwrap().push(member.clone());
        Ok(member)
    }

    async fn add_forum(&self, new: &NewForum) -> Set<ForumId> {
        self.sound.add_forum(new).await
    }

    async fn set_readers(&self, forum: &ForumId, readers: Audience) -> Set<()> {
        self.sound.set_readers(forum, readers).await
    }

    async fn set_moderator(&self, forum: &ForumId, member: &UserId, is_one: bool) -> Set<()> {
        self.sound.set_moderator(forum, member, is_one).await
    }

    async fn set_banned(&self, member: &UserId, banned: bool) -> Set<()> {
        self.sound.set_banned(member, banned).await
    }

    async fn set_offline(&self, offline: bool) -> Set<()> {
        self.sound.set_offline(offline).await
    }

    async fn set_locked(&self, thread: &ThreadId, locked: bool) -> Set<()> {
        self.sound.set_locked(thread, locked).await
    }

    async fn set_pinned(&self, thread: &ThreadId, pinned: bool) -> Set<()> {
        self.sound.set_pinned(thread, pinned).await
    }

    async fn ignore(&self, member: &UserId, ignored: &UserId) -> Set<()> {
        self.sound.ignore(member, ignored).await
    }

    async fn remove_account(&self, member: &UserId) -> Set<()> {
        self.sound.remove_account(member).await
    }
}
