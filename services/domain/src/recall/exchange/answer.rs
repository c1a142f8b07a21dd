//! Classifies a message as an answer: it agrees, refuses, chooses or continues a question.

use super::words::{AnswerPhraseKind, AnswerToken, WORDS, split};

/// Maximum number of bytes in an answer. Longer messages are not answers.
const MOST_BYTES: usize = 600;

/// Maximum number of words in a question that continues the previous one.
const FOLLOW_WORDS: usize = 8;

/// Maximum number of letters in a continuing question in scripts without spaces.
const FOLLOW_LETTERS: usize = 16;

/// Maximum number of words in a continuing question that begins with a single letter, which is a word in many
/// languages.
const SHORT_FOLLOW: usize = 3;

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// Agrees to any reply if `is_sure`, otherwise only to a question or an offer. `rest` is the text after the
    /// agreement.
    Agrees { is_sure: bool, rest: &'a str },
    /// Refuses, without other text.
    Refuses,
    /// Chooses one of several items.
    Picks(ListPosition),
    /// Chooses all items.
    PicksAll,
    /// Continues the previous question.
    GoesOn,
}

/// Returns whether a character ends a part of a message.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | '.' | '!' | ';' | ':' | '-' | '–' | '，' | '。' | '！' | '、' | '،')
}

/// A position in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListPosition {
    Nth(usize),
    Last,
}

impl ListPosition {
    pub(super) fn of<T>(self, items: &[T]) -> Option<&T> {
        match self {
            Self::Nth(place) => items.get(place),
            Self::Last => items.last(),
        }
    }
}

impl<'a> Answer<'a> {
    /// Classifies a message; `None` if it is not an answer.
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
                Some(AnswerPhraseKind::All) => return Some(Self::PicksAll),
                Some(kind) => return place_of(kind).map(Self::Picks),
                None => {}
            }
        }
        if let Some(place) = number_of(&tokens) {
            return Some(Self::Picks(place));
        }
        // "Good morning" is not an agreement, but "good, in the morning" is.
        let is_apart = rest.is_empty() || message[..message.len() - rest.len()].trim_end().ends_with(is_mark);
        if (head.is_sure || head.is_fine && is_apart) && !head.refuses {
            return Some(Self::Agrees { is_sure: head.is_sure, rest });
        }
        (!head.refuses && goes_on(message, &tokens)).then_some(Self::GoesOn)
    }
}

/// The words at the start of a message that form an answer.
#[derive(Debug, Default, Clone, Copy)]
struct Head {
    /// Number of words.
    length: usize,
    is_sure: bool,
    is_fine: bool,
    refuses: bool,
    place: Option<AnswerPhraseKind>,
}

const HEAD: [AnswerPhraseKind; 11] = [
    AnswerPhraseKind::Yes,
    AnswerPhraseKind::No,
    AnswerPhraseKind::Fine,
    AnswerPhraseKind::First,
    AnswerPhraseKind::Second,
    AnswerPhraseKind::Third,
    AnswerPhraseKind::Fourth,
    AnswerPhraseKind::Fifth,
    AnswerPhraseKind::Last,
    AnswerPhraseKind::All,
    AnswerPhraseKind::Filler,
];

impl Head {
    /// Reads the words of an answer at the start of a message. In scripts without spaces the answer must end with its
    /// run of letters, because longer words may start with the same letters.
    fn read(tokens: &[AnswerToken]) -> Self {
        let (mut head, mut whole) = (Self::default(), Self::default());
        while let Some((kind, length)) = head.next(&tokens[head.length..]) {
            match kind {
                AnswerPhraseKind::Yes => head.is_sure = true,
                AnswerPhraseKind::Fine => head.is_fine = true,
                AnswerPhraseKind::No => head.refuses = true,
                AnswerPhraseKind::Filler | AnswerPhraseKind::Pick | AnswerPhraseKind::Also => {}
                place => head.place = Some(place),
            }
            head.length += length;
            if tokens.get(head.length).is_none_or(|next| !next.is_glued) {
                whole = head;
            }
        }
        whole
    }

    /// Returns the kind and length of the phrase at the start of `tokens`. Phrases such as "and" or "also" (`Also`)
    /// are recognised only after an answer such as "yes".
    fn next(&self, tokens: &[AnswerToken]) -> Option<(AnswerPhraseKind, usize)> {
        let found = WORDS.find(tokens, &HEAD);
        let is_answer = self.is_sure || self.is_fine || self.place.is_some();
        let around = WORDS.find(
            tokens,
            if is_answer { &[AnswerPhraseKind::Also, AnswerPhraseKind::Pick] } else { &[AnswerPhraseKind::Pick] },
        );
        match (found, around) {
            (Some(found), Some(around)) => Some(if around.1 > found.1 { around } else { found }),
            (found, around) => found.or(around),
        }
    }
}

fn place_of(kind: AnswerPhraseKind) -> Option<ListPosition> {
    Some(match kind {
        AnswerPhraseKind::First => ListPosition::Nth(0),
        AnswerPhraseKind::Second => ListPosition::Nth(1),
        AnswerPhraseKind::Third => ListPosition::Nth(2),
        AnswerPhraseKind::Fourth => ListPosition::Nth(3),
        AnswerPhraseKind::Fifth => ListPosition::Nth(4),
        AnswerPhraseKind::Last => ListPosition::Last,
        _ => return None,
    })
}

/// Returns the list position that a message names by a number or a letter, if it has no other words: "2", "option b".
fn number_of(tokens: &[AnswerToken]) -> Option<ListPosition> {
    let mut named = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let number = match token.text.as_bytes() {
            [digit @ b'1'..=b'9'] => Some(usize::from(digit - b'1')),
            [letter @ b'a'..=b'e'] if tokens.len() <= 2 => Some(usize::from(letter - b'a')),
            _ => None,
        };
        match (
            number,
            WORDS.find(
                &tokens[at..],
                &[AnswerPhraseKind::Filler, AnswerPhraseKind::Pick, AnswerPhraseKind::Yes, AnswerPhraseKind::Fine],
            ),
        ) {
            (Some(number), _) if named.is_none() => {
                named = Some(ListPosition::Nth(number));
                at += 1;
            }
            (_, Some((_, length))) => at += length,
            _ => return None,
        }
    }
    named
}

/// Returns whether a message continues the previous question: it is short, and begins or ends like such questions.
fn goes_on(message: &str, tokens: &[AnswerToken]) -> bool {
    let letters = tokens.iter().filter(|token| token.is_glued).count();
    let is_short = tokens.len() - letters <= FOLLOW_WORDS && tokens.len() <= FOLLOW_LETTERS;
    if !is_short {
        return false;
    }
    let asks = message.trim_end().ends_with(['?', '？', '؟']);
    let begins = WORDS.find(tokens, &[AnswerPhraseKind::Follow]).is_some_and(|(_, length)| {
        let is_letter =
            length == 1 && tokens[0].text.chars().count() == 1 && !tokens.get(1).is_some_and(|next| next.is_glued);
        !is_letter || asks && tokens.len() <= SHORT_FOLLOW
    });
    let ends = (1..tokens.len()).any(|at| {
        let found = WORDS.find(&tokens[at..], &[AnswerPhraseKind::FollowEnd]);
        found.is_some_and(|(_, length)| at + length == tokens.len()) && (asks || message.contains('呢'))
    });
    begins || ends
}
