//! Integration tests of the domain crate: documents, patches, and real skills.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod composing;
mod corpus;
#[path = "../../../testing/src/corpus.rs"]
mod corpus_folder;
mod editing;
mod enriching;
mod graph;
mod parsing;
mod patching;
mod serving;
