//! Patterns for secrets. `gitleaks.toml` is generated. `own.toml` is written by hand and explains the members of both
//! files. All patterns belong to one rule, [`RULE`].

mod value;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Captures, RegexSet, RegexSetBuilder};
use serde::Deserialize;

use self::value::PasswordContext;

/// The rule of `rules.toml` that all patterns belong to.
pub(super) const RULE: &str = "live-secret";

const DATA: [&str; 2] = [include_str!("gitleaks.toml"), include_str!("own.toml")];

/// A pattern for secrets, with conditions that distinguish secrets from placeholders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretPattern {
    pub(super) id: String,
    pub(super) regexes: Vec<String>,
    /// Lower-case texts. A line must contain one of them.
    #[serde(default)]
    pub(super) keywords: BTreeSet<String>,
    /// Whether the pattern is tried on several lines with their line breaks.
    #[serde(default, rename = "block")]
    pub(super) is_block: bool,
    #[serde(default)]
    value: Value,
    group: Option<usize>,
    /// Minimum entropy in bits per character.
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    allowed: Vec<Allowed>,
    /// Exceptions that apply to all patterns.
    #[serde(skip)]
    allowed_everywhere: Arc<[Allowed]>,
}

/// Condition on the value of a secret.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Value {
    #[default]
    Key,
    Mixed,
    Password,
    Strong,
    Basic,
    Values,
}

/// Exceptions: texts that match a secret pattern but are not secrets, such as placeholders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    #[serde(default)]
    target: Target,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<(RegexSet, AhoCorasick)>,
}

/// The text that the regexes of [`Allowed`] are tried on.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretPatternFile {
    /// Exceptions that apply to all patterns.
    #[serde(default)]
    allowed: Vec<Allowed>,
    secret: Vec<SecretPattern>,
}

/// Returns all patterns for secrets.
///
/// # Panics
/// If the data is invalid; the tests of this crate rule that out.
#[expect(clippy::expect_used, reason = "the data is compiled in, and every test of the scanner reads it")]
pub(super) fn patterns() -> Vec<SecretPattern> {
    let (mut patterns, mut everywhere) = (Vec::new(), Vec::new());
    for text in DATA {
        let data: SecretPatternFile = toml::from_str(text).expect("patterns of secrets");
        patterns.extend(data.secret);
        everywhere.extend(data.allowed);
    }
    let everywhere: Arc<[Allowed]> = everywhere.into();
    patterns.iter_mut().for_each(|pattern| pattern.allowed_everywhere = Arc::clone(&everywhere));
    patterns
}

impl SecretPattern {
    /// Returns the range of the secret in a match on a line; `None` for a placeholder or an example.
    pub(super) fn secret_in(&self, found: &Captures<'_>, line: &[u8]) -> Option<Range<usize>> {
        let whole = found.get(0)?;
        let group = found.name("secret").or_else(|| found.get(self.group?));
        let secret = group.or_else(|| found.iter().skip(1).flatten().find(|group| !group.is_empty())).unwrap_or(whole);
        let text = std::str::from_utf8(secret.as_bytes()).ok()?;
        let named = |name| found.name(name).and_then(|group| std::str::from_utf8(group.as_bytes()).ok());
        let context =
            PasswordContext { user: named("user").unwrap_or_default(), host: named("host").unwrap_or_default() };
        let is_secret = match self.value {
            Value::Key => value::is_key(text, whole.as_bytes(), self.entropy),
            Value::Mixed => value::is_mixed_key(text, whole.as_bytes(), self.entropy),
            Value::Password => value::is_password(text, context),
            Value::Strong => value::is_strong_password(text),
            Value::Basic => value::has_password(text),
            Value::Values => value::has_value(text),
        };
        let target = |target| match target {
            Target::Secret => secret.as_bytes(),
            Target::Match => whole.as_bytes(),
            Target::Line => line,
        };
        let mut allowed = self.allowed.iter().chain(&*self.allowed_everywhere);
        let mut is_allowed = || allowed.any(|allowed| allowed.holds(target(allowed.target), text));
        (is_secret && !is_allowed()).then(|| secret.range())
    }
}

impl Allowed {
    #[expect(clippy::expect_used, reason = "the data is compiled in, and a test compiles every pattern")]
    fn compiled(&self) -> &(RegexSet, AhoCorasick) {
        self.compiled.get_or_init(|| {
            let regexes = RegexSetBuilder::new(&self.regexes).unicode(false).build().expect("patterns of placeholders");
            (regexes, AhoCorasick::new(&self.stopwords).expect("stopwords"))
        })
    }

    /// Checks whether the exception applies. The regexes are tried on `target`, the stopwords on `secret`.
    fn holds(&self, target: &[u8], secret: &str) -> bool {
        let (regexes, stopwords) = self.compiled();
        regexes.is_match(target) || (!self.stopwords.is_empty() && stopwords.is_match(&secret.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests;
