//! The rules of `rules.toml`, parsed once per process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::category::Category;
use super::hosts::{HostKind, Hosts};
use super::needs::{self, AnyOf};
use super::prefilter::{FoundWord, FoundWords, Prefilter};
use super::report::{Tier, Verdict, View};
use super::secrets::{self, SecretPattern};

/// The built-in rules.
const DATA: &str = include_str!("rules.toml");
/// Maximum size of a compiled pattern, in bytes. A larger pattern is a mistake in the rules.
const PATTERN_BYTES: usize = 8 << 20;
/// Maximum size of the cache for the automaton states of a pattern, per thread, in bytes. With the library's default of
/// 2 MiB, a text crafted against the largest patterns takes two to three times as long. For real skills, this limit
/// does not increase the memory use.
const STATES_BYTES: usize = 4 << 20;

/// All rules, and the index that selects rules for a text.
pub(super) struct Rules {
    pub(super) version: u32,
    pub(super) rules: Vec<Rule>,
    pub(super) composites: Vec<Composite>,
    pub(super) hosts: Hosts,
    built_in: HashMap<String, BuiltIn>,
    index: PatternIndex,
}

/// Selects the patterns that can match a text.
struct PatternIndex {
    prefilter: Prefilter,
    /// The patterns by their number in the prefilter.
    places: Vec<PatternPlace>,
    /// For each word of the prefilter, whether a pattern for blocks needs it.
    of_blocks: Vec<bool>,
}

/// The place of a pattern in the rules.
struct PatternPlace {
    rule: usize,
    /// Number within the rule.
    pattern: usize,
    area: PatternArea,
}

/// The part of a text that a pattern is tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternArea {
    /// A line, or a paragraph with its lines joined.
    Line,
    /// Several lines with their line breaks.
    Block,
}

/// A rule about a line or a paragraph.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) category: Category,
    pub(super) tier: Tier,
    /// Verdict of a match.
    #[serde(default)]
    pub(super) verdict: Verdict,
    /// Verdict if the text was hidden or encoded.
    #[serde(default)]
    pub(super) hidden: Option<Verdict>,
    /// Verdict in a script other than SKILL.md.
    #[serde(default)]
    pub(super) script: Option<Verdict>,
    /// True if the pattern matches a name, such as an address. Words around a name do not lower its finding.
    #[serde(default)]
    pub(super) is_name: bool,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) patterns: Vec<RulePattern>,
    /// Kinds of hosts. The match must contain a host of one of these kinds; if empty, it needs no host.
    #[serde(default)]
    pub(super) host: Vec<HostKind>,
    /// Views to search; if empty, all views are searched.
    #[serde(default)]
    pub(super) views: Vec<View>,
    /// Additional condition on a match.
    #[serde(default)]
    pub(super) check: Option<MatchCondition>,
}

/// A pattern of a rule.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct RulePattern {
    /// A faster pattern that matches every text that the exact pattern matches.
    quick_form: Option<Searcher>,
    exact: Searcher,
    /// Further conditions, if the pattern finds secrets.
    pub(super) secret: Option<Arc<SecretPattern>>,
}

/// A pattern, compiled on first use because most patterns are never needed.
pub(super) struct Searcher {
    text: String,
    /// Whether the pattern ignores case.
    folds: bool,
    unicode: bool,
    compiled: OnceLock<Regex>,
}

/// A condition that a pattern cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MatchCondition {
    /// The group `number` is a number that identifies a person, see `numbers`.
    CardOrId,
    /// The group `host` is a host that is not well known.
    ForeignHost,
}

/// A rule about several findings of a skill together.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Composite {
    pub(super) id: String,
    pub(super) category: Category,
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// Groups of rule ids. A finding of at least one rule of each group is needed.
    pub(super) needs: Vec<Vec<String>>,
    /// Maximum distance between the findings within a file, in bytes. If `None`, they may be anywhere in the skill.
    #[serde(default)]
    pub(super) near: Option<usize>,
}

/// A rule implemented in code.
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
struct RuleFile {
    version: u32,
    parts: HashMap<String, String>,
    rule: Vec<Rule>,
    composite: Vec<Composite>,
    built_in: Vec<BuiltIn>,
    hosts: Hosts,
}

impl Rules {
    /// Returns the rules of this build.
    pub(super) fn get() -> &'static Self {
        static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(DATA));
        &RULES
    }

    /// Parses and indexes the rules.
    ///
    /// # Panics
    /// If the data is invalid; the tests of this crate rule that out.
    #[expect(clippy::expect_used, reason = "the data is compiled in, and every test of the scanner reads it")]
    fn read(data: &str) -> Self {
        let data: RuleFile = toml::from_str(data).expect("rules.toml");
        let mut rules = data.rule;
        let mut of_secrets = Some(secrets::patterns());
        let mut indexed = Vec::new();
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
                let area = if is_block { PatternArea::Block } else { PatternArea::Line };
                indexed.push((read.needs, PatternPlace { rule: index, pattern: rule.patterns.len(), area }));
                rule.patterns.push(RulePattern::of(text, read.quick_form, secret));
            }
        }
        let index = PatternIndex::of(indexed);
        let built_in = data.built_in.into_iter().map(|rule| (rule.id.clone(), rule)).collect();
        let hosts = data.hosts.indexed();
        Self { version: data.version, rules, composites: data.composite, hosts, built_in, index }
    }

    /// Returns a rule that is implemented in code.
    pub(super) fn built_in(&self, id: &str) -> &BuiltIn {
        &self.built_in[id]
    }

    /// Finds the words of all patterns in a text.
    pub(super) fn find_words(&self, text: &str, found: &mut FoundWords) {
        self.index.prefilter.find(text, found);
    }

    /// Checks whether a pattern for several lines needs a word.
    pub(super) fn is_of_block(&self, word: u32) -> bool {
        self.index.of_blocks[word as usize]
    }

    /// Returns the patterns for an area that can match a text with these words, with their rules.
    pub(super) fn candidates(
        &'static self,
        words: &[FoundWord],
        area: PatternArea,
    ) -> impl Iterator<Item = (&'static Rule, &'static RulePattern)> + use<> {
        let places = self.index.prefilter.candidates(words).into_iter().map(|pattern| &self.index.places[pattern]);
        let places = places.filter(move |place| place.area == area);
        places.map(|place| (&self.rules[place.rule], &self.rules[place.rule].patterns[place.pattern]))
    }

    /// Returns the id and reason of each rule that can be in a scan.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let rules = self.rules.iter().filter(|rule| rule.tier != Tier::Signal);
        let rules = rules.map(|rule| (rule.id.as_str(), rule.reason.as_str()));
        let composites = self.composites.iter().map(|composite| (composite.id.as_str(), composite.reason.as_str()));
        let built_in = self.built_in.values().map(|rule| (rule.id.as_str(), rule.reason.as_str()));
        rules.chain(composites).chain(built_in)
    }
}

impl PatternIndex {
    /// Makes an index of patterns, each given by its needs and its place.
    fn of(patterns: Vec<(Vec<AnyOf>, PatternPlace)>) -> Self {
        let (needs, places): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        let prefilter = Prefilter::of(needs.into_iter());
        let mut of_blocks = vec![false; prefilter.words()];
        for (pattern, _) in places.iter().enumerate().filter(|(_, place)| place.area == PatternArea::Block) {
            prefilter.words_of(pattern).for_each(|word| of_blocks[word] = true);
        }
        Self { prefilter, places, of_blocks }
    }
}

impl Rule {
    /// Checks whether the rule searches only comments.
    pub(super) fn is_about_comments(&self) -> bool {
        self.views == [View::Comment]
    }
}

impl From<String> for RulePattern {
    fn from(text: String) -> Self {
        Self::of(text, None, None)
    }
}

impl RulePattern {
    /// Makes a pattern. Only secrets are case-sensitive.
    fn of(text: String, quick_form: Option<String>, secret: Option<Arc<SecretPattern>>) -> Self {
        // Byte patterns match several times faster, so only non-ASCII patterns use Unicode. The views have non-ASCII
        // letters in lower case.
        let unicode = !text.is_ascii();
        let folds = secret.is_none();
        let searcher = |text| Searcher { text, folds, unicode, compiled: OnceLock::new() };
        Self { quick_form: quick_form.map(searcher), exact: searcher(text), secret }
    }

    /// Returns the searches to run in order: the quick form, then the pattern itself.
    pub(super) fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        self.quick_form.iter().chain([&self.exact])
    }

    /// Returns the compiled pattern.
    pub(super) fn exact(&self) -> &Regex {
        self.exact.compiled()
    }
}

impl Searcher {
    /// Checks whether the pattern has already been compiled.
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

/// Inserts the named parts into a pattern and replaces its classes by ASCII classes, because the engine is slow on
/// non-ASCII letters with Unicode classes.
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
