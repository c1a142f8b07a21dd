//! The rules of `rules.toml`, read once for the process.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::category::Category;
use super::hosts::{HostKind, Hosts};
use super::report::{Tier, Verdict, View};

/// What is compiled in.
const DATA: &str = include_str!("rules.toml");
/// A pattern that compiles to more than this is written wrongly.
const PATTERN_BYTES: usize = 8 << 20;
/// Most memory for the states that a pattern was in, of each thread that reads. With the library's 2 MiB the largest patterns
/// forget theirs again and again, which takes a third of a scan. Over 220 skills all patterns together take 2 MiB more.
const STATES_BYTES: usize = 4 << 20;

/// All rules, and how to find the texts that they may be about.
pub(super) struct Rules {
    pub(super) version: u32,
    pub(super) rules: Vec<Rule>,
    pub(super) composites: Vec<Composite>,
    pub(super) hosts: Hosts,
    built_in: HashMap<String, BuiltIn>,
    words: AhoCorasick,
    /// By the word's number: the rules that it belongs to.
    rules_of_word: Vec<Vec<usize>>,
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
    words: Vec<String>,
    /// A pattern that is cheap to search and stands in all that the others find: they are dear where words are common.
    #[serde(default)]
    also: Option<String>,
    patterns: Vec<String>,
    /// Of which kinds a host in the match must be; empty: whatever is there.
    #[serde(default)]
    pub(super) host: Vec<HostKind>,
    /// The only views that it looks at; empty: all.
    #[serde(default)]
    pub(super) views: Vec<View>,
    /// What else must hold of a match.
    #[serde(default)]
    pub(super) check: Option<Check>,
    #[serde(skip)]
    compiled: OnceLock<Compiled>,
}

/// The patterns of a rule.
pub(super) struct Compiled {
    also: Option<Regex>,
    /// All of them at once, to learn in one pass that none is there.
    any: Regex,
    pub(super) each: Vec<Regex>,
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
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut rules_of_word: Vec<Vec<usize>> = Vec::new();
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.patterns = rule.patterns.iter().map(|pattern| written_out(pattern, &data.parts)).collect();
            for word in &rule.words {
                let number = *numbers.entry(word.clone()).or_insert_with(|| {
                    rules_of_word.push(Vec::new());
                    rules_of_word.len() - 1
                });
                rules_of_word[number].push(index);
            }
        }
        let mut words: Vec<(&String, &usize)> = numbers.iter().collect();
        words.sort_by_key(|(_, number)| **number);
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words.into_iter().map(|(word, _)| word))
            .expect("words of rules.toml");
        let built_in = data.built_in.into_iter().map(|rule| (rule.id.clone(), rule)).collect();
        let hosts = data.hosts.indexed();
        Self { version: data.version, rules, composites: data.composite, hosts, built_in, words, rules_of_word }
    }

    /// A rule whose search is written in code.
    pub(super) fn built_in(&self, id: &str) -> &BuiltIn {
        &self.built_in[id]
    }

    /// Calls `found` with each place of a word and the rules that it belongs to, by the ends of the words.
    pub(super) fn find_words(&self, text: &str, mut found: impl FnMut(usize, &[usize])) {
        for word in self.words.find_overlapping_iter(text) {
            found(word.start(), &self.rules_of_word[word.pattern().as_usize()]);
        }
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

    /// Whether [`Self::patterns`] are at hand.
    pub(super) fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Its patterns, compiled when they are first needed: most rules are about none of the texts of a process.
    #[expect(clippy::expect_used, reason = "the data is compiled in, and a test compiles every pattern")]
    pub(super) fn patterns(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let compile = |pattern: &str| {
                // Keys are told by their case. Over bytes the engine is several times as fast; letters that are not ASCII
                // are in lower case in the view that is made for them.
                let folds = self.check != Some(Check::Random);
                let mut builder = RegexBuilder::new(pattern);
                builder.case_insensitive(folds).unicode(!pattern.is_ascii());
                builder.size_limit(PATTERN_BYTES).dfa_size_limit(STATES_BYTES);
                builder.build().expect(&self.id)
            };
            let each = self.patterns.iter().map(|pattern| compile(pattern)).collect();
            let any = self.patterns.join(")|(?:").replace("?P<number>", "?:");
            Compiled { also: self.also.as_deref().map(compile), any: compile(&format!("(?:{any})")), each }
        })
    }
}

impl Compiled {
    /// Whether one of the patterns is in a text.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.also.as_ref().is_none_or(|also| also.is_match(text)) && self.any.is_match(text)
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
