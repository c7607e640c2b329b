//! What several measurements share.

pub mod figures;
pub mod place;
pub mod prebuilt;
pub mod receiver;
pub mod rig;
pub mod wrk;
