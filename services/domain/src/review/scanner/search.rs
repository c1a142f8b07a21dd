//! Tries the rules on a view line by line. A pattern is tried only if the line contains its words.

use std::ops::Range;

use regex::bytes::Regex;

use super::category::Category;
use super::evidence::EvidenceDigest;
use super::files;
use super::findings::Findings;
use super::invisible;
use super::numbers;
use super::outline::{LineKind, Outline};
use super::quoting;
use super::report::{Finding, Span, View};
use super::rules::{MatchCondition, Rule, RulePattern, Rules};
use super::scanned_file::ScannedFile;
use super::secrets::SecretPattern;
use super::text::Text;
use super::windows::{segments, windows};
use super::work::ScanBudget;

/// Cost of searching a line for words, in bytes of the work budget.
const A_LINE: usize = 32;
/// Cost of checking the context of a finding, in bytes of the work budget.
const A_FINDING: usize = 2048;
/// Cost of deciding whether a match is a secret, in bytes of the work budget.
const SECRET_COST: usize = 1024;

/// Searches a view unchanged, and with its lines joined. Returns `false` if the work budget is exceeded.
pub(super) fn run(place: &ScannedFile<'_>, view: &Text<'_>, findings: &mut Findings, work: &mut ScanBudget) -> bool {
    let mut search = ViewSearch { place, view, findings, work };
    search.pass(&view.text, false)
        && search.pass_over_blocks()
        && match joined(view, place.outline) {
            Some(text) => search.pass(&text, true),
            None => true,
        }
}

struct ViewSearch<'a> {
    place: &'a ScannedFile<'a>,
    view: &'a Text<'a>,
    findings: &'a mut Findings,
    work: &'a mut ScanBudget,
}

/// A part of a view on which patterns are tried.
struct ViewSegment<'a> {
    part: &'a str,
    /// Start of the part in the view.
    start: usize,
    /// Whether the lines in the part were joined.
    is_joined: bool,
}

impl ViewSearch<'_> {
    /// Searches `text`, which is as long as the view, so that positions are equal. Returns `false` if the work budget
    /// is exceeded.
    fn pass(&mut self, text: &str, is_joined: bool) -> bool {
        segments(text).all(|range| {
            // A paragraph of one line was already searched as a line.
            let is_known = is_joined && !self.view.text[range.clone()].contains('\n');
            let segment = ViewSegment { part: &text[range.clone()], start: range.start, is_joined };
            range.is_empty()
                || is_known
                || (self.work.charge(range.len() + A_LINE)
                    && self.try_rules(&segment, Rules::get().in_line(segment.part)))
        })
    }

    /// Searches the view for secrets that span several lines. Returns `false` if the work budget is exceeded.
    fn pass_over_blocks(&mut self) -> bool {
        let text = self.view.text.as_ref();
        if !self.work.charge(text.len() + A_LINE) {
            return false;
        }
        if Rules::get().in_block(text).next().is_none() {
            return true;
        }
        windows(text).all(|range| {
            let segment = ViewSegment { part: &text[range.clone()], start: range.start, is_joined: false };
            self.work.charge(range.len() + A_LINE) && self.try_rules(&segment, Rules::get().in_block(segment.part))
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

/// Joins the lines in each paragraph and command. Returns `None` if the view has only one line. The length stays the
/// same: a line break becomes a blank, and so does a backslash or caret before the line break.
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
    // Only ASCII bytes were replaced by ASCII bytes, so the text is still valid UTF-8.
    String::from_utf8(bytes).ok()
}
