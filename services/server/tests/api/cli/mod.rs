//! Commands of `knowhow`.

mod admin_reviews;
mod admin_tenants;
mod commands;
mod corpus;
mod deletes;
mod distrust;
pub mod doctor;
mod dreams;
mod faked;
mod guarded;
mod hostile;
mod imports;
mod movers;
mod moves;
mod planted;
mod scans;
pub mod setup;
mod sync_conflicts;
pub mod syncs;
mod terminal;
mod watches;
