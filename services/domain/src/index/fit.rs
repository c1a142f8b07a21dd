//! Makes the lines of an index fit into a room: first all texts become shorter, then the skills that rank last lose theirs.

use super::{Entry, Fate, cost};
use crate::limits::DESCRIPTION_CHARS;
use crate::phrase::Parted;

/// Texts are cut to this length at the shortest. If that does not fit, the line shows the name alone: fewer characters
/// would not tell what the skill is for.
const SHORTEST_CHARS: usize = 70;

/// Shortens all texts to the greatest common length with which the lines fit; `false`, and nothing done, where there is none.
pub(super) fn shorten_all(entries: &mut [Entry<'_>], room: usize) -> bool {
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    // The names alone do not fit.
    if names > room {
        return false;
    }
    let texts: Vec<Parted<'_>> = entries.iter().map(|entry| Parted::of(entry.text())).collect();
    let fits = |length| names + texts.iter().map(|text| cost(&text.within(length))).sum::<usize>() <= room;
    if !fits(SHORTEST_CHARS) {
        return false;
    }
    let (mut fitting, mut too_long) = (SHORTEST_CHARS, DESCRIPTION_CHARS + 1);
    while too_long > fitting + 1 {
        let middle = fitting.midpoint(too_long);
        if fits(middle) { fitting = middle } else { too_long = middle }
    }
    entries.iter_mut().for_each(|entry| entry.shorten(fitting));
    true
}

/// Leaves the last in rank without text, or out, until the lines fit.
pub(super) fn drop_least(entries: &mut [Entry<'_>], room: usize) {
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    let names_fit = names <= room / 2;
    let (left, mut spare) = if names_fit { (Fate::Bare, room - names) } else { (Fate::Omitted, room) };
    let mut order: Vec<&mut Entry<'_>> = entries.iter_mut().collect();
    order.sort_by(|a, b| b.line.rank.total_cmp(&a.line.rank));
    for entry in order {
        if spare > 0 {
            entry.find_text();
            entry.shorten(SHORTEST_CHARS);
        }
        let cost = if names_fit { entry.text_cost() } else { entry.bare_cost() + entry.text_cost() };
        if cost <= spare {
            spare -= cost;
        } else {
            // Ends the list here: a shorter line must not come before one of higher rank.
            spare = 0;
            entry.fate = left;
        }
    }
}
