//! Tries the rules on a view line by line. A pattern is tried only if the line contains its words.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;
use regex::bytes::Regex;

use super::category::Category;
use super::evidence::EvidenceDigest;
use super::files;
use super::findings::Findings;
use super::invisible;
use super::numbers;
use super::outline::{LineKind, Outline};
use super::prefilter::{FoundWord, FoundWords};
use super::quoting;
use super::report::{Finding, Span, View};
use super::rules::{MatchCondition, PatternArea, Rule, RulePattern, Rules};
use super::scanned_file::ScannedFile;
use super::secrets::SecretPattern;
use super::text::Text;
use super::windows::{WINDOW_BYTES, WINDOW_STEP, segments, windows};
use super::work::ScanBudget;

/// Cost of searching a line for words, in bytes of the work budget.
const A_LINE: usize = 32;
/// Cost of checking the context of a finding, in bytes of the work budget.
const A_FINDING: usize = 2048;
/// Cost of deciding whether a match is a secret, in bytes of the work budget.
const SECRET_COST: usize = 1024;

/// Searches a view unchanged, and with its lines joined. Returns `false` if the work budget is exceeded.
pub(super) fn run(place: &ScannedFile<'_>, view: &Text<'_>, findings: &mut Findings, work: &mut ScanBudget) -> bool {
    if work.is_used_up() {
        return false;
    }
    let joined = JoinedText::of(view, place.outline);
    let words = FoundWords::default();
    let mut search = ViewSearch { place, view, findings, work, words, block_words: Vec::new() };
    search.pass(&joined) && search.pass_over_blocks()
}

struct ViewSearch<'a> {
    place: &'a ScannedFile<'a>,
    view: &'a Text<'a>,
    findings: &'a mut Findings,
    work: &'a mut ScanBudget,
    /// Words of the text that was searched last.
    words: FoundWords,
    /// Words of patterns for several lines. Of each word, one per [`WINDOW_STEP`] bytes is stored.
    block_words: Vec<FoundWord>,
}

/// A part of a view on which patterns are tried.
struct ViewSegment<'a> {
    part: &'a str,
    /// Start of the part in the view.
    start: usize,
    /// Whether the lines in the part were joined.
    is_joined: bool,
}

impl<'a> ViewSegment<'a> {
    /// Makes a segment from a range of a text that begins at `start` in the view.
    fn of(text: &'a str, range: &Range<usize>, start: usize, is_joined: bool) -> Self {
        Self { part: &text[range.clone()], start: start + range.start, is_joined }
    }
}

impl ViewSearch<'_> {
    /// Searches the lines and paragraphs of the view. Returns `false` if the work budget is exceeded.
    fn pass(&mut self, joined: &JoinedText<'_>) -> bool {
        let mut start = 0;
        joined.text.split('\n').all(|paragraph| {
            let range = start..start + paragraph.len();
            start = range.end + 1;
            range.is_empty() || self.pass_over_paragraph(joined, range)
        })
    }

    /// Searches the lines of a paragraph, and then the paragraph with its lines joined.
    fn pass_over_paragraph(&mut self, joined: &JoinedText<'_>, range: Range<usize>) -> bool {
        let part = &self.view.text[range.clone()];
        let is_short = part.len() <= WINDOW_BYTES;
        // All lines of a short paragraph share one search for words.
        if is_short {
            self.find_words(&joined.with_blanks[range.clone()], range.start);
        }
        let are_lines_done = segments(part).all(|line| {
            let words = is_short.then(|| line.clone());
            self.pass_over_segment(&ViewSegment::of(part, &line, range.start, false), words)
        });
        if !part.contains('\n') || !are_lines_done {
            return are_lines_done;
        }
        let text = &joined.text[range.clone()];
        let are_words_known = is_short && text == &joined.with_blanks[range.clone()];
        segments(text).all(|segment| {
            // Lines of one window were already searched.
            let is_known = !part[segment.clone()].contains('\n');
            let words = are_words_known.then(|| segment.clone());
            is_known || self.pass_over_segment(&ViewSegment::of(text, &segment, range.start, true), words)
        })
    }

    /// Searches a segment. `words` is its range in the text that was searched for words, if it was.
    fn pass_over_segment(&mut self, segment: &ViewSegment<'_>, words: Option<Range<usize>>) -> bool {
        if segment.part.is_empty() {
            return true;
        }
        if !self.work.charge(segment.part.len() + A_LINE) {
            return false;
        }
        let words = words.unwrap_or_else(|| {
            self.find_words(segment.part, segment.start);
            0..segment.part.len()
        });
        let candidates = Rules::get().candidates(self.words.in_range(&words), PatternArea::Line);
        self.try_rules(segment, candidates)
    }

    /// Finds the words of a text that begins at `start` in the view.
    fn find_words(&mut self, text: &str, start: usize) {
        let rules = Rules::get();
        rules.find_words(text, &mut self.words);
        let of_blocks = self.words.in_range(&(0..text.len())).iter().filter(|(_, word)| rules.is_of_block(*word));
        for (at, word) in of_blocks {
            let step = (start + at) / WINDOW_STEP * WINDOW_STEP;
            let is_known =
                self.block_words.iter().rev().take_while(|(known, _)| *known == step).any(|(_, known)| known == word);
            if !is_known {
                self.block_words.push((step, *word));
            }
        }
    }

    /// Searches the view for secrets that span several lines. Returns `false` if the work budget is exceeded.
    fn pass_over_blocks(&mut self) -> bool {
        let text = self.view.text.as_ref();
        let rules = Rules::get();
        if !self.work.charge(text.len() + A_LINE) {
            return false;
        }
        self.block_words.sort_unstable();
        if rules.candidates(&self.block_words, PatternArea::Block).next().is_none() {
            return true;
        }
        windows(text).all(|range| {
            // A window may begin a few bytes before its step.
            let first = self.block_words.partition_point(|(step, _)| step + WINDOW_STEP < range.start);
            let end = self.block_words.partition_point(|(step, _)| *step < range.end);
            let candidates = rules.candidates(&self.block_words[first..end], PatternArea::Block);
            let segment = ViewSegment::of(text, &range, 0, false);
            self.work.charge(range.len() + A_LINE) && self.try_rules(&segment, candidates)
        })
    }

    fn try_rules(
        &mut self,
        segment: &ViewSegment<'_>,
        candidates: impl Iterator<Item = (&'static Rule, &'static RulePattern)>,
    ) -> bool {
        let part = segment.part;
        let mut done: Option<&Rule> = None;
        for (rule, pattern) in candidates {
            // A single match per rule and line is enough, except for secrets.
            let is_done = done.is_some_and(|done| std::ptr::eq(done, rule));
            // A name is on one line, so joined lines show no further names.
            let is_known = segment.is_joined && rule.is_name;
            if is_done || is_known || (rule.is_about_comments() && !self.place.outline.has_comments()) {
                continue;
            }
            let Some(is_there) = self.is_there(pattern, part) else { return false };
            if !is_there {
                continue;
            }
            if !self.work.charge(part.len() + A_FINDING) {
                return false;
            }
            let range = |found: Range<usize>| segment.start + found.start..segment.start + found.end;
            if let Some(secret) = &pattern.secret {
                for found in self.secrets(secret, pattern.exact(), part) {
                    self.add(rule, range(found), segment.is_joined);
                }
            } else if let Some(found) = first_right(rule, pattern.exact(), part) {
                self.add(rule, range(found), segment.is_joined);
                done = Some(rule);
            }
        }
        !self.work.is_used_up()
    }

    /// Returns the ranges of all matches that are secrets. Does not stop at the first one, because it may have been
    /// accepted earlier while a later one is new.
    fn secrets(&mut self, secret: &SecretPattern, pattern: &Regex, part: &str) -> Vec<Range<usize>> {
        let matches = pattern.captures_iter(part.as_bytes()).take_while(|_| self.work.charge(SECRET_COST));
        let secrets = matches.filter_map(|found| secret.secret_in(&found, part.as_bytes()));
        secrets.map(|found| part.floor_char_boundary(found.start)..part.ceil_char_boundary(found.end)).collect()
    }

    /// Checks whether a pattern matches a text; `None` if the work budget is exceeded.
    fn is_there(&mut self, pattern: &RulePattern, part: &str) -> Option<bool> {
        for searcher in pattern.searchers() {
            let has_time = (searcher.is_compiled() || self.work.charge_compiling()) && self.work.charge(part.len());
            if !has_time {
                return None;
            }
            if !searcher.compiled().is_match(part.as_bytes()) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn add(&mut self, rule: &Rule, range: Range<usize>, is_joined: bool) {
        let span = self.place.whole(&self.view.span(&range));
        let view = self.view_of(&span, is_joined);
        if !rule.views.is_empty() && !rule.views.contains(&view) {
            return;
        }
        let is_hidden = view.is_hidden();
        let special = match () {
            () if is_hidden => rule.hidden,
            () if files::is_code(self.place.file) => rule.script,
            () => None,
        };
        let full = special.unwrap_or(rule.verdict);
        // A quoted secret is still exposed, so secrets are never demoted.
        let may_be_quoted = !is_hidden && !rule.is_name && rule.category != Category::Secret;
        let quoted = may_be_quoted && quoting::is_demoted(self.place, &span, rule);
        // The digest covers only the secret, because another secret on the same line is another finding.
        let evidence = match rule.category {
            Category::Secret => EvidenceDigest::of_text(&self.place.raw[span.clone()]),
            _ => self.place.evidence(&span),
        };
        self.findings.push(Finding {
            rule: rule.id.clone(),
            category: rule.category,
            tier: rule.tier,
            verdict: if quoted { full.milder() } else { full },
            demoted: quoted,
            file: self.place.file.to_owned(),
            view,
            span: Span { start: span.start, end: span.end },
            line: self.place.outline.line_of(span.start) + 1,
            reason: rule.reason.clone(),
            evidence,
        });
    }

    /// Returns the view of the file that contains the match.
    fn view_of(&self, span: &Range<usize>, is_joined: bool) -> View {
        let outline = self.place.outline;
        let view = match self.view.view {
            View::Seen if !invisible::has_disguise(&self.place.raw[span.clone()]) => View::Raw,
            view => view,
        };
        match view {
            View::Raw if outline.is_comment(span.start) => View::Comment,
            View::Raw if is_joined => View::Joined,
            View::Raw if outline.line(span.start).is_some_and(|line| line.kind == LineKind::Code) => View::Fence,
            view => view,
        }
    }
}

/// Returns the first match that meets the rule's conditions.
fn first_right(rule: &Rule, pattern: &Regex, part: &str) -> Option<Range<usize>> {
    // Patterns match bytes, so their matches are widened to whole characters.
    let mut found = pattern
        .find_iter(part.as_bytes())
        .map(|found| part.floor_char_boundary(found.start())..part.ceil_char_boundary(found.end()));
    found.find(|range| is_right(rule, pattern, &part[range.clone()]))
}

/// Checks whether a match meets the rule's conditions.
fn is_right(rule: &Rule, pattern: &Regex, text: &str) -> bool {
    let host = rule.host.is_empty() || Rules::get().hosts.kinds_in(text).any(|kind| rule.host.contains(&kind));
    let group = |name: &str| {
        let found = pattern.captures(text.as_bytes())?.name(name)?;
        std::str::from_utf8(&text.as_bytes()[found.range()]).ok()
    };
    host && match rule.check {
        None => true,
        Some(MatchCondition::CardOrId) => group("number").is_some_and(numbers::is_personal_number),
        Some(MatchCondition::ForeignHost) => group("host").is_some_and(|host| Rules::get().hosts.is_foreign(host)),
    }
}

/// A view with the lines joined in each paragraph and command. The length stays the same, so that positions are equal.
struct JoinedText<'a> {
    /// A line break becomes a blank, and so does a backslash or caret before the line break.
    text: Cow<'a, str>,
    /// Only a line break becomes a blank, so this text has all words of the lines.
    with_blanks: Cow<'a, str>,
}

impl<'a> JoinedText<'a> {
    fn of(view: &'a Text<'_>, outline: &Outline) -> Self {
        let text = view.text.as_ref();
        let (mut bytes, mut with_blanks) = (text.as_bytes().to_vec(), text.as_bytes().to_vec());
        let mut number = 0;
        for at in memchr_iter(b'\n', text.as_bytes()) {
            let joins = if view.is_part {
                true
            } else {
                let place = view.span(&(at..at)).start;
                while outline.lines.get(number + 1).is_some_and(|line| line.text.start <= place) {
                    number += 1;
                }
                outline.joins_next(number, text[..at].trim_end_matches('\r'))
            };
            if !joins {
                continue;
            }
            (bytes[at], with_blanks[at]) = (b' ', b' ');
            let before = if at > 0 && bytes[at - 1] == b'\r' { at - 1 } else { at };
            bytes[before] = b' ';
            if before > 0 && matches!(bytes[before - 1], b'\\' | b'^') {
                bytes[before - 1] = b' ';
            }
        }
        // Only ASCII bytes were replaced by ASCII bytes, so the texts are still valid UTF-8.
        let made = |bytes| String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned);
        Self { text: made(bytes), with_blanks: made(with_blanks) }
    }
}
