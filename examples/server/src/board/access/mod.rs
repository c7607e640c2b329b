//! Access: groups, permissions, the actor, and the visibility of content.

pub mod actor;
pub mod board_rules;
pub mod groups;
pub mod permissions;
pub mod visibility;
