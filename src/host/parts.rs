//! The authorizer and the board of a host.

use std::sync::Arc;

use super::{Authorizer, Board};

/// The [`Authorizer`] and the [`Board`] of a host.
///
/// An [`Arc`] of one value that implements both traits converts to a `Host`. [`new`](Self::new) combines two separate
/// values:
///
/// ```
/// use std::sync::Arc;
///
/// use forum_api::ForumApi;
/// use forum_api::host::{Authorizer, Board, Host};
/// use forum_api::store::Stores;
///
/// # fn build<B: Authorizer + Board>(
/// #     my_board: Arc<B>,
/// #     my_authorizer: Arc<dyn Authorizer>,
/// # ) -> Result<(), forum_api::BuildError> {
/// let api = ForumApi::builder(my_board.clone(), Stores::in_memory()).build()?;
///
/// let host = Host::new(my_authorizer, my_board);
/// let api = ForumApi::builder(host, Stores::in_memory()).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Host {
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) board: Arc<dyn Board>,
}

impl Host {
    /// Combines an authorizer and a board.
    pub fn new(authorizer: impl Authorizer, board: impl Board) -> Self {
        Self { authorizer: Arc::new(authorizer), board: Arc::new(board) }
    }

    /// Returns the authorizer.
    pub fn authorizer(&self) -> &Arc<dyn Authorizer> {
        &self.authorizer
    }

    /// Returns the board.
    pub fn board(&self) -> &Arc<dyn Board> {
        &self.board
    }
}

impl<B: Authorizer + Board> From<Arc<B>> for Host {
    fn from(board: Arc<B>) -> Self {
        Self { authorizer: Arc::<B>::clone(&board), board }
    }
}

opaque_debug!(Host);
