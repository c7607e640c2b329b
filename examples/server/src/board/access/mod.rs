//! Who may read and do what: groups, permissions, the access of a member, and the visibility of content.

pub mod actor;
pub mod authorizer;
pub mod board_rules;
pub mod groups;
pub mod permissions;
pub mod visibility;
