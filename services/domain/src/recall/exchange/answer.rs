//! Classifies a message as an answer: it agrees, refuses, chooses or continues a question.

use super::words::{Kind, Token, WORDS, split};

/// Bytes above which a message is no answer.
const MOST_BYTES: usize = 600;

/// Most words of a question that continues the one before.
const FOLLOW_WORDS: usize = 8;

/// The same for letters of scripts without blanks.
const FOLLOW_LETTERS: usize = 16;

/// Words of a question that begins with a single letter, which is a word in many languages.
const SHORT_FOLLOW: usize = 3;

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// Agrees: if `is_sure` to any reply, else to a question or an offer only. `rest` is the text behind the agreement.
    Agrees { is_sure: bool, rest: &'a str },
    /// Refuses, and says nothing else.
    Refuses,
    /// Chooses one of several.
    Picks(Place),
    /// Chooses all of them.
    PicksAll,
    /// Continues the question before.
    GoesOn,
}

/// Checks whether a character ends a part of a message.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | '.' | '!' | ';' | ':' | '-' | '–' | '，' | '。' | '！' | '、' | '،')
}

/// A place in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Nth(usize),
    Last,
}

impl Place {
    pub(super) fn of<T>(self, items: &[T]) -> Option<&T> {
        match self {
            Self::Nth(place) => items.get(place),
            Self::Last => items.last(),
        }
    }
}

impl<'a> Answer<'a> {
    /// Classifies a message; `None` if it is no answer.
    pub(super) fn of(message: &'a str) -> Option<Self> {
        if message.len() > MOST_BYTES {
            return None;
        }
        let tokens = split(message);
        let head = Head::read(&tokens);
        let rest = tokens.get(head.length).map_or("", |token| &message[token.bytes.start..]);
        if rest.is_empty() && head.refuses && !head.is_sure {
            return Some(Self::Refuses);
        }
        if rest.is_empty() && !head.refuses {
            match head.place {
                Some(Kind::All) => return Some(Self::PicksAll),
                Some(kind) => return place_of(kind).map(Self::Picks),
                None => {}
            }
        }
        if let Some(place) = number_of(&tokens) {
            return Some(Self::Picks(place));
        }
        // "Good morning" is no agreement, "good, in the morning" is one.
        let is_apart = rest.is_empty() || message[..message.len() - rest.len()].trim_end().ends_with(is_mark);
        if (head.is_sure || head.is_fine && is_apart) && !head.refuses {
            return Some(Self::Agrees { is_sure: head.is_sure, rest });
        }
        (!head.refuses && goes_on(message, &tokens)).then_some(Self::GoesOn)
    }
}

/// The words of an answer that a message begins with.
#[derive(Debug, Default, Clone, Copy)]
struct Head {
    /// Number of its words.
    length: usize,
    is_sure: bool,
    is_fine: bool,
    refuses: bool,
    place: Option<Kind>,
}

const HEAD: [Kind; 11] = [
    Kind::Yes,
    Kind::No,
    Kind::Fine,
    Kind::First,
    Kind::Second,
    Kind::Third,
    Kind::Fourth,
    Kind::Fifth,
    Kind::Last,
    Kind::All,
    Kind::Filler,
];

impl Head {
    /// Reads words as long as they belong to an answer. In scripts without blanks the answer must end where a run of letters does, as
    /// other words may begin like an answer.
    fn read(tokens: &[Token]) -> Self {
        let (mut head, mut whole) = (Self::default(), Self::default());
        while let Some((kind, length)) = head.next(&tokens[head.length..]) {
            match kind {
                Kind::Yes => head.is_sure = true,
                Kind::Fine => head.is_fine = true,
                Kind::No => head.refuses = true,
                Kind::Filler | Kind::Pick | Kind::Also => {}
                place => head.place = Some(place),
            }
            head.length += length;
            if tokens.get(head.length).is_none_or(|next| !next.is_glued) {
                whole = head;
            }
        }
        whole
    }

    /// Returns the next phrase of an answer. Words that begin another request count only after an answer.
    fn next(&self, tokens: &[Token]) -> Option<(Kind, usize)> {
        let found = WORDS.find(tokens, &HEAD);
        let is_answer = self.is_sure || self.is_fine || self.place.is_some();
        let around = WORDS.find(tokens, if is_answer { &[Kind::Also, Kind::Pick] } else { &[Kind::Pick] });
        match (found, around) {
            (Some(found), Some(around)) => Some(if around.1 > found.1 { around } else { found }),
            (found, around) => found.or(around),
        }
    }
}

fn place_of(kind: Kind) -> Option<Place> {
    Some(match kind {
        Kind::First => Place::Nth(0),
        Kind::Second => Place::Nth(1),
        Kind::Third => Place::Nth(2),
        Kind::Fourth => Place::Nth(3),
        Kind::Fifth => Place::Nth(4),
        Kind::Last => Place::Last,
        _ => return None,
    })
}

/// Returns the place that a message names by a number or a letter: "2", "option b". Nothing else may be said.
fn number_of(tokens: &[Token]) -> Option<Place> {
    let mut named = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let number = match token.text.as_bytes() {
            [digit @ b'1'..=b'9'] => Some(usize::from(digit - b'1')),
            [letter @ b'a'..=b'e'] if tokens.len() <= 2 => Some(usize::from(letter - b'a')),
            _ => None,
        };
        match (number, WORDS.find(&tokens[at..], &[Kind::Filler, Kind::Pick, Kind::Yes, Kind::Fine])) {
            (Some(number), _) if named.is_none() => {
                named = Some(Place::Nth(number));
                at += 1;
            }
            (_, Some((_, length))) => at += length,
            _ => return None,
        }
    }
    named
}

/// Checks whether a message continues the question before: it is short, and begins or ends as such questions do.
fn goes_on(message: &str, tokens: &[Token]) -> bool {
    let letters = tokens.iter().filter(|token| token.is_glued).count();
    let is_short = tokens.len() - letters <= FOLLOW_WORDS && tokens.len() <= FOLLOW_LETTERS;
    if !is_short {
        return false;
    }
    let asks = message.trim_end().ends_with(['?', '？', '؟']);
    let begins = WORDS.find(tokens, &[Kind::Follow]).is_some_and(|(_, length)| {
        let is_letter =
            length == 1 && tokens[0].text.chars().count() == 1 && !tokens.get(1).is_some_and(|next| next.is_glued);
        !is_letter || asks && tokens.len() <= SHORT_FOLLOW
    });
    let ends = (1..tokens.len()).any(|at| {
        let found = WORDS.find(&tokens[at..], &[Kind::FollowEnd]);
        found.is_some_and(|(_, length)| at + length == tokens.len()) && (asks || message.contains('呢'))
    });
    begins || ends
}
