//! Tests of a user's cached skills.

mod catalogue;
mod lines;
mod own_changes;
