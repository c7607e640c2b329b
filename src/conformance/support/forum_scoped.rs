//! The forums that a result of the board shows something of.

use crate::host::InForum;
use crate::model::*;

/// A result of a call of the board.
pub trait ForumScoped {
    /// The forums that the result shows something of.
    fn forums(&self) -> Vec<&ForumId>;
}

macro_rules! forum_scoped {
    ($($name:ty: $forums:expr;)+) => {$(
        impl ForumScoped for $name {
            fn forums(&self) -> Vec<&ForumId> {
                let forums: fn(&Self) -> Vec<&ForumId> = $forums;
                forums(self)
            }
        }
    )+};
}

forum_scoped! {
    ForumId: |forum| vec![forum];
    Thread: |thread| vec![&thread.forum_id];
    Vec<Forum>: |forums| forums.iter().map(|forum| &forum.forum_id).collect();
    Page<Thread>: |page| page.items.iter().map(|thread| &thread.forum_id).collect();
    Page<Subscription>: |page| page.items.iter().map(|item| &item.forum_id).collect();
    Page<SearchHit>: |page| page.items.iter().map(|hit| &hit.forum_id).collect();
    SubscribeOutcome: |followed| match followed {
        SubscribeOutcome::Created(item) | SubscribeOutcome::Existing(item) => vec![&item.forum_id],
    };
    InForum<Page<Post>>: |reply| vec![&reply.forum_id];
    InForum<Post>: |reply| vec![&reply.forum_id];
    InForum<Poll>: |reply| vec![&reply.forum_id];
    Page<MessageSummary>: |_| Vec::new();
    Message: |_| Vec::new();
    Member: |_| Vec::new();
    OwnAccount: |_| Vec::new();
    Rating: |rating| rating.forum_id.iter().collect();
    (): |_| Vec::new();
}
