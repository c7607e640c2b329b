//! Every command of the board, and the fault that can sit in it.

use forum_api::async_trait;
use forum_api::host::{Board, Caller, In, Member, Place, Result};
use forum_api::model::*;

use super::faulty::Faulty;
use super::plant::Plant;
use super::sound::member;

/// Those who ask for commands.
trait Asker: Sized {
    fn caller(&self) -> Caller;
    fn of(caller: &Caller) -> Result<&Self>;
}

impl Asker for Caller {
    fn caller(&self) -> Caller {
        self.clone()
    }

    fn of(caller: &Caller) -> Result<&Self> {
        Ok(caller)
    }
}

impl Asker for Member {
    fn caller(&self) -> Caller {
        Caller::Member(self.clone())
    }

    fn of(caller: &Caller) -> Result<&Self> {
        member(caller)
    }
}

macro_rules! commands {
    ($($asker:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty, $plant:ident;)+) => {
        #[async_trait]
        impl Board for Faulty {
            async fn forum_of(&self, caller: &Caller, place: Place<'_>) -> Result<ForumId> {
                let ask = |caller: Caller, _| async move {
                    self.sound().board.forum_of(&caller, place).await
                };
                let (caller, printed) = (caller.clone(), (format!("{place:?}"),));
                match self.plant() {
                    Plant::ForumOf(twist) => self.twisted(twist, caller, printed, ask).await,
                    _ => ask(caller, printed).await,
                }
            }

            $(async fn $name(&self, by: &$asker, $($argument: $type),*) -> Result<$answer> {
                let ask = |by: Caller, ($($argument,)*): ($($type,)*)| async move {
                    self.sound().board.$name(<$asker as Asker>::of(&by)?, $($argument),*).await
                };
                match self.plant() {
                    Plant::$plant(twist) => {
                        self.twisted(twist, by.caller(), ($($argument,)*), ask).await
                    }
                    _ => ask(by.caller(), ($($argument,)*)).await,
                }
            })+
        }
    };
}

commands! {
    Member me() -> Account, Me;
    Caller forums() -> Vec<Forum>, Forums;
    Caller threads(forum: ForumId, list: ListThreads) -> Page<Thread>, Threads;
    Member start_thread(forum: ForumId, new: StartThread) -> Thread, StartThread;
    Caller thread(thread: ThreadId) -> Thread, Thread;
    Caller posts(thread: ThreadId, list: ListPosts) -> In<Page<Post>>, Posts;
    Member reply(thread: ThreadId, reply: Reply) -> In<Post>, Reply;
    Member edit_post(at: PostAt, edit: EditPost) -> In<Post>, EditPost;
    Member delete_post(at: PostAt) -> (), DeletePost;
    Caller profile(user: UserRef) -> Profile, Profile;
    Member rate(user: UserRef, rating: Rate) -> Rating, Rate;
    Member messages(list: ListMessages) -> Page<MessageSummary>, Messages;
    Member send_message(new: SendMessage) -> Message, SendMessage;
    Member message(message: MessageId, opening: Opening) -> Message, Message;
    Caller poll(thread: ThreadId) -> In<Poll>, Poll;
    Member vote(poll: PollId, vote: Vote) -> In<Poll>, Vote;
    Member edit_poll(poll: PollId, edit: EditPoll) -> In<Poll>, EditPoll;
    Member subscriptions(list: ListSubscriptions) -> Page<Subscription>, Subscriptions;
    Member follow(what: Target) -> Followed, Follow;
    Member unfollow(what: Target) -> (), Unfollow;
    Caller search(search: Search) -> Page<SearchHit>, Search;
}
