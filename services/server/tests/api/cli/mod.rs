//! The command line.

mod commands;
mod corpus;
mod dreams;
mod imports;
mod movers;
mod scans;
mod setup;
mod syncs;
mod watches;
