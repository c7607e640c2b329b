//! Every trait that a host implements, in reading order: who may see what ([`Authority`]), what the board does
//! ([`Board`]), who runs it ([`Operator`]), and how it says no ([`Refusal`]).

mod authority;
mod board;
mod caller;
mod error;
#[cfg(feature = "panel")]
mod operator;
mod reply;

pub use crate::error::{BoxError, Fault, IntoFault, Overloaded, Stored};
pub use authority::{Authority, Forums, Standing};
pub use board::{Board, Place};
pub(crate) use caller::Presented;
pub use caller::{Caller, Member};
pub use error::Refusal;
#[cfg(feature = "panel")]
pub use operator::{Operator, Session};
pub use reply::{HasForum, In};

/// What a command of the board gives.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;
