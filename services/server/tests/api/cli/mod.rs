//! The command line.

mod commands;
mod corpus;
pub mod doctor;
mod dreams;
mod imports;
mod movers;
mod scans;
pub mod setup;
pub mod syncs;
mod watches;
