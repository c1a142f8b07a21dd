//! Describes the commands, numbers and names that a new text would lose.

use super::plan_state::text_of;
use crate::learning::dream::tokens::{hard_tokens_of, missing_of};
use crate::{SkillDocument, inert_line};

/// Divisor that gives the share of a text's hard tokens that may be lost.
const ONE_LOST_OF: usize = 50;
/// Maximum number of lost tokens listed.
const NAMED: usize = 20;

/// Describes the hard tokens from `before` that `after` lacks. Returns `None` if their share is small.
pub(super) fn describe_lost(before: &[&SkillDocument], after: &str) -> Option<String> {
    let texts: Vec<String> = before.iter().map(|document| text_of(document)).collect();
    let tokens = hard_tokens_of(texts.iter().map(String::as_str));
    let missing = missing_of(&tokens, after);
    (missing.len() * ONE_LOST_OF > tokens.len()).then(|| describe_missing(&missing, tokens.len()))
}

/// Describes the missing hard tokens, e.g. `2 of 60 commands, numbers and names: x; y`.
pub(super) fn describe_missing(missing: &[String], all: usize) -> String {
    format!("{} of {all} commands, numbers and names: {}", missing.len(), named(missing))
}

/// Joins the first `NAMED` tokens, each cut to one line of at most `CHARS` characters.
fn named(tokens: &[String]) -> String {
    const CHARS: usize = 100;
    let line = |token: &String| inert_line(token).chars().take(CHARS).collect::<String>();
    let mut named: Vec<String> = tokens.iter().take(NAMED).map(line).collect();
    if tokens.len() > NAMED {
        named.push(format!("and {} more", tokens.len() - NAMED));
    }
    named.join("; ")
}
