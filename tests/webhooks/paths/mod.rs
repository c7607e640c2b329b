//! The paths of a delivery with nothing made up but time: the worker, its store in a file, the transport, and a
//! receiver at a socket.

mod retried;
mod story;
mod table;
mod turning;
mod walks;
