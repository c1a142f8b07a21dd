//! Hard tokens: commands, code, addresses, paths, numbers and names. A rewritten text must contain them, because a
//! reader cannot infer them.

mod whole;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::kernel::pattern::pattern;
use crate::text::fence::{Fence, FenceLine};
use crate::text::lines;
use whole::{collapsed, is_whole};
pub(super) use whole::{has_whole, missing_of};

/// Parts of hyphenated words that are not names: "well-known", "step-by-step", "role-based".
const ORDINARY_PARTS: &str = "a ad all and anti as auto aware based built by call co cross deep defined down driven efficient end ended facing \
    fine first focused for form free friendly full generated grade hand hard high hoc hosted human in known large \
    level like long low more multi non of off on one only oriented out party post quality re ready real related self \
    shot side specific sub term the time to two up user well";

/// Pairs of words joined by a slash that are not names.
const ORDINARY_PAIRS: &str = "and/or before/after create/update date/time enable/disable go/no-go he/she his/her import/export input/output \
    inputs/outputs n/a on/off pass/fail pros/cons read/write request/response start/end success/failure true/false \
    w/o win/loss with/without yes/no";

/// Words that are written in capitals for emphasis and are not names.
const SHOUTED: &str = "ALL ALWAYS AND ANY AS BE BEFORE CRITICAL DO DON EVERY FIRST FOR IF IMPORTANT IN IS IT MANDATORY MUST NEVER NO \
    NOT NOTE OK ON ONE ONLY OR SHOULD STOP THE THEN TO WARNING YOU";

/// Punctuation that is cut off the end of a token.
const PUNCTUATION: [char; 9] = ['.', ',', ';', ':', '!', '?', '\'', '*', '"'];

static URL: LazyLock<Regex> = LazyLock::new(|| pattern(r#"[a-zA-Z][a-zA-Z0-9+.-]*://[^\s<>"'`()\[\]{}|]+"#));

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    let part = r"[A-Za-z0-9_.@%+-]+";
    let ends = "md|json|toml|ya?ml|rs|py|tsx?|jsx?|sh|txt|csv|html?|css|sql|env|lock|xml|ini|cfg|conf|pdf|docx?|xlsx?";
    pattern(&format!(r"(?:~|{part})?(?:/{part})+/?|[A-Za-z]:\\[A-Za-z0-9_.\\-]+|[A-Za-z0-9_-]*\.(?:{ends})\b"))
});

/// Identifiers and names: `web-perf`, `SHA-256`, `--force`, `snake_case`, `CamelCase`.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"--[a-z][a-z0-9-]+|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Za-z]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z][A-Z0-9]+",
    )
});

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[$€£]?v?[0-9]+(?:[.,:][0-9]+)*(?:%|[A-Za-z]+)?"));

/// Numbers of list items, headings and steps, which are not tokens.
static ORDER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?im)^[ \t>#*_-]*[0-9]{1,9}[.):]|\b(?:step|phase|part|option|section)s? [0-9]+"));

/// Returns the hard tokens in a markdown text: code spans, lines in fenced blocks, addresses, paths, numbers with
/// units, and words spelled like names. Runs of blanks in a token become one blank.
pub(super) fn hard_tokens(text: &str) -> BTreeSet<String> {
    let mut reader = TokenReader { text, prose: text.to_owned(), tokens: BTreeSet::new() };
    reader.take_fences();
    reader.take_spans();
    reader.take(&URL, |_| true);
    reader.take(&PATH, |path| !is_among(ORDINARY_PAIRS, &path.to_lowercase()));
    let orders: Vec<_> = ORDER.find_iter(&reader.prose).map(|order| order.range()).collect();
    reader.blank(orders);
    reader.take(&NAME, is_name);
    reader.take(&NUMBER, |number| !["st", "nd", "rd", "th"].iter().any(|end| number.ends_with(end)));
    reader.tokens
}

/// Returns the hard tokens in several texts, without duplicates.
pub(super) fn hard_tokens_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    texts.into_iter().flat_map(hard_tokens).collect()
}

/// A text that is searched for one kind of token after another. Found tokens are blanked, so that their parts are not
/// found again.
struct TokenReader<'a> {
    text: &'a str,
    /// The text with blanks in place of found tokens. Byte positions stay the same.
    prose: String,
    tokens: BTreeSet<String>,
}

impl TokenReader<'_> {
    fn take(&mut self, pattern: &Regex, is_hard: impl Fn(&str) -> bool) {
        let mut taken = Vec::new();
        for found in pattern.find_iter(&self.prose) {
            let token = found.as_str().trim_end_matches(PUNCTUATION);
            let range = found.start()..found.start() + token.len();
            if is_hard(token) && is_whole(self.text, &range) {
                taken.push(range);
            }
        }
        self.insert(&taken);
        self.blank(taken);
    }

    /// Adds the texts of these ranges as tokens, unless they have no letter and no digit.
    fn insert(&mut self, places: &[Range<usize>]) {
        let tokens = places.iter().map(|place| collapsed(&self.text[place.clone()]));
        self.tokens.extend(tokens.filter(|token| token.contains(char::is_alphanumeric)));
    }

    /// Replaces sorted ranges by blanks.
    fn blank(&mut self, places: impl IntoIterator<Item = Range<usize>>) {
        let mut prose = String::with_capacity(self.prose.len());
        for place in places {
            prose.push_str(&self.prose[prose.len()..place.start]);
            prose.extend(place.map(|_| ' '));
        }
        prose.push_str(&self.prose[prose.len()..]);
        self.prose = prose;
    }

    /// Takes the lines in fenced blocks as tokens.
    fn take_fences(&mut self) {
        let mut fence = Fence::default();
        let (mut code, mut all) = (Vec::new(), Vec::new());
        for line in lines::split(self.text) {
            match fence.read(&self.text[line.text()]) {
                FenceLine::Outside => continue,
                FenceLine::Mark => {}
                FenceLine::Code => code.push(line.text()),
            }
            all.push(line.text());
        }
        self.insert(&code);
        self.blank(all);
    }

    /// Takes code spans as tokens. A span ends within its paragraph.
    fn take_spans(&mut self) {
        let (mut start, mut taken) = (0, Vec::new());
        for paragraph in self.prose.split("\n\n") {
            taken.extend(spans(paragraph).map(|span| start + span.start..start + span.end));
            start += paragraph.len() + "\n\n".len();
        }
        self.insert(&taken);
        self.blank(taken);
    }
}

/// Returns the code spans of a paragraph, without backticks.
fn spans(paragraph: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let open = next_marks(paragraph, at)?;
            at = open.end;
            let mut closings =
                std::iter::successors(next_marks(paragraph, at), |marks| next_marks(paragraph, marks.end));
            if let Some(close) = closings.find(|close| close.len() == open.len()) {
                at = close.end;
                return Some(open.end..close.start);
            }
        }
    })
}

/// Returns the range of the next run of backticks.
fn next_marks(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + text[from..].find('`')?;
    let length = text[start..].bytes().take_while(|byte| *byte == b'`').count();
    Some(start..start + length)
}

/// Returns whether a word that is spelled like a name is a name, and not an ordinary or emphasised word.
fn is_name(word: &str) -> bool {
    if word.contains('-') && !word.starts_with('-') {
        return word.split('-').all(|part| !is_among(ORDINARY_PARTS, &part.to_lowercase()));
    }
    !is_among(SHOUTED, word)
}

/// Checks whether a blank-separated list contains a word.
fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests;
