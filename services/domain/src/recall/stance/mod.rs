//! Determines how a message refers to a named skill: calls for it, forbids it, or asks about it.
//!
//! The words in the name's clause decide. [`table`] lists them for each language, [`stream`] finds them in the text,
//! and [`scope`] decides. All languages are read at once, because messages mix them.

mod scope;
mod stream;
mod table;

use std::ops::Range;

use super::mention::{Mention, Stance};
use super::passages::find_blocks;
use scope::StanceScope;
use stream::read_span;

/// Stance of a message towards one name, with its cue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) stance: Stance,
    /// Byte range of the words in the message that decide the stance; `None` if there are no such words.
    pub(super) cue: Option<Range<usize>>,
    /// Whether a verb such as "use" is next to the name. If so, even an ordinary word is a skill's name.
    pub(super) is_used: bool,
}

/// Number of bytes read before and after a name.
const REACH: usize = 400;

/// Sets the stance of each mention. Mentions must be ordered by their positions in the message.
pub(super) fn read_stances(message: &str, mentions: &mut [Mention]) {
    let mut places: Vec<Range<usize>> = mentions.iter().map(|mention| mention.bytes.clone()).collect();
    places.dedup();
    let mut readings = vec![Reading::default(); places.len()];
    let mut at = 0;
    while at < places.len() {
        let reach = |place: &Range<usize>| {
            message.floor_char_boundary(place.start.saturating_sub(REACH))
                ..message.ceil_char_boundary((place.end + REACH).min(message.len()))
        };
        let mut span = reach(&places[at]);
        let mut end = at + 1;
        while let Some(next) = places.get(end).map(reach).filter(|next| next.start <= span.end) {
            span.end = next.end;
            end += 1;
        }
        let names: Vec<(usize, Range<usize>)> = (at..end).map(|place| (place, places[place].clone())).collect();
        let tokens = read_span(message, span, &names);
        let scope = StanceScope::new(&tokens);
        scope.read(&mut |name, reading| {
            if let Some(known) = readings.get_mut(name) {
                *known = reading;
            }
        });
        at = end;
    }
    let pasted = find_blocks(message);
    let mut place = 0;
    for mention in mentions {
        while places.get(place).is_some_and(|known| *known != mention.bytes) {
            place += 1;
        }
        if let Some(reading) = readings.get(place) {
            apply(mention, reading);
        }
        // Orders in quoted mails or logs do not come from the user.
        if pasted.iter().any(|block| block.contains(&mention.bytes.start)) {
            (mention.stance, mention.cue) = (Stance::Named, None);
        }
    }
}

/// Combines the reading of the surrounding words with the form of the name, such as `/name`.
fn apply(mention: &mut Mention, reading: &Reading) {
    mention.explicit |= reading.is_used;
    let is_word = mention.common && !mention.explicit;
    (mention.stance, mention.cue) = match (reading.stance, &reading.cue) {
        (Stance::Named, None) if mention.explicit => (Stance::Called, None),
        // "open weather", "how is the weather": there is no sign that the ordinary word is a name.
        (Stance::Called | Stance::AskedAbout, _) if is_word => (Stance::Named, None),
        (stance, cue) => (stance, cue.clone()),
    };
}

#[cfg(test)]
mod tests;
