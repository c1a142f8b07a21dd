//! Regular expressions written in the code.

use regex::Regex;

/// Compiles a constant pattern, for statics. Panics if the pattern is invalid, which the tests would notice.
pub(crate) fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and each is used by a test")]
    Regex::new(text).expect("a pattern")
}
