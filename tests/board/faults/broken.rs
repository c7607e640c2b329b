//! The reference board with one fault.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::clock::ManualClock;
use forum_api::conformance::{Audience, Host, NewForum, Part, Role, Set, Stage};
use forum_api::host::{
    Authority, Board, Caller, In, Member, Place, Refusal, Result, Standing, Stored,
};
use forum_api::model::*;

use super::plant::Plant;
use crate::stage::Reference;

/// A kind of board that has this fault.
pub struct Broken(pub Plant);

struct BrokenStage {
    sound: Box<dyn Stage>,
    faulty: Arc<Faulty>,
}

/// The board itself.
struct Faulty {
    plant: Plant,
    authority: Arc<dyn Authority>,
    board: Arc<dyn Board>,
    /// An administrator.
    root: UserId,
    remembered: Mutex<HashMap<Option<UserId>, Option<Standing>>>,
    written: AtomicU64,
}

#[async_trait]
impl Host for Broken {
    async fn empty(&self, clock: Arc<ManualClock>) -> Set<Box<dyn Stage>> {
        let sound = Reference::Memory.empty(clock).await?;
        let (authority, board) = sound.board();
        let faulty = Faulty {
            plant: self.0,
            authority,
            board,
            root: sound.add_member("root", Role::Administrator).await?,
            remembered: Mutex::default(),
            written: AtomicU64::default(),
        };
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
        self.sound.add_member(name, role).await
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

    async fn remove_account(&self, member: &UserId) -> Set<()> {
        self.sound.remove_account(member).await
    }
}

impl Faulty {
    fn judge(&self, user: Option<&UserId>, mut standing: Option<Standing>) -> Option<Standing> {
        match self.plant {
            Plant::Standing(spoil) => spoil(user, &mut standing),
            Plant::Remembers => {
                let mut remembered = self.remembered.lock().unwrap();
                standing = remembered.entry(user.cloned()).or_insert(standing).clone();
            }
            _ => {}
        }
        standing
    }

    async fn root(&self) -> Result<Member> {
        let standing = self.authority.member(&self.root).await?;
        Ok(Member::new(
            self.root.clone(),
            standing.ok_or(Refusal::Absent)?,
        ))
    }

    /// Whose eyes a command sees with.
    async fn eyes(&self, command: &str, caller: &Caller) -> Result<Caller> {
        match self.plant {
            Plant::SeesAll(spoiled) if spoiled == command => Ok(Caller::Member(self.root().await?)),
            _ => Ok(caller.clone()),
        }
    }

    fn forces(&self, refusal: &Refusal) -> bool {
        matches!(self.plant, Plant::Forces(these) if these(refusal))
    }

    fn count(&self, written: bool) {
        self.written.fetch_add(written.into(), Ordering::Relaxed);
    }

    fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    async fn by_offset(
        &self,
        caller: &Caller,
        forum: ForumId,
        list: &ListThreads,
    ) -> Result<Page<Thread>> {
        let mut whole = ListThreads::default();
        whole.limit = Limit::new(100).unwrap();
        let all = self.board.threads(caller, forum, whole).await?.items;
        let start = list
            .after
            .as_ref()
            .map_or(0, |after| after.as_str().parse().unwrap());
        let end = start + list.limit.get();
        let next = (end < all.len()).then(|| Position::new(end));
        let items = all.into_iter().skip(start).take(list.limit.get()).collect();
        Ok(Page { items, next })
    }
}

#[async_trait]
impl Authority for Faulty {
    async fn guest(&self) -> Stored<Standing> {
        let standing = self.authority.guest().await?;
        Ok(self.judge(None, Some(standing)).unwrap())
    }

    async fn member(&self, owner: &UserId) -> Stored<Option<Standing>> {
        let standing = self.authority.member(owner).await?;
        Ok(self.judge(Some(owner), standing))
    }
}

#[async_trait]
impl Board for Faulty {
    async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
        let caller = self.eyes("forum_of", caller).await?;
        let mut forum = self.board.forum_of(&caller, place).await;
        if let Plant::ForumOf(spoil) = self.plant {
            spoil(&mut forum);
        }
        forum
    }

    async fn me(&self, by: &Member) -> Result<Account> {
        let mut account = self.board.me(by).await?;
        if let Plant::Me(spoil) = self.plant {
            spoil(&mut account);
        }
        Ok(account)
    }

    async fn forums(&self, caller: &Caller) -> Result<Vec<Forum>> {
        let caller = self.eyes("forums", caller).await?;
        let mut forums = self.board.forums(&caller).await?;
        if let Plant::Forums(spoil) = self.plant {
            spoil(&mut forums, self.written());
        }
        Ok(forums)
    }

    async fn threads(
        &self,
        caller: &Caller,
        forum: ForumId,
        mut list: ListThreads,
    ) -> Result<Page<Thread>> {
        let caller = self.eyes("threads", caller).await?;
        if let Plant::AskThreads(spoil) = self.plant {
            spoil(&mut list);
        }
        if let Plant::Offsets = self.plant {
            return self.by_offset(&caller, forum, &list).await;
        }
        let mut page = self.board.threads(&caller, forum, list.clone()).await;
        if let Plant::Threads(spoil) = self.plant {
            spoil(&mut page, &list);
        }
        page
    }

    async fn start_thread(
        &self,
        by: &Member,
        forum: ForumId,
        mut new: StartThread,
    ) -> Result<Thread> {
        if let Plant::AskStart(spoil) = self.plant {
            spoil(&mut new);
        }
        let mut thread = self
            .board
            .start_thread(by, forum.clone(), new.clone())
            .await;
        let covered = by.standing().forums().contains(&forum);
        if covered && thread.as_ref().is_err_and(|refusal| self.forces(refusal)) {
            thread = self
                .board
                .start_thread(&self.root().await?, forum, new)
                .await;
        }
        self.count(thread.is_ok());
        if let Plant::Start(spoil) = self.plant {
            spoil(&mut thread);
        }
        thread
    }

    async fn thread(&self, caller: &Caller, thread: ThreadId) -> Result<Thread> {
        let caller = self.eyes("thread", caller).await?;
        let mut thread = self.board.thread(&caller, thread).await;
        if let Plant::Thread(spoil) = self.plant {
            spoil(&mut thread);
        }
        thread
    }

    async fn posts(
        &self,
        caller: &Caller,
        thread: ThreadId,
        mut list: ListPosts,
    ) -> Result<In<Page<Post>>> {
        let caller = self.eyes("posts", caller).await?;
        if let Plant::AskPosts(spoil) = self.plant {
            spoil(&mut list);
        }
        let mut page = self.board.posts(&caller, thread, list.clone()).await;
        if let Plant::Posts(spoil) = self.plant {
            spoil(&mut page, &list);
        }
        page
    }

    async fn reply(&self, by: &Member, thread: ThreadId, mut reply: Reply) -> Result<In<Post>> {
        if let Plant::AskReply(spoil) = self.plant {
            spoil(&mut reply);
        }
        let mut post = self.board.reply(by, thread.clone(), reply.clone()).await;
        if post.as_ref().is_err_and(|refusal| self.forces(refusal)) {
            let root = self.root().await?;
            let forum = self
                .board
                .forum_of(&Caller::Member(root.clone()), Place::Thread(&thread))
                .await?;
            if by.standing().forums().contains(&forum) {
                post = self.board.reply(&root, thread, reply).await;
            }
        }
        self.count(post.is_ok());
        if let Plant::Reply(spoil) = self.plant {
            spoil(&mut post);
        }
        post
    }

    async fn profile(&self, caller: &Caller, mut user: UserRef) -> Result<Profile> {
        if let Plant::AskProfile(spoil) = self.plant {
            spoil(&mut user);
        }
        let mut profile = self.board.profile(caller, user).await?;
        if let Plant::Profile(spoil) = self.plant {
            spoil(&mut profile, self.written());
        }
        Ok(profile)
    }
}
