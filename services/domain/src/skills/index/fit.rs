//! Fits the lines in an index into a budget: shortens all texts first, then drops the texts of the lowest-ranked
//! skills.

use super::{Entry, LineTreatment, cost};
use crate::kernel::limits::DESCRIPTION_CHARS;
use crate::text::phrase::SplitDescription;

/// Minimum number of characters in a shortened text. A shorter text would not describe the skill, so the line shows
/// only the name.
const SHORTEST_CHARS: usize = 70;

/// Shortens all texts to the greatest common length that fits. Returns `false` and leaves the texts unchanged if no
/// length fits.
pub(super) fn shorten_all(entries: &mut [Entry<'_>], room: usize) -> bool {
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    // The names alone do not fit.
    if names > room {
        return false;
    }
    let texts: Vec<SplitDescription<'_>> = entries.iter().map(|entry| SplitDescription::of(entry.text())).collect();
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

/// Drops the texts or the lines of the lowest-ranked skills until the rest fits.
pub(super) fn drop_least(entries: &mut [Entry<'_>], room: usize) {
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    let names_fit = names <= room / 2;
    let (left, mut spare) =
        if names_fit { (LineTreatment::Bare, room - names) } else { (LineTreatment::Omitted, room) };
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
            // Stops here, because a shorter line must not be shown instead of a line with a higher rank.
            spare = 0;
            entry.treatment = left;
        }
    }
}
