//! Jobs and the processes that run them.

pub mod job;
pub mod process;
