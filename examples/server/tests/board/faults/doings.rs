//! What the board's own pages do, and the fault that can sit in it.

use std::sync::Arc;

use forum_api::async_trait;
use forum_api::conformance::{Audience, NewForum, Role, Set, Stage};
use forum_api::host::{Authority, Board, Caller, Refusal};
use forum_api::model::{ForumId, PostId, ThreadId, UserId};
use forum_api::webhook::Event;

use super::faulty::Faulty;
use super::plant::Plant;

macro_rules! doings {
    ($($name:ident($($id:ident: $kind:ident),* $(; $flag:ident: $type:ty)?) $plant:ident;)+) => {
        #[async_trait]
        impl Stage for Faulty {
            fn board(&self) -> (Arc<dyn Authority>, Arc<dyn Board>) {
                (Arc::new(self.clone()), Arc::new(self.clone()))
            }

            async fn add_member(&self, name: &str, role: Role) -> Set<UserId> {
                self.sound().stage.add_member(name, role).await
            }

            async fn add_forum(&self, new: &NewForum) -> Set<ForumId> {
                self.sound().stage.add_forum(new).await
            }

            async fn events(&self) -> Set<Vec<Event>> {
                let mut events = self.sound().events().await?;
                if let Plant::Events(spoil) = self.plant() {
                    spoil(&mut events);
                }
                Ok(events)
            }

            $(async fn $name(&self, $($id: &$kind,)* $($flag: $type)?) -> Set<()> {
                let Plant::$plant(twist) = self.plant() else {
                    return self.sound().stage.$name($($id,)* $($flag)?).await;
                };
                let ask = |_, ($($id,)* $($flag,)?): ($($kind,)* $($type,)?)| async move {
                    let done = self.sound().stage.$name($(&$id,)* $($flag)?).await;
                    done.map_err(Refusal::failed)
                };
                let nobody = Caller::Guest(self.guest().await?);
                let done = self.twisted(twist, nobody, ($($id.clone(),)* $($flag,)?), ask).await;
                Ok(done.map_err(|refusal| format!("{refusal:?}"))?)
            })+
        }
    };
}

doings! {
    set_readers(forum: ForumId; readers: Audience) SetReaders;
    set_moderator(forum: ForumId, member: UserId; is_one: bool) SetModerator;
    set_banned(member: UserId; banned: bool) SetBanned;
    set_offline(; offline: bool) SetOffline;
    set_locked(thread: ThreadId; locked: bool) SetLocked;
    set_pinned(thread: ThreadId; pinned: bool) SetPinned;
    approve(post: PostId) Approve;
    restore(post: PostId) Restore;
    ignore(member: UserId, ignored: UserId) Ignore;
    remove_account(member: UserId) RemoveAccount;
}
