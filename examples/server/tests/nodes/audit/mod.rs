//! What must be true of a board after a drill, whatever happened meanwhile.

pub mod budgets;
pub mod deliveries;
pub mod events;
pub mod figures;
pub mod keys;
pub mod walk;
pub mod writes;
