//! What leaves the board, and what does not: commands, the outbox in a file, the worker, and receivers at sockets.

mod approval;
mod kept;
mod post;
mod private;
mod withheld;
