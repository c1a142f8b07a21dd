//! `/v1/dreams`, `/v1/reflections` and enrichment: changes that a chat model proposes.

mod directed;
mod directives;
pub mod dreams;
mod dreams_canaries;
mod dreams_course;
mod dreams_evidence;
mod dreams_faults;
mod dreams_gaps;
mod dreams_hostile;
mod dreams_nights;
pub mod dreams_stage;
mod dreams_worlds;
mod enriched;
mod enriched_beside;
mod reflected;
mod reflected_actions;
mod reflected_decisions;
