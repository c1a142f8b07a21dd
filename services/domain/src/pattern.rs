//! Patterns that are written in the code.

use regex::Regex;

/// The pattern of a constant text. For statics: a wrong one fails the first test that uses it.
pub(crate) fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and each is used by a test")]
    Regex::new(text).expect("a pattern")
}
