//! Tries the rules on a view, line by line: those patterns whose words are on the line.

use std::ops::Range;

use memchr::memchr;
use regex::bytes::Regex;

use super::category::Category;
use super::findings::Findings;
use super::invisible;
use super::numbers;
use super::outline::{Kind, Outline};
use super::quoting;
use super::report::{Finding, Span, View};
use super::rules::{Check, Pattern, Rule, Rules};
use super::secrets::SecretPattern;
use super::text::Text;
use super::work::Work;

/// How far one window of a long line begins behind the one before, in bytes.
pub(super) const STEP: usize = 4096;
/// Longer lines are searched in windows of this size, in bytes: a long line costs no more than twice what short ones do, and a find
/// of up to [`STEP`] bytes is whole in one of them.
const WINDOW: usize = 2 * STEP;

/// What it costs to look for words in a line, however short, counted as bytes.
const A_LINE: usize = 32;
/// What it costs to look around a finding, counted as bytes.
const A_FINDING: usize = 2048;
/// The cost of deciding whether a match is a secret, counted as bytes.
const A_SECRET: usize = 1024;

/// The file that is read.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) raw: &'a str,
    pub(super) outline: &'a Outline,
}

impl Place<'_> {
    /// The characters that a range of bytes touches. In a view a character may be longer than in the file, so that a place in
    /// it is none of the file, or beyond its end.
    pub(super) fn whole(&self, range: &Range<usize>) -> Range<usize> {
        self.raw.floor_char_boundary(range.start)..self.raw.ceil_char_boundary(range.end)
    }
}

/// Searches a view as it is, and with its lines joined; `false` where that is more work than is left.
pub(super) fn run(place: &Place<'_>, view: &Text<'_>, findings: &mut Findings, work: &mut Work) -> bool {
    let mut search = Search { place, view, findings, work };
    search.pass(&view.text, false)
        && search.pass_over_blocks()
        && match joined(view, place.outline) {
            Some(text) => search.pass(&text, true),
            None => true,
        }
}

struct Search<'a> {
    place: &'a Place<'a>,
    view: &'a Text<'a>,
    findings: &'a mut Findings,
    work: &'a mut Work,
}

/// A part of a view that patterns are tried on.
struct Segment<'a> {
    part: &'a str,
    /// Its beginning in the view.
    start: usize,
    /// Whether its lines were joined.
    is_joined: bool,
}

impl Search<'_> {
    /// Searches a text that is as long as the view, so that places are the same; `false` where work runs out.
    fn pass(&mut self, text: &str, is_joined: bool) -> bool {
        segments(text).all(|range| {
            // A paragraph of one line was tried as a line.
            let is_known = is_joined && !self.view.text[range.clone()].contains('\n');
            let segment = Segment { part: &text[range.clone()], start: range.start, is_joined };
            range.is_empty()
                || is_known
                || (self.work.charge(range.len() + A_LINE)
                    && self.try_rules(&segment, Rules::get().in_line(segment.part)))
        })
    }

    /// Searches the view for secrets that stand on several lines; `false` if work runs out.
    fn pass_over_blocks(&mut self) -> bool {
        let text = self.view.text.as_ref();
        if !self.work.charge(text.len() + A_LINE) {
            return false;
        }
        if Rules::get().in_block(text).next().is_none() {
            return true;
        }
        windows(text).all(|range| {
            let segment = Segment { part: &text[range.clone()], start: range.start, is_joined: false };
            self.work.charge(range.len() + A_LINE) && self.try_rules(&segment, Rules::get().in_block(segment.part))
        })
    }

    fn try_rules(
        &mut self,
        segment: &Segment<'_>,
        candidates: impl Iterator<Item = (&'static Rule, &'static Pattern)>,
    ) -> bool {
        let part = segment.part;
        let mut done: Option<&Rule> = None;
        for (rule, pattern) in candidates {
            // One find of a rule says all of a line, but for secrets.
            let is_done = done.is_some_and(|done| std::ptr::eq(done, rule));
            if is_done || (rule.is_about_comments() && !self.place.outline.has_comments()) {
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

    /// All matches that are secrets: a text may have one that is known and one that is new.
    fn secrets(&mut self, secret: &SecretPattern, pattern: &Regex, part: &str) -> Vec<Range<usize>> {
        let matches = pattern.captures_iter(part.as_bytes()).take_while(|_| self.work.charge(A_SECRET));
        let secrets = matches.filter_map(|found| secret.secret_in(&found, part.as_bytes()));
        secrets.map(|found| part.floor_char_boundary(found.start)..part.ceil_char_boundary(found.end)).collect()
    }

    /// Whether a pattern is in a text; `None` where work runs out.
    fn is_there(&mut self, pattern: &Pattern, part: &str) -> Option<bool> {
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
        let full = if is_hidden { rule.hidden.unwrap_or(rule.verdict) } else { rule.verdict };
        // A secret is known to every reader, whatever the text says of it.
        let quoted =
            !is_hidden && rule.category != Category::Secret && quoting::is_quoted(self.place, &span, rule.tier);
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
        });
    }

    /// How a reader of the file would say that it was found.
    fn view_of(&self, span: &Range<usize>, is_joined: bool) -> View {
        let outline = self.place.outline;
        let view = match self.view.view {
            View::Seen if !invisible::has_disguise(&self.place.raw[span.clone()]) => View::Raw,
            view => view,
        };
        match view {
            View::Raw if outline.is_comment(span.start) => View::Comment,
            View::Raw if is_joined => View::Joined,
            View::Raw if outline.line(span.start).is_some_and(|line| line.kind == Kind::Code) => View::Fence,
            view => view,
        }
    }
}

/// The first match that is what the rule means.
fn first_right(rule: &Rule, pattern: &Regex, part: &str) -> Option<Range<usize>> {
    // Patterns are over bytes; what they find is widened to whole characters.
    let mut found = pattern
        .find_iter(part.as_bytes())
        .map(|found| part.floor_char_boundary(found.start())..part.ceil_char_boundary(found.end()));
    found.find(|range| is_right(rule, pattern, &part[range.clone()]))
}

/// Whether a match is what its rule means.
fn is_right(rule: &Rule, pattern: &Regex, text: &str) -> bool {
    let host = rule.host.is_empty() || Rules::get().hosts.kinds_in(text).any(|kind| rule.host.contains(&kind));
    host && match rule.check {
        None => true,
        Some(Check::CardOrId) => {
            let number = pattern.captures(text.as_bytes()).and_then(|found| found.name("number"));
            number.and_then(|number| std::str::from_utf8(number.as_bytes()).ok()).is_some_and(numbers::is_a_persons)
        }
    }
}

/// The windows of a text, each of which begins [`STEP`] bytes behind the one before.
fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let last = text.len().saturating_sub(WINDOW).div_ceil(STEP);
    let cut = |at: usize| text.floor_char_boundary(at.min(text.len()));
    (0..=last).map(move |number| cut(number * STEP)..cut(number * STEP + WINDOW))
}

/// The lines of a text without their ends, a long one in windows.
fn segments(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let to = text.ceil_char_boundary(start + WINDOW);
        let (end, next) = match memchr(b'\n', &text.as_bytes()[start..to]) {
            Some(gap) => (start + gap, start + gap + 1),
            None if to == text.len() => (to, to),
            None => (to, text.floor_char_boundary(start + STEP)),
        };
        Some(std::mem::replace(&mut start, next)..end)
    })
}

/// The view with the lines of each paragraph and command joined, if it has more than one line. As long as the view: a line
/// break becomes a blank, and so does a backslash before it.
fn joined(view: &Text<'_>, outline: &Outline) -> Option<String> {
    let text = view.text.as_ref();
    if !text.trim_end().contains('\n') {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut number = 0;
    for (at, _) in text.match_indices('\n') {
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
        bytes[at] = b' ';
        let before = if at > 0 && bytes[at - 1] == b'\r' { at - 1 } else { at };
        bytes[before] = b' ';
        if before > 0 && matches!(bytes[before - 1], b'\\' | b'^') {
            bytes[before - 1] = b' ';
        }
    }
    // Only ASCII was replaced by ASCII.
    String::from_utf8(bytes).ok()
}
