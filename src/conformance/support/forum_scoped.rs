//! The forums of a call's result.

use crate::host::{CreateOutcome, InForum};
use crate::model::*;

/// The successful result of a call of the board.
pub(crate) trait ForumScoped {
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
    Forum: |forum| vec![&forum.forum_id];
    Thread: |thread| vec![&thread.forum_id];
    Subscription: |subscription| vec![&subscription.forum_id];
    SearchHit: |hit| vec![&hit.forum_id];
    Post: |_post| Vec::new(), Self::redact;
    Poll: |_poll| Vec::new();
    CreateOutcome<Subscription>: |outcome| match outcome {
        CreateOutcome::Created(item) | CreateOutcome::Existing(item) => vec![&item.forum_id],
    };
    MessageSummary: |_message| Vec::new();
    Message: |_message| Vec::new();
    Member: |_member| Vec::new();
    OwnAccount: |_account| Vec::new();
    Rating: |rating| rating.forum_id.iter().collect();
    (): |_nothing| Vec::new();
}

impl<T: ForumScoped> ForumScoped for InForum<T> {
    fn forums(&self) -> Vec<&ForumId> {
        let inner = self.value.forums();
        std::iter::once(&self.forum_id).chain(inner).collect()
    }

    fn redact(&mut self) {
        self.value.redact();
    }
}

impl<T: ForumScoped> ForumScoped for Page<T> {
    fn forums(&self) -> Vec<&ForumId> {
        self.items.iter().flat_map(T::forums).collect()
    }

    fn redact(&mut self) {
        self.items.iter_mut().for_each(T::redact);
    }
}
