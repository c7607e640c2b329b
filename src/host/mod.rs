//! Every trait that a host implements, in reading order: who may see what ([`Authority`]), what the board does
//! ([`Board`]), who runs it ([`Operator`]), and how it says no ([`Refusal`]).

#[cfg(feature = "panel")]
mod admin_auth;
mod authorizer;
mod board;
mod caller;
mod error;
mod in_forum;

pub use crate::error::{BoxError, Fault, IntoFault, Overloaded, Stored};
#[cfg(feature = "panel")]
pub use admin_auth::{Operator, Session};
pub use authorizer::{Authority, Forums, Standing};
pub use board::{Board, Place};
pub(crate) use caller::Presented;
pub use caller::{Caller, Member};
pub use error::Refusal;
pub use in_forum::{HasForum, In};

/// What a command of the board gives.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;
