//! Tests each rule of the checks with accepted and refused operations.

mod archive;
mod create;
mod fixture;
mod hostile;
mod merge;
mod parent;
mod patch;
mod plan;
mod see_also;
