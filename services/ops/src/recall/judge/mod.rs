//! Judge: a chat model chooses the helpful skills from those that recall found for a message.
//!
//! A turn asks the model at most once, outside of any transaction. The request is limited by the turn's deadline and
//! the user's daily tokens. The answer is a list of numbers. If there is no usable answer, recall alone decides.

mod ask;
mod found;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use found::{JudgeRequest, Judgement, judge_found};
pub use view::{JudgeFailure, Judged};
