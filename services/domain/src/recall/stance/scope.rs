//! Decides how a message means the names in it, by the cues of their clauses.

mod clauses;

use super::stream::{Item, Token, WORD};
use super::table::Kind;
use super::{Reading, Stance};

/// Tokens before and behind a name that are looked at.
const BEFORE: usize = 24;
const BEHIND: usize = 20;
/// How far a cue may stand from what it governs.
const NEXT: usize = WORD;
const NEAR: usize = 2 * WORD;
const FAR: usize = 3 * WORD;
const FARTHEST: usize = 4 * WORD;

const CALLS: [Kind; 2] = [Kind::Use, Kind::Call];
const CALLS_BEHIND: [Kind; 2] = [Kind::UseAfter, Kind::CallAfter];
const FORBIDS_BEHIND: [Kind; 2] = [Kind::ForbidAfter, Kind::ForbidUseAfter];
const NEGATIONS: [Kind; 2] = [Kind::Forbid, Kind::Not];

/// What one side of a name says, with the token that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Nothing,
    Calls(usize),
    Asks(usize),
    Forbids(usize),
    /// There is a negation, and it is not clear what it negates.
    Unclear(usize),
}

/// The tokens of a span of the message.
pub(super) struct Scope<'a> {
    tokens: &'a [Token],
}

impl<'a> Scope<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Self {
        Self { tokens }
    }

    /// Reads all names. Names in one list, such as "X, Y and Z", share a reading.
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
        let behind = self.judge_behind(last, matches!(before, Verdict::Calls(_)));
        let is_used = self.is_used_before(first) || self.is_used_behind(last);
        let reading = |stance, cue: usize| {
            let cue = self.tokens.get(cue).map(|token| token.bytes.clone());
            Reading { stance, cue, is_used }
        };
        match (before, behind) {
            (Verdict::Forbids(cue), _) | (_, Verdict::Forbids(cue)) => {
                let is_questioned =
                    (edge..cue).any(|at| self.has(at, &[Kind::Why])) && !self.has(cue, &[Kind::Exclude]);
                reading(if is_questioned { Stance::Named } else { Stance::Forbidden }, cue)
            }
            (Verdict::Asks(cue), _) | (_, Verdict::Asks(cue)) => reading(Stance::AskedAbout, cue),
            (Verdict::Unclear(cue), _) | (_, Verdict::Unclear(cue)) => reading(Stance::Named, cue),
            (Verdict::Calls(cue), _) | (_, Verdict::Calls(cue)) => {
                let is_speech = self.is_quoted(cue.min(first), cue.max(last));
                reading(if is_speech { Stance::Named } else { Stance::Called }, cue)
            }
            (Verdict::Nothing, Verdict::Nothing) => Reading { is_used, ..Reading::default() },
        }
    }

    fn judge_before(&self, edge: usize, name: usize) -> Verdict {
        let last = |kinds: &[Kind], from: usize| (from..name).rev().find(|at| self.has(*at, kinds));
        let call = last(&CALLS, edge);
        let other = call.and_then(|call| (edge..call).rev().find(|at| self.is_name(*at)));
        // "don't use X use Y": the second verb begins a clause. "don't use X to open Y" is one clause.
        let edge = match (call, other) {
            (Some(call), Some(other)) if (other + 1..call).all(|at| self.is_quote(at)) => call,
            _ => edge,
        };
        let is_second_verb = other.is_some_and(|other| other >= edge);
        let governed = |from: usize| (from + 1..name).find(|at| self.has(*at, &CALLS));
        if let Some(cue) = last(&[Kind::Exclude], edge) {
            let by_verb =
                governed(cue).is_some_and(|verb| self.is_within(cue, verb, NEXT) && self.is_within(verb, name, FAR));
            if self.is_within(cue, name, NEXT) || by_verb {
                return Verdict::Forbids(cue);
            }
        }
        if let Some(cue) = last(&[Kind::Forbid, Kind::Not, Kind::Unclear], edge) {
            if self.has(cue, &[Kind::Unclear]) {
                return Verdict::Unclear(cue);
            }
            let is_strong = self.has(cue, &[Kind::Forbid]);
            let governs = match governed(cue) {
                Some(_) if is_second_verb && other > Some(cue) => false,
                Some(verb) => self.is_within(cue, verb, if is_strong { FAR } else { NEXT }),
                None => is_strong || self.is_within(cue, name, NEXT),
            };
            return if governs { Verdict::Forbids(cue) } else { Verdict::Unclear(cue) };
        }
        let start = (edge..name).find(|at| !self.is_filler(*at) && !self.has(*at, &[Kind::And]));
        let opening = start.filter(|at| self.has(*at, &[Kind::AskStart]) && self.is_within(*at, name, 0));
        let question = last(&[Kind::Ask], edge).filter(|at| self.is_within(*at, name, NEAR));
        let question = question.or_else(|| last(&[Kind::AskNext], edge).filter(|at| self.is_within(*at, name, 0)));
        match (opening.or(question), call.filter(|call| self.is_within(*call, name, FAR))) {
            (Some(cue), _) => Verdict::Asks(cue),
            (None, Some(cue)) => Verdict::Calls(cue),
            (None, None) => Verdict::Nothing,
        }
    }

    fn judge_behind(&self, name: usize, is_called: bool) -> Verdict {
        let most = self.tokens.len().min(name + 1 + BEHIND);
        let end = (name + 1..most).find(|at| self.ends_clause(*at) || self.begins_clause(*at) || self.is_name(*at));
        let before_name = end.is_some_and(|end| self.is_name(end));
        let end = end.unwrap_or(most);
        let first = |kinds: &[Kind]| (name + 1..end).find(|at| self.has(*at, kinds));
        let call = first(&CALLS_BEHIND).filter(|at| self.is_within(name, *at, FARTHEST));
        if let Some(cue) = first(&FORBIDS_BEHIND) {
            // "take X not Y": the negation may belong to the next name.
            let is_anothers = before_name && self.has(cue, &NEGATIONS);
            let reach = if is_called { NEXT } else { FARTHEST };
            // "try X and tell me if it does not work": the verb stands between, and other words behind it.
            let is_apart = call.is_some_and(|call| call < cue && !self.is_within(call, cue, NEXT));
            let forbids = !is_anothers && !is_apart && self.is_within(name, cue, reach);
            return if forbids { Verdict::Forbids(cue) } else { Verdict::Unclear(cue) };
        }
        if let Some(cue) = self.find_refusal(name, end) {
            return Verdict::Forbids(cue);
        }
        let question = first(&[Kind::AskAfter]).filter(|at| self.is_within(name, *at, FAR));
        match (question, call) {
            (Some(cue), _) => Verdict::Asks(cue),
            (None, Some(cue)) => Verdict::Calls(cue),
            (None, None) => Verdict::Nothing,
        }
    }

    /// Returns a bare negation behind the name, in its clause or one of its own: "X no", "X, please not!".
    fn find_refusal(&self, name: usize, end: usize) -> Option<usize> {
        let is_blank = |at: usize| self.is_filler(at) && !self.has(at, &NEGATIONS);
        let mut next = (name + 1..).find(|at| !is_blank(*at))?;
        if next == end && matches!(self.tokens.get(end)?.item, Item::Comma) {
            next = (end + 1..).find(|at| !is_blank(*at))?;
        }
        let after = (next + 1..).find(|at| !is_blank(*at))?;
        let is_alone = self.tokens.get(after).is_none_or(|_| self.ends_clause(after));
        (is_alone && self.has(next, &NEGATIONS)).then_some(next)
    }

    /// Whether a verb of use stands directly before the name.
    fn is_used_before(&self, name: usize) -> bool {
        let before = (0..name).rev().find(|at| !self.is_quote(*at));
        before.is_some_and(|at| self.has(at, &[Kind::Use]))
    }

    /// Whether a verb of use stands directly behind the name, particles aside.
    fn is_used_behind(&self, name: usize) -> bool {
        let behind = (name + 1..self.tokens.len()).find(|at| !self.is_filler(*at));
        behind.is_some_and(|at| self.has(at, &[Kind::UseAfter, Kind::ForbidUseAfter]))
    }
}
