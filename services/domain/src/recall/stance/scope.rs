//! Decides how a message refers to the names in it, from the cues in their clauses.

mod clauses;

use std::ops::Range;

use super::stream::{Item, StanceToken, WORD};
use super::table::CueKind;
use super::{Reading, Stance};

/// Maximum number of tokens examined before a name.
const BEFORE: usize = 24;
/// Maximum number of tokens examined after a name.
const BEHIND: usize = 20;
/// Maximum width of the text between a cue and the verb or name it affects: one word.
const NEXT: usize = WORD;
/// Maximum width of two words between a cue and a name.
const NEAR: usize = 2 * WORD;
/// Maximum width of three words between a cue and a verb or name.
const FAR: usize = 3 * WORD;
/// Maximum width of four words between a name and a cue after it.
const FARTHEST: usize = 4 * WORD;

const CALLS: [CueKind; 2] = [CueKind::Use, CueKind::Call];
const CALLS_BEHIND: [CueKind; 2] = [CueKind::UseAfter, CueKind::CallAfter];
const FORBIDS_BEHIND: [CueKind; 2] = [CueKind::ForbidAfter, CueKind::ForbidUseAfter];
const NEGATIONS: [CueKind; 2] = [CueKind::Forbid, CueKind::Not];
const REFUSALS: [CueKind; 3] = [CueKind::Forbid, CueKind::Not, CueKind::ForbidAfter];

/// Verdict based on the words on one side of a name. The number is the index of the deciding token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideVerdict {
    Nothing,
    Calls(usize),
    Asks(usize),
    Forbids(usize),
    /// The side has a negation with an unclear target.
    Unclear(usize),
}

/// The tokens of a span of the message.
pub(super) struct StanceScope<'a> {
    tokens: &'a [StanceToken],
}

impl<'a> StanceScope<'a> {
    pub(super) fn new(tokens: &'a [StanceToken]) -> Self {
        Self { tokens }
    }

    /// Decides on all names, and calls `note` with each. Names in one list, such as "X, Y and Z", share a reading.
    pub(super) fn read(&self, note: &mut impl FnMut(usize, Reading)) {
        let mut at = 0;
        while let Some(first) = (at..self.tokens.len()).find(|at| self.is_name(*at)) {
            let last = self.find_list_end(first);
            let reading = self.read_list(first, last);
            for place in first..=last {
                let Item::Name(name) = self.tokens[place].item else { continue };
                let is_beside =
                    place == first && self.is_used_before(first) || place == last && self.is_used_behind(last);
                let is_used = is_beside || reading.is_used && reading.stance == Stance::Forbidden;
                note(name, Reading { is_used, ..reading.clone() });
            }
            at = last + 1;
        }
    }

    fn read_list(&self, first: usize, last: usize) -> Reading {
        let edge = self.find_clause_start(first);
        let before = self.judge_before(edge, first);
        let behind = self.judge_behind(last, matches!(before, SideVerdict::Calls(_)));
        let is_used = self.is_used_before(first) || self.is_used_behind(last);
        let reading = |stance, cue: usize| {
            let cue = self.tokens.get(cue).map(|token| token.bytes.clone());
            Reading { stance, cue, is_used }
        };
        match (before, behind) {
            (SideVerdict::Forbids(cue), _) | (_, SideVerdict::Forbids(cue)) => {
                let is_questioned =
                    (edge..cue).any(|at| self.has(at, &[CueKind::Why])) && !self.has(cue, &[CueKind::Exclude]);
                reading(if is_questioned { Stance::Named } else { Stance::Forbidden }, cue)
            }
            (SideVerdict::Asks(cue), _) | (_, SideVerdict::Asks(cue)) => reading(Stance::AskedAbout, cue),
            (SideVerdict::Unclear(cue), _) | (_, SideVerdict::Unclear(cue)) => reading(Stance::Named, cue),
            (SideVerdict::Calls(cue), _) | (_, SideVerdict::Calls(cue)) => {
                let is_speech = self.is_quoted(cue.min(first), cue.max(last));
                reading(if is_speech { Stance::Named } else { Stance::Called }, cue)
            }
            (SideVerdict::Nothing, SideVerdict::Nothing) => match self.find_plea(edge, last) {
                Some(cue) => reading(Stance::Called, cue),
                None => Reading { is_used, ..Reading::default() },
            },
        }
    }

    fn judge_before(&self, edge: usize, name: usize) -> SideVerdict {
        let last = |kinds: &[CueKind], from: usize| (from..name).rev().find(|at| self.has(*at, kinds));
        let call = last(&CALLS, edge);
        let other = call.and_then(|call| (edge..call).rev().find(|at| self.is_name(*at)));
        // "don't use X use Y": the second verb begins a clause. "don't use X to open Y" is a single clause.
        let edge = match (call, other) {
            (Some(call), Some(other)) if (other + 1..call).all(|at| self.is_quote(at)) => call,
            _ => edge,
        };
        let is_second_verb = other.is_some_and(|other| other >= edge);
        let governed = |from: usize| (from + 1..name).find(|at| self.has(*at, &CALLS));
        if let Some(cue) = last(&[CueKind::Exclude], edge) {
            let by_verb =
                governed(cue).is_some_and(|verb| self.is_within(cue, verb, NEXT) && self.is_within(verb, name, FAR));
            if self.is_within(cue, name, NEXT) || by_verb {
                return SideVerdict::Forbids(cue);
            }
        }
        if let Some(cue) = last(&[CueKind::Forbid, CueKind::Not, CueKind::Unclear], edge) {
            if self.has(cue, &[CueKind::Unclear]) {
                return SideVerdict::Unclear(cue);
            }
            let is_strong = self.has(cue, &[CueKind::Forbid]);
            let governs = match governed(cue) {
                Some(_) if is_second_verb && other > Some(cue) => false,
                Some(verb) => self.is_within(cue, verb, if is_strong { FAR } else { NEXT }),
                None => is_strong || self.is_within(cue, name, NEXT),
            };
            return if governs { SideVerdict::Forbids(cue) } else { SideVerdict::Unclear(cue) };
        }
        let start = (edge..name).find(|at| !self.is_filler(*at) && !self.has(*at, &[CueKind::And]));
        let opening = start.filter(|at| self.has(*at, &[CueKind::AskStart]) && self.is_within(*at, name, 0));
        let question = last(&[CueKind::Ask], edge).filter(|at| self.is_within(*at, name, NEAR));
        let question = question.or_else(|| last(&[CueKind::AskNext], edge).filter(|at| self.is_within(*at, name, 0)));
        match (opening.or(question), call.filter(|call| self.is_within(*call, name, FAR))) {
            (Some(cue), _) => SideVerdict::Asks(cue),
            (None, Some(cue)) => SideVerdict::Calls(cue),
            (None, None) => SideVerdict::Nothing,
        }
    }

    fn judge_behind(&self, name: usize, is_called: bool) -> SideVerdict {
        let most = self.tokens.len().min(name + 1 + BEHIND);
        let end = (name + 1..most).find(|at| self.ends_clause(*at) || self.begins_clause(*at) || self.is_name(*at));
        let before_name = end.is_some_and(|end| self.is_name(end));
        let end = end.unwrap_or(most);
        let first = |kinds: &[CueKind]| (name + 1..end).find(|at| self.has(*at, kinds));
        let call = first(&CALLS_BEHIND).filter(|at| self.is_within(name, *at, FARTHEST));
        if let Some(cue) = first(&FORBIDS_BEHIND) {
            // "take X not Y": the negation may belong to the next name.
            let is_anothers = before_name && self.has(cue, &NEGATIONS);
            let reach = if is_called { NEXT } else { FARTHEST };
            // `try X and tell me if it does not work`: the verb is between name and negation, and other words follow
            // the verb.
            let is_apart = call.is_some_and(|call| call < cue && !self.is_within(call, cue, NEXT));
            let forbids = !is_anothers && !is_apart && self.is_within(name, cue, reach);
            return if forbids { SideVerdict::Forbids(cue) } else { SideVerdict::Unclear(cue) };
        }
        if let Some(cue) = self.find_refusal(name, end, is_called) {
            return SideVerdict::Forbids(cue);
        }
        let question = first(&[CueKind::AskAfter]).filter(|at| self.is_within(name, *at, FAR));
        match (question, call) {
            (Some(cue), _) => SideVerdict::Asks(cue),
            (None, Some(cue)) => SideVerdict::Calls(cue),
            (None, None) => SideVerdict::Nothing,
        }
    }

    /// Returns a refusal that is alone after the name, in the name's clause or in the next: "X no", "X, please not!",
    /// "X, no thanks". For a called name, only negations count as refusals.
    fn find_refusal(&self, name: usize, end: usize, is_called: bool) -> Option<usize> {
        let refusals = if is_called { &NEGATIONS[..] } else { &REFUSALS };
        let is_blank = |at: usize| self.is_filler(at) && !self.has(at, refusals);
        let mut next = (name + 1..).find(|at| !is_blank(*at))?;
        if next == end && matches!(self.tokens.get(end)?.item, Item::Comma) {
            next = (end + 1..).find(|at| !is_blank(*at))?;
        }
        let after = (next + 1..).find(|at| !is_blank(*at))?;
        let is_alone = self.tokens.get(after).is_none_or(|_| self.ends_clause(after));
        (is_alone && self.has(next, refusals)).then_some(next)
    }

    /// Returns the word that asks for the names of a list without a verb: "X please", "X, please". The clause must have
    /// no other words.
    fn find_plea(&self, edge: usize, last: usize) -> Option<usize> {
        let is_blank = |at: &usize| self.is_filler(*at) || self.is_name(*at) || self.has(*at, &[CueKind::And]);
        let most = self.tokens.len().min(last + 1 + BEHIND);
        let end = (edge..most).find(|at| !is_blank(at)).unwrap_or(most);
        let ends = |at: usize| at == self.tokens.len() || self.ends_clause(at);
        let plea = |mut places: Range<usize>| places.find(|at| self.has(*at, &[CueKind::Please]));
        if end <= last || !ends(end) {
            return None;
        }
        plea(edge..end).or_else(|| {
            let is_comma = matches!(self.tokens.get(end)?.item, Item::Comma);
            let next = (end + 1..most).find(|at| !self.is_filler(*at)).unwrap_or(most);
            plea(end + 1..next).filter(|_| is_comma && ends(next))
        })
    }

    /// Returns whether a verb such as "use" is directly before the name.
    fn is_used_before(&self, name: usize) -> bool {
        let before = (0..name).rev().find(|at| !self.is_quote(*at));
        before.is_some_and(|at| self.has(at, &[CueKind::Use]))
    }

    /// Returns whether a verb such as "use" follows the name, with only fillers between.
    fn is_used_behind(&self, name: usize) -> bool {
        let behind = (name + 1..self.tokens.len()).find(|at| !self.is_filler(*at));
        behind.is_some_and(|at| self.has(at, &[CueKind::UseAfter, CueKind::ForbidUseAfter]))
    }
}
