//! The views of a file: the text as written, without invisible characters, hidden texts, and decoded texts.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::VecDeque;

use super::evidence::EvidenceDigest;
use super::invisible::LetterCase;
use super::outline::Outline;
use super::report::{Finding, Span, Verdict, View};
use super::rules::Rules;
use super::scanned_file::ScannedFile;
use super::text::{Text, ViewOrigin};
use super::work::ScanBudget;
use super::{ScannedText, assembly, decode, invisible, lookalikes, markup};

/// Maximum number of nested decoding steps.
const DEPTH: u8 = 2;

/// Views that are not searched yet, and problems noticed while making them.
pub(super) struct Queue<'a> {
    waiting: VecDeque<Text<'a>>,
    /// Encoded texts that were decoded only in part.
    cut: Vec<Span>,
    /// Words that contain letters from several scripts.
    mixed: Vec<Span>,
}

impl<'a> Queue<'a> {
    /// Queues the file as written, its hidden texts, frontmatter values, decoded addresses and resolved commands.
    pub(super) fn of(skill: &ScannedText<'a>, outline: &Outline, work: &mut ScanBudget) -> Self {
        let text = skill.text;
        let raw =
            Text { view: View::Raw, text: Cow::Borrowed(text), origin: ViewOrigin::Same, depth: 0, is_part: false };
        let mut waiting = VecDeque::from([raw]);
        let part = |view, text: String, at| Text {
            view,
            text: Cow::Owned(text),
            origin: ViewOrigin::At(at),
            depth: 0,
            is_part: true,
        };
        if !text.is_ascii() {
            waiting.extend(invisible::spelled(text).into_iter().map(|(at, text)| part(View::Tags, text, at)));
        }
        let scalars = crate::skills::document::scalars_of(text, &outline.frontmatter);
        waiting.extend(scalars.into_iter().map(|(at, text)| part(View::Frontmatter, text, at)));
        waiting.extend(markup::escaped(text).into_iter().map(|(at, text)| part(View::Target, text, at)));
        let resolved = assembly::resolved((skill.number, text), outline, skill.variables, work);
        waiting.extend(resolved.into_iter().map(|(at, text)| part(View::Resolved, text, at)));
        Self { waiting, cut: Vec::new(), mixed: Vec::new() }
    }

    /// Returns the next view and queues the views derived from it.
    pub(super) fn next(&mut self, outline: &Outline, work: &mut ScanBudget) -> Option<Text<'a>> {
        let view = self.waiting.pop_front()?;
        if matches!(view.view, View::Skeleton | View::Seen) || !work.charge(view.text.len()) {
            return Some(view);
        }
        match invisible::seen(&view, LetterCase::Lower) {
            Some(seen) => {
                self.add_skeleton(invisible::seen(&view, LetterCase::Kept).as_ref().unwrap_or(&view));
                if seen.text.len() < view.text.len() {
                    self.add_decoded(&seen);
                }
                self.waiting.push_back(seen.where_it_differs(&view.text, outline));
            }
            None if view.text.is_ascii() => {}
            None => self.add_skeleton(&view),
        }
        self.add_decoded(&view);
        Some(view)
    }

    fn add_skeleton(&mut self, seen: &Text<'_>) {
        let Some(skeleton) = lookalikes::skeleton(seen) else { return };
        let spans = skeleton.words.iter().map(|word| seen.span(word));
        self.mixed.extend(spans.map(|span| Span { start: span.start, end: span.end }));
        self.waiting.push_back(skeleton.view);
    }

    fn add_decoded(&mut self, view: &Text<'_>) {
        if view.depth == DEPTH {
            return;
        }
        for encoded in decode::all_in(&view.text) {
            let at = view.span(&encoded.range);
            if encoded.is_cut {
                self.cut.push(Span { start: at.start, end: at.end });
            }
            let text = Cow::Owned(encoded.text);
            let depth = view.depth + 1;
            self.waiting.push_back(Text {
                view: View::Decoded,
                text,
                origin: ViewOrigin::At(at),
                depth,
                is_part: true,
            });
        }
    }

    /// Returns the findings noticed while making views.
    pub(super) fn findings(&self, place: &ScannedFile<'_>) -> Vec<Finding> {
        let rules = Rules::get();
        let evidence = LazyCell::new(|| EvidenceDigest::of_text(place.raw));
        let at = |rule: &str, view: View, span: &Span| {
            let whole = place.whole(&(span.start..span.end));
            Finding {
                view,
                span: Span { start: whole.start, end: whole.end },
                line: place.outline.line_of(span.start) + 1,
                ..Finding::of_file(rules.built_in(rule), place.file, *evidence)
            }
        };
        let mut findings: Vec<Finding> =
            self.cut.iter().map(|span| at("long-encoded-text", View::Decoded, span)).collect();
        // A single mixed word may be a typing error or a formula, so it is only informational.
        let verdict = if self.mixed.len() >= MIXED { rules.built_in("mixed-scripts").verdict } else { Verdict::Ok };
        let mixed = self.mixed.first().map(|span| Finding { verdict, ..at("mixed-scripts", View::Skeleton, span) });
        findings.extend(mixed);
        findings
    }
}

/// Minimum number of words that mix scripts for a finding that is more than informational.
const MIXED: usize = 2;
