//! The command line.

mod commands;
mod corpus;
mod deletes;
pub mod doctor;
mod dreams;
mod faked;
mod hostile;
mod imports;
mod movers;
mod planted;
mod scans;
pub mod setup;
pub mod syncs;
mod watches;
