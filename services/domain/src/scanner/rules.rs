//! The rules of `rules.toml`, read once for the process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::category::Category;
use super::hosts::{HostKind, Hosts};
use super::needs::{self, AnyOf};
use super::prefilter::Prefilter;
use super::report::{Tier, Verdict, View};
use super::secrets::{self, SecretPattern};

/// What is compiled in.
const DATA: &str = include_str!("rules.toml");
/// A pattern that compiles to more than this is written wrongly.
const PATTERN_BYTES: usize = 8 << 20;
/// Most memory for the states that a pattern was in, of each thread that reads. With the library's 2 MiB a text that is made against
/// the largest patterns takes two to three times as long; real skills take no more memory with this.
const STATES_BYTES: usize = 4 << 20;

/// All rules, and how to find the texts that they may be about.
pub(super) struct Rules {
    pub(super) version: u32,
    pub(super) rules: Vec<Rule>,
    pub(super) composites: Vec<Composite>,
    pub(super) hosts: Hosts,
    built_in: HashMap<String, BuiltIn>,
    /// The patterns that are tried on lines and paragraphs.
    of_lines: Index,
    /// The patterns that are tried on several lines with their line breaks.
    of_blocks: Index,
}

/// Finds the patterns that may be in a text.
struct Index {
    prefilter: Prefilter,
    /// By the number of a pattern in the prefilter: its rule, and its number in that rule.
    places: Vec<(usize, usize)>,
}

/// A rule about a line or a paragraph.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) category: Category,
    pub(super) tier: Tier,
    /// What it leads to.
    #[serde(default)]
    pub(super) verdict: Verdict,
    /// What it leads to where the text was hidden or encoded.
    #[serde(default)]
    pub(super) hidden: Option<Verdict>,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) patterns: Vec<Pattern>,
    /// Of which kinds a host in the match must be; empty: whatever is there.
    #[serde(default)]
    pub(super) host: Vec<HostKind>,
    /// The only views that it looks at; empty: all.
    #[serde(default)]
    pub(super) views: Vec<View>,
    /// What else must hold of a match.
    #[serde(default)]
    pub(super) check: Option<Check>,
}

/// One of the things that a rule is about.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct Pattern {
    /// Matches wherever the pattern does, and is quicker.
    quick_form: Option<Searcher>,
    exact: Searcher,
    /// The conditions of a secret.
    pub(super) secret: Option<Arc<SecretPattern>>,
}

/// A pattern, compiled when it is first needed: most are in none of the texts of a process.
pub(super) struct Searcher {
    text: String,
    /// Whether upper and lower case are the same.
    folds: bool,
    unicode: bool,
    compiled: OnceLock<Regex>,
}

/// What a pattern cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// The group `number` is a valid card number that is none of the well-known ones for tests, or another number of a person.
    CardOrId,
}

/// Several findings of a skill together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Composite {
    pub(super) id: String,
    pub(super) category: Category,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// One rule of each group must have been found.
    pub(super) needs: Vec<Vec<String>>,
    /// How far apart at most, in bytes of the same file; anywhere in the skill where it is left out.
    #[serde(default)]
    pub(super) near: Option<usize>,
}

/// A rule whose search is written in code.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BuiltIn {
    pub(super) id: String,
    pub(super) category: Category,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    version: u32,
    parts: HashMap<String, String>,
    rule: Vec<Rule>,
    composite: Vec<Composite>,
    built_in: Vec<BuiltIn>,
    hosts: Hosts,
}

impl Rules {
    /// The rules of this build.
    pub(super) fn get() -> &'static Self {
        static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(DATA));
        &RULES
    }

    /// # Panics
    /// Where the data is wrong, which the tests of this crate exclude.
    #[expect(clippy::expect_used, reason = "the data is compiled in, and every test of the scanner reads it")]
    fn read(data: &str) -> Self {
        let data: Data = toml::from_str(data).expect("rules.toml");
        let mut rules = data.rule;
        let mut of_secrets = Some(secrets::patterns());
        let (mut of_lines, mut of_blocks) = (Vec::new(), Vec::new());
        for (index, rule) in rules.iter_mut().enumerate() {
            let plain = std::mem::take(&mut rule.patterns).into_iter().map(|pattern| (pattern.exact.text, None));
            let secrets = of_secrets.take_if(|_| rule.id == secrets::RULE).unwrap_or_default();
            let secrets = secrets.into_iter().map(Arc::new).flat_map(|secret| {
                secret.regexes.clone().into_iter().map(move |regex| (regex, Some(Arc::clone(&secret))))
            });
            for (text, secret) in plain.chain(secrets) {
                let text = written_out(&text, &data.parts);
                let name = secret.as_ref().map_or(&rule.id, |secret| &secret.id);
                let mut read = needs::read(&text).expect(name);
                let keywords = secret.iter().map(|secret| secret.keywords.clone());
                read.needs.extend(keywords.filter(|keywords| !keywords.is_empty()));
                let is_block = secret.as_ref().is_some_and(|secret| secret.is_block);
                let known = if is_block { &mut of_blocks } else { &mut of_lines };
                known.push((read.needs, (index, rule.patterns.len())));
                rule.patterns.push(Pattern::of(text, read.quick_form, secret));
            }
        }
        let (of_lines, of_blocks) = (Index::of(of_lines), Index::of(of_blocks));
        let built_in = data.built_in.into_iter().map(|rule| (rule.id.clone(), rule)).collect();
        let hosts = data.hosts.indexed();
        Self { version: data.version, rules, composites: data.composite, hosts, built_in, of_lines, of_blocks }
    }

    /// A rule whose search is written in code.
    pub(super) fn built_in(&self, id: &str) -> &BuiltIn {
        &self.built_in[id]
    }

    /// The patterns that may be in a line or paragraph, by their rules.
    pub(super) fn in_line(
        &'static self,
        text: &str,
    ) -> impl Iterator<Item = (&'static Rule, &'static Pattern)> + use<> {
        self.of_lines.candidates(text).map(|(rule, number)| (&self.rules[rule], &self.rules[rule].patterns[number]))
    }

    /// The patterns over several lines that may be in a text, by their rules.
    pub(super) fn in_block(
        &'static self,
        text: &str,
    ) -> impl Iterator<Item = (&'static Rule, &'static Pattern)> + use<> {
        self.of_blocks.candidates(text).map(|(rule, number)| (&self.rules[rule], &self.rules[rule].patterns[number]))
    }

    /// What can be in a scan, by id and reason.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let rules = self.rules.iter().filter(|rule| rule.tier != Tier::Signal);
        let rules = rules.map(|rule| (rule.id.as_str(), rule.reason.as_str()));
        let composites = self.composites.iter().map(|composite| (composite.id.as_str(), composite.reason.as_str()));
        let built_in = self.built_in.values().map(|rule| (rule.id.as_str(), rule.reason.as_str()));
        rules.chain(composites).chain(built_in)
    }
}

impl Index {
    /// An index of patterns with their needs and places.
    ///
    /// # Panics
    /// If there are too many words, which the tests of this crate exclude.
    #[expect(clippy::expect_used, reason = "the data is compiled in, and every test of the scanner reads it")]
    fn of(patterns: Vec<(Vec<AnyOf>, (usize, usize))>) -> Self {
        let (needs, places): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        Self { prefilter: Prefilter::of(needs.into_iter()).expect("words of the patterns"), places }
    }

    fn candidates(&self, text: &str) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        self.prefilter.candidates(text).into_iter().map(|pattern| self.places[pattern])
    }
}

impl Rule {
    /// Whether it looks at comments alone.
    pub(super) fn is_about_comments(&self) -> bool {
        self.views == [View::Comment]
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self::of(text, None, None)
    }
}

impl Pattern {
    /// The case of letters matters in secrets alone.
    fn of(text: String, quick_form: Option<String>, secret: Option<Arc<SecretPattern>>) -> Self {
        // Over bytes the engine is several times as fast; letters that are not ASCII are in lower case in the view that is made
        // for them.
        let unicode = !text.is_ascii();
        let folds = secret.is_none();
        let searcher = |text| Searcher { text, folds, unicode, compiled: OnceLock::new() };
        Self { quick_form: quick_form.map(searcher), exact: searcher(text), secret }
    }

    /// What must be found one after the other: the quick form, then the pattern itself.
    pub(super) fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        self.quick_form.iter().chain([&self.exact])
    }

    /// The pattern itself.
    pub(super) fn exact(&self) -> &Regex {
        self.exact.compiled()
    }
}

impl Searcher {
    /// Whether [`Self::compiled`] is at hand.
    pub(super) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    #[expect(clippy::expect_used, reason = "the data is compiled in, and a test compiles every pattern")]
    pub(super) fn compiled(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let mut builder = RegexBuilder::new(&self.text);
            builder.case_insensitive(self.folds).unicode(self.unicode);
            builder.size_limit(PATTERN_BYTES).dfa_size_limit(STATES_BYTES);
            builder.build().expect(&self.text)
        })
    }
}

/// A pattern with its parts put in, and classes of ASCII: with those of Unicode the engine is slow at every other letter.
fn written_out(pattern: &str, parts: &HashMap<String, String>) -> String {
    let whole =
        parts.iter().fold(pattern.to_owned(), |pattern, (name, part)| pattern.replace(&format!("{{{name}}}"), part));
    let classes = [
        (r"\b", r"(?-u:\b)"),
        (r"\s", r"[\t\n\r\x0c ]"),
        (r"\S", r"[^\t\n\r\x0c ]"),
        (r"\d", "[0-9]"),
        (r"\w", "[0-9A-Za-z_]"),
    ];
    classes.into_iter().fold(whole, |pattern, (class, ascii)| pattern.replace(class, ascii))
}
