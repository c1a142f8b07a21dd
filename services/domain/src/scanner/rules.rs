//! The rules of `rules.toml`, read once for the process.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::category::Category;
use super::hosts::{HostKind, Hosts};
use super::needs;
use super::prefilter::Prefilter;
use super::report::{Tier, Verdict, View};

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
    prefilter: Prefilter,
    /// By the number that the prefilter knows a pattern by: its rule, and which of that rule's patterns it is.
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
    /// It is as random as a key, and not an example.
    Random,
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
        let mut needs_of_patterns = Vec::new();
        let mut places = Vec::new();
        for (index, rule) in rules.iter_mut().enumerate() {
            for (number, pattern) in rule.patterns.iter_mut().enumerate() {
                let text = written_out(&pattern.exact.text, &data.parts);
                let read = needs::read(&text).expect(&rule.id);
                needs_of_patterns.push(read.needs);
                places.push((index, number));
                *pattern = Pattern::of(text, read.quick_form, rule.check != Some(Check::Random));
            }
        }
        let prefilter = Prefilter::of(needs_of_patterns.into_iter()).expect("words of rules.toml");
        let built_in = data.built_in.into_iter().map(|rule| (rule.id.clone(), rule)).collect();
        let hosts = data.hosts.indexed();
        Self { version: data.version, rules, composites: data.composite, hosts, built_in, prefilter, places }
    }

    /// A rule whose search is written in code.
    pub(super) fn built_in(&self, id: &str) -> &BuiltIn {
        &self.built_in[id]
    }

    /// The patterns that may be in a text, by their rules.
    pub(super) fn candidates(&self, text: &str) -> impl Iterator<Item = (&Rule, &Pattern)> {
        self.prefilter.candidates(text).into_iter().map(|pattern| {
            let (rule, number) = self.places[pattern];
            (&self.rules[rule], &self.rules[rule].patterns[number])
        })
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

impl Rule {
    /// Whether it looks at comments alone.
    pub(super) fn is_about_comments(&self) -> bool {
        self.views == [View::Comment]
    }
}

impl From<String> for Pattern {
    fn from(text: String) -> Self {
        Self::of(text, None, true)
    }
}

impl Pattern {
    /// Keys are told by their case, others are not.
    fn of(text: String, quick_form: Option<String>, folds: bool) -> Self {
        // Over bytes the engine is several times as fast; letters that are not ASCII are in lower case in the view that is made
        // for them.
        let unicode = !text.is_ascii();
        let searcher = |text| Searcher { text, folds, unicode, compiled: OnceLock::new() };
        Self { quick_form: quick_form.map(searcher), exact: searcher(text) }
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
