//! What each rule of the checks lets through, and what not.

mod archive;
mod create;
mod fixture;
mod hostile;
mod merge;
mod parent;
mod patch;
mod plan;
mod see_also;
