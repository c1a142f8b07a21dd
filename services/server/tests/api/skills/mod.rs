//! Tests of `/v1/skills`: writing, reading, search, import and export, and learning.

mod archives;
mod at_once;
mod counter_examples;
mod delete;
pub mod examples;
pub mod exchange;
mod executable;
mod fields;
mod large;
mod learned;
mod list;
mod load;
mod patch;
mod quotas;
mod reserved;
mod resources;
mod save;
mod starters;
mod synced;
mod typed_names;
mod used;
mod versions;
mod ways_in;
