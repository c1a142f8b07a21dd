//! Finds the beginnings and ends of clauses, lists and quotations.

use super::{BEFORE, BEHIND, StanceScope};
use crate::recall::stance::stream::{Item, StanceToken};
use crate::recall::stance::table::CueKind;

/// Maximum number of tokens between two names in a list.
const LIST: usize = 64;

/// Kinds of cues before which a word such as "so" begins a clause.
const BEGINNINGS: [CueKind; 6] =
    [CueKind::Forbid, CueKind::Not, CueKind::Exclude, CueKind::Use, CueKind::Call, CueKind::Ask];

impl StanceScope<'_> {
    pub(super) fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| matches!(token.item, Item::Name(_)))
    }

    pub(super) fn has(&self, at: usize, kinds: &[CueKind]) -> bool {
        #[cfg(test)]
        crate::recall::stance::tests::count_look();
        self.tokens.get(at).is_some_and(|token| token.has_any(kinds))
    }

    pub(super) fn is_quote(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| matches!(token.item, Item::Quote(_)))
    }

    pub(super) fn is_filler(&self, at: usize) -> bool {
        self.is_quote(at) || self.has(at, &[CueKind::Filler])
    }

    /// Returns the last name of the list that begins at `first`. Names joined only by commas are a list if the clause
    /// ends after them: "use X, Y is broken" is not a list.
    pub(super) fn find_list_end(&self, first: usize) -> usize {
        let (mut last, mut candidate) = (first, first);
        let (mut comma, mut and) = (false, false);
        for at in first + 1..self.tokens.len() {
            if at > last + LIST {
                return candidate;
            }
            let token = &self.tokens[at];
            match token.item {
                Item::Name(_) if and => {
                    (last, candidate) = (at, at);
                    (comma, and) = (false, false);
                }
                Item::Name(_) if comma => {
                    candidate = at;
                    comma = false;
                }
                Item::Comma => comma = true,
                Item::Word(kinds) if kinds.has(CueKind::And) => and = true,
                _ if self.is_filler(at) => {}
                Item::Stop => return candidate,
                _ => return if comma || and || self.begins_clause(at) { candidate } else { last },
            }
        }
        candidate
    }

    /// Returns the start of the clause that contains a name.
    pub(super) fn find_clause_start(&self, name: usize) -> usize {
        let least = name.saturating_sub(BEFORE);
        let begins = |at: usize| self.ends_clause(at) || self.begins_clause(at);
        match (least..name).rev().find(|at| begins(*at)) {
            // A word that begins a clause may also be a cue: "改用".
            Some(at) if self.has(at, &BEGINNINGS) => at,
            Some(at) => at + 1,
            None => least,
        }
    }

    pub(super) fn ends_clause(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| matches!(token.item, Item::Comma | Item::Stop))
    }

    pub(super) fn begins_clause(&self, at: usize) -> bool {
        if self.has(at, &[CueKind::Border]) {
            return true;
        }
        self.has(at, &[CueKind::SoftBorder])
            && (at + 1..self.tokens.len())
                .find(|next| !self.is_filler(*next))
                .is_some_and(|next| self.has(next, &BEGINNINGS))
    }

    /// Returns the width of the text between two tokens; `None` if a name or "and" is between them.
    pub(super) fn distance(&self, from: usize, to: usize) -> Option<usize> {
        let between = self.tokens.get(from + 1..to)?;
        let is_barrier =
            |token: &StanceToken| matches!(token.item, Item::Name(_)) || token.has(CueKind::And) && token.width > 0;
        (!between.iter().any(is_barrier)).then(|| between.iter().map(|token| token.width).sum())
    }

    pub(super) fn is_within(&self, from: usize, to: usize, most: usize) -> bool {
        self.distance(from, to).is_some_and(|distance| distance <= most)
    }

    /// Returns whether these tokens are inside a quotation that is not the whole message.
    pub(super) fn is_quoted(&self, from: usize, to: usize) -> bool {
        let is_quote = |at: &usize| self.is_quote(*at);
        let before: Vec<usize> = (from.saturating_sub(2 * BEFORE)..from).filter(is_quote).collect();
        let close = (to + 1..self.tokens.len().min(to + 2 * BEHIND)).find(is_quote);
        let (Some(open), Some(close)) = (before.last(), close) else { return false };
        let says = |at: usize| matches!(self.tokens[at].item, Item::Word(_));
        let mut around = (open.saturating_sub(BEFORE)..*open).chain(close + 1..self.tokens.len().min(close + BEHIND));
        before.len() % 2 == 1 && around.any(says)
    }
}
