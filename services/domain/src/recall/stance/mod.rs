//! How a message means a skill that it names: whether it calls for the skill, forbids it, or asks about it.
//!
//! The words around the name decide, as far as its clause reaches. [`table`] lists them for each language, [`stream`] finds
//! them in the text, and [`scope`] decides. All languages are read at once: messages mix them.

mod scope;
mod stream;
mod table;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::names::Mention;
use super::passages::find_blocks;
use scope::Scope;
use stream::read_span;

/// How a message means a skill that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// Calls for it: "use X", `/X`.
    Called,
    /// Names it and says no more.
    #[default]
    Named,
    /// Asks about it: "what does X do?".
    AskedAbout,
    /// Forbids or excludes it: "don't use X", "without X".
    Forbidden,
}

/// The stance to one name, and what it was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) stance: Stance,
    /// The words that decided, in bytes of the message.
    pub(super) cue: Option<Range<usize>>,
    /// Whether a verb of use stands beside it, so that even an ordinary word is a skill's name.
    pub(super) is_used: bool,
}

/// Bytes before and behind a name that are read.
const REACH: usize = 400;

/// Reads the stance of each mention. The mentions stand in the order of the message.
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
        let scope = Scope::new(&tokens);
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
        // What a quoted mail or a log calls for or forbids is not what the user says.
        if pasted.iter().any(|block| block.contains(&mention.bytes.start)) {
            (mention.stance, mention.cue) = (Stance::Named, None);
        }
    }
}

/// Joins what the words around a name say with the form of the name itself, such as `/name`.
fn apply(mention: &mut Mention, reading: &Reading) {
    mention.explicit |= reading.is_used;
    let is_word = mention.common && !mention.explicit;
    (mention.stance, mention.cue) = match (reading.stance, &reading.cue) {
        (Stance::Named, None) if mention.explicit => (Stance::Called, None),
        // "open weather", "how is the weather": nothing shows that an ordinary word is a name.
        (Stance::Called | Stance::AskedAbout, _) if is_word => (Stance::Named, None),
        (stance, cue) => (stance, cue.clone()),
    };
}

#[cfg(test)]
mod tests;
