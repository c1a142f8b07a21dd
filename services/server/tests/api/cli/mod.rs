//! The command line.

mod commands;
mod corpus;
mod deletes;
mod distrust;
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
mod terminal;
mod watches;
