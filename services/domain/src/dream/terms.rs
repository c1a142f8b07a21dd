//! Words that come in the requests of several sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::gaps::Request;
use super::words::{Word, list_words};
use crate::recall::find_rarity;

/// So many are named.
const MOST_TERMS: usize = 15;
/// Shorter words say little by themselves.
const WORD_LETTERS: usize = 4;

/// A word of several sessions' requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its form that came most often, in lower case.
    pub word: String,
    /// How many sessions' requests have it in any form.
    pub sessions: usize,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} session(s)", self.word, self.sessions)
    }
}

/// What is known of a term.
#[derive(Default)]
struct Seen {
    sessions: BTreeSet<usize>,
    forms: BTreeMap<String, usize>,
    is_dense: bool,
}

/// The fifteen words of four letters and more that come in the requests of the most sessions, of two at least; of as many
/// sessions the rarer word comes first.
pub fn find_terms(requests: &[Request<'_>]) -> Vec<Term> {
    let mut found: BTreeMap<String, Seen> = BTreeMap::new();
    for request in requests {
        for Word { shown, term, is_dense } in list_words(request.text, WORD_LETTERS) {
            let seen = found.entry(term).or_default();
            seen.sessions.insert(request.session);
            *seen.forms.entry(shown).or_default() += 1;
            seen.is_dense = is_dense;
        }
    }
    found.retain(|_, seen| seen.sessions.len() > 1);
    drop_pieces(&mut found);
    let with_rarity = |term: Term| (find_rarity(&term.word).unwrap_or_default(), term);
    let mut terms: Vec<(f32, Term)> = found.into_values().map(name).map(with_rarity).collect();
    terms.sort_by(|(a_rarity, a), (b_rarity, b)| {
        let order = b.sessions.cmp(&a.sessions).then(b_rarity.total_cmp(a_rarity));
        order.then_with(|| a.word.cmp(&b.word))
    });
    terms.into_iter().take(MOST_TERMS).map(|(_, term)| term).collect()
}

/// Drops pieces of longer pieces that come in the same sessions, in scripts that put no blanks between words.
fn drop_pieces(found: &mut BTreeMap<String, Seen>) {
    let mut pieces = Vec::new();
    for (term, seen) in found.iter().filter(|(_, seen)| seen.is_dense) {
        let starts: Vec<usize> = term.char_indices().map(|(at, _)| at).chain([term.len()]).collect();
        for (at, start) in starts.iter().enumerate() {
            let shorter = starts[at..].iter().map(|end| &term[*start..*end]).filter(|piece| piece != term);
            let same =
                |piece: &&str| found.get(*piece).is_some_and(|piece| piece.sessions.len() == seen.sessions.len());
            pieces.extend(shorter.filter(same).map(str::to_owned));
        }
    }
    for piece in pieces {
        found.remove(&piece);
    }
}

fn name(seen: Seen) -> Term {
    // The last of the greatest is taken, so the order is turned for the first by name.
    let most = seen.forms.into_iter().rev().max_by_key(|(_, count)| *count);
    Term { word: most.map(|(form, _)| form).unwrap_or_default(), sessions: seen.sessions.len() }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use proptest::prelude::*;

    use super::*;

    fn find(texts: &[(usize, &str)]) -> Vec<String> {
        let request =
            |(session, text)| Request { session, day: NaiveDate::default(), failed: false, text, vector: &[] };
        let requests: Vec<Request<'_>> = texts.iter().copied().map(request).collect();
        find_terms(&requests).iter().map(Term::to_string).collect()
    }

    #[test]
    fn words_of_several_sessions_are_terms() {
        assert_eq!(
            find(&[(1, "email report please"), (2, "email the team"), (3, "buy milk")]),
            ["email: 2 session(s)"]
        );
        assert_eq!(find(&[(1, "email email"), (1, "email")]), [""; 0]);
        assert_eq!(find(&[]), [""; 0]);
    }

    #[test]
    fn forms_of_a_word_count_together() {
        let found = find(&[(1, "Emails!"), (2, "emails"), (3, "an email"), (4, "invoice"), (5, "invoices")]);
        assert_eq!(found, ["emails: 3 session(s)", "invoice: 2 session(s)"]);
    }

    #[test]
    fn any_language_has_terms() {
        assert_eq!(find(&[(1, "какая погода"), (2, "погоды завтра")]), ["погода: 2 session(s)"]);
        assert_eq!(find(&[(1, "发送邮件"), (2, "读邮件")]), ["邮件: 2 session(s)"]);
        assert_eq!(find(&[(1, "天気予報を"), (2, "天気予報は")]), ["天気予報: 2 session(s)"]);
    }

    #[test]
    fn fifteen_are_named_most_sessions_first_then_rare_ones() {
        let words: Vec<String> = (b'a'..=b'z').map(|c| format!("{0}{0}{0}{0}", char::from(c))).collect();
        let all = words.join(" ");
        let found = find(&[(1, &all), (2, &all), (3, "zzzz")]);
        assert_eq!(found.len(), 15);
        assert_eq!(found[0], "zzzz: 3 session(s)");
        assert_eq!(find(&[(1, "water kubernetes"), (2, "water kubernetes")])[0], "kubernetes: 2 session(s)");
    }

    proptest! {
        #[test]
        fn the_order_of_requests_does_not_matter(
            texts in prop::collection::vec((0_usize..4, "([a-c]{3,5} |字|件){0,6}"), 0..8),
        ) {
            let mut list: Vec<(usize, &str)> = texts.iter().map(|(session, text)| (*session, text.as_str())).collect();
            let found = find(&list);
            list.reverse();
            prop_assert_eq!(find(&list), found);
        }
    }
}
