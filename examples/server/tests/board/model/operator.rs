//! What an operator does, to the board and to its model.

use std::time::Duration;

use forum_api::model::{ForumId, PostId, ThreadId, UserId};

use super::act::Act;
use super::play::Play;
use super::world::{State, World};

impl Play {
    /// Does what an operator does, to both. The first administrator is never banned, for somebody has to look.
    pub async fn operate(&mut self, act: &Act) -> Result<(), String> {
        let (world, stage) = (&mut self.world, &self.stage);
        match *act {
            Act::Ban(0, _) => {}
            Act::Ban(member, banned) => {
                world.members[member].banned = banned;
                stage
                    .set_banned(&user(world, member), banned)
                    .await
                    .unwrap();
            }
            Act::Offline(offline) => {
                world.offline = offline;
                stage.set_offline(offline).await.unwrap();
            }
            Act::Readers(forum, readers) => {
                world.forums[forum].readers = readers;
                stage
                    .set_readers(&place(world, forum), readers)
                    .await
                    .unwrap();
            }
            Act::Moderator(forum, member, is_one) => {
                let place = place(world, forum);
                let user = user(world, member);
                let done = stage.set_moderator(&place, &user, is_one).await;
                let reads = world.sees_forum(Some(member), forum) && !world.members[member].banned;
                if done.is_ok() != (reads || !is_one) {
                    return Err(format!("{act:?}: {done:?}"));
                }
                let moderators = &mut world.forums[forum].moderators;
                if is_one && reads {
                    moderators.insert(member);
                } else if !is_one {
                    moderators.remove(&member);
                }
            }
            Act::Lock(thread, locked) => {
                if let Some(thread) = world.thread(thread) {
                    world.threads[thread].locked = locked;
                    let id = ThreadId::new(&world.threads[thread].id).unwrap();
                    stage.set_locked(&id, locked).await.unwrap();
                }
            }
            Act::Approve(post) => return self.moderate(post, State::Awaiting).await,
            Act::Restore(post) => return self.moderate(post, State::Deleted).await,
            Act::Ignore(member, ignored) => {
                world.members[member].ignores.insert(ignored);
                stage
                    .ignore(&user(world, member), &user(world, ignored))
                    .await
                    .unwrap();
            }
            Act::Wait(minutes) => {
                world.now += minutes * 60;
                self.clock.advance(Duration::from_secs(minutes * 60));
            }
            _ => unreachable!("{act:?} is asked of the API"),
        }
        Ok(())
    }

    /// Approves or restores a post; one that is in another state is refused.
    async fn moderate(&mut self, post: usize, from: State) -> Result<(), String> {
        let Some(number) = self.world.post(post) else {
            return Ok(());
        };
        let post = &mut self.world.posts[number];
        let id = PostId::new(&post.id).unwrap();
        let done = match from {
            State::Awaiting => self.stage.approve(&id).await,
            _ => self.stage.restore(&id).await,
        };
        if done.is_ok() != (post.state == from) {
            return Err(format!(
                "a post that is {:?}, taken for {from:?}: {done:?}",
                post.state
            ));
        }
        if done.is_ok() {
            post.version += 1;
            post.state = match from {
                State::Deleted => post.before,
                _ => State::Visible,
            };
        }
        Ok(())
    }
}

fn user(world: &World, member: usize) -> UserId {
    UserId::new(&world.members[member].id).unwrap()
}

fn place(world: &World, forum: usize) -> ForumId {
    ForumId::new(&world.forums[forum].id).unwrap()
}
