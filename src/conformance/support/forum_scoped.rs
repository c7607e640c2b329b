//! The forums of a call's result.

use crate::host::InForum;
use crate::model::*;

/// The successful result of a call of the board.
pub trait ForumScoped {
    /// Returns the forums whose content the result shows.
    fn forums(&self) -> Vec<&ForumId>;

    /// Removes the fields that a response to the caller does not contain.
    fn redact(&mut self) {}
}

macro_rules! forum_scoped {
    ($($name:ty: |$result:ident| $forums:expr $(, $redact:expr)?;)+) => {$(
        impl ForumScoped for $name {
            fn forums(&self) -> Vec<&ForumId> {
                let $result = self;
                $forums
            }

            $(fn redact(&mut self) {
                let redact: fn(&mut Self) = $redact;
                redact(self);
            })?
        }
    )+};
}

forum_scoped! {
    ForumId: |forum| vec![forum];
    Thread: |thread| vec![&thread.forum_id];
    Page<Forum>: |page| page.items.iter().map(|forum| &forum.forum_id).collect();
    Page<Thread>: |page| page.items.iter().map(|thread| &thread.forum_id).collect();
    Page<Subscription>: |page| page.items.iter().map(|item| &item.forum_id).collect();
    Page<SearchHit>: |page| page.items.iter().map(|hit| &hit.forum_id).collect();
    SubscribeOutcome: |outcome| match outcome {
        SubscribeOutcome::Created(item) | SubscribeOutcome::Existing(item) => vec![&item.forum_id],
    };
    InForum<Page<Post>>: |page| vec![&page.forum_id], |page| page.value.items.iter_mut().for_each(Post::redact);
    InForum<Post>: |post| vec![&post.forum_id], |post| post.value.redact();
    InForum<Poll>: |poll| vec![&poll.forum_id];
    Page<MessageSummary>: |_page| Vec::new();
    Message: |_message| Vec::new();
    Member: |_member| Vec::new();
    OwnAccount: |_account| Vec::new();
    Rating: |rating| rating.forum_id.iter().collect();
    (): |_nothing| Vec::new();
}
