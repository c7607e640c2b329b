//! A board that does what the reference board does, but for one fault.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use forum_api::async_trait;
use forum_api::host::{
    Authority, Board, Caller, In, Member, Place, Refusal, Result, Standing, Stored,
};
use forum_api::model::*;

use super::plant::Plant;

/// The board itself.
pub struct Faulty {
    plant: Plant,
    authority: Arc<dyn Authority>,
    board: Arc<dyn Board>,
    /// An administrator.
    root: UserId,
    /// Everybody else.
    pub members: Mutex<Vec<UserId>>,
    remembered: Mutex<HashMap<Option<UserId>, Option<Standing>>>,
    written: AtomicU64,
}

impl Faulty {
    /// The `board` with this fault; `root` is an administrator.
    pub fn new(
        (authority, board): (Arc<dyn Authority>, Arc<dyn Board>),
        root: UserId,
        plant: Plant,
    ) -> Self {
        Self {
            plant,
            authority,
            board,
            root,
            members: Mutex::default(),
            remembered: Mutex::default(),
            written: AtomicU64::default(),
        }
    }

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
        self.stand(&self.root).await
    }

    async fn stand(&self, member: &UserId) -> Result<Member> {
        let standing = self.authority.member(member).await?;
        Ok(Member::new(
            member.clone(),
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

    /// Whether a write that was refused is carried out all the same.
    fn forces<T>(&self, reply: &Result<T>, by: &Member, forum: &ForumId) -> bool {
        let covered = by.standing().forums().contains(forum);
        let force = |refusal| matches!(self.plant, Plant::Forces(these) if these(refusal, covered));
        reply.as_ref().is_err_and(force)
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
        mut forum: ForumId,
        mut list: ListThreads,
    ) -> Result<Page<Thread>> {
        let caller = self.eyes("threads", caller).await?;
        match self.plant {
            Plant::AskForum(spoil) => spoil(&mut forum),
            Plant::AskThreads(spoil) => spoil(&mut list),
            _ => {}
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
        if self.forces(&thread, by, &forum) {
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
        if let (Plant::Forces(_), Err(_)) = (self.plant, &post) {
            let root = self.root().await?;
            let (place, seer) = (Place::Thread(&thread), Caller::Member(root.clone()));
            let forum = self.board.forum_of(&seer, place).await?;
            if self.forces(&post, by, &forum) {
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
        match self.plant {
            Plant::Profile(spoil) => spoil(&mut profile, self.written()),
            Plant::HidesBanned => drop(self.stand(&profile.user_id).await?),
            _ => {}
        }
        Ok(profile)
    }

    async fn messages(&self, by: &Member, mut list: ListMessages) -> Result<Page<MessageSummary>> {
        if let Plant::AskMessages(spoil) = self.plant {
            spoil(&mut list);
        }
        self.board.messages(by, list).await
    }

    async fn send_message(&self, by: &Member, mut new: SendMessage) -> Result<Message> {
        if let Plant::AskSend(spoil) = self.plant {
            spoil(&mut new);
        }
        self.board.send_message(by, new).await
    }

    async fn message(
        &self,
        by: &Member,
        message: MessageId,
        mut opening: Opening,
    ) -> Result<Message> {
        if let Plant::AskMessage(spoil) = self.plant {
            spoil(&mut opening);
        }
        let mut found = self.board.message(by, message.clone(), opening).await;
        if let Plant::OpensOthers = self.plant {
            let others = self.members.lock().unwrap().clone();
            for other in &others {
                if found.is_err() {
                    found = self
                        .board
                        .message(&self.stand(other).await?, message.clone(), opening)
                        .await;
                }
            }
        }
        found
    }
}
