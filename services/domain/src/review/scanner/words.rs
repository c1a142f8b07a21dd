//! Finds many words in a text in one pass.
//!
//! Words are sorted into buckets by their first bytes, so at a position of the text only few words are compared. Most
//! words begin at a word boundary and are looked up only there. The first three bytes select the positions that can
//! begin a word. The tables are small, so the processor's caches hold them.

use super::needs::{EDGE, is_of_word};

/// Maximum number of bytes that select a bucket.
const START: usize = 4;
/// Number of bytes after the start that are compared at once.
const TAIL: usize = 8;
/// Number of bits of the hash of three bytes.
const FILTER_BITS: u32 = 15;
/// Mark of an unused place.
const UNUSED: u32 = u32::MAX;
/// Masks of the first bytes of a tail.
const MASKS: [u64; TAIL + 1] = masks();
/// A multiplier that spreads similar numbers (2^32 divided by the golden ratio).
const SPREAD: u32 = 0x9E37_79B1;

/// Flags for the words that may begin at any position: a bit for each length of a start.
const ANYWHERE: u8 = 0b1111;
/// Flags for the words that begin at a word boundary.
const AT_EDGE: u8 = ANYWHERE << START;

/// A search for many words, ignoring the case of ASCII letters.
pub(super) struct WordSearch {
    /// For each hash of three bytes, flags of the starts with these bytes.
    triples: Vec<u8>,
    /// For each byte, flags of the starts of less than three bytes with this byte.
    firsts: [u8; 256],
    /// Buckets by the number of their flag.
    buckets: [Buckets; 2 * START],
}

/// Words with starts of the same length.
struct Buckets {
    /// A hash table with open addressing: each start, and the number of its first word. Unused places have [`UNUSED`].
    places: Vec<(u32, u32)>,
    /// Words sorted by start.
    words: Vec<Word>,
    /// The bytes of each word after its tail.
    rests: Vec<Vec<u8>>,
}

/// A word without its start.
struct Word {
    /// The bytes after the start.
    tail: u64,
    number: u32,
    /// Number of bytes of the whole word, up to `START + TAIL`.
    length: u8,
    /// True if the word must end at a word boundary.
    ends: bool,
    /// True if the word is longer than its start and tail.
    has_rest: bool,
    /// True for the last of the words with the same start.
    is_last: bool,
}

/// A word to search.
struct KnownWord {
    start: u32,
    text: Vec<u8>,
    ends: bool,
    number: u32,
}

/// The first bytes of a word.
#[derive(Clone, Copy)]
struct WordStart {
    /// The bytes as a big-endian number.
    bytes: u32,
    length: usize,
}

impl WordSearch {
    /// Makes a search for words in lower case, with their [`EDGE`]s. The number of a word is its position.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut triples = vec![0; 1 << FILTER_BITS];
        let mut firsts = [0; 256];
        let mut known: [Vec<KnownWord>; 2 * START] = Default::default();
        for (number, word) in (0..).zip(words) {
            let text = word.replace(EDGE, "").into_bytes();
            let start = WordStart::of(&text);
            let flag = start.length - 1 + if word.starts_with(EDGE) { START } else { 0 };
            if start.length < 3 {
                firsts[usize::from(text[0])] |= 1 << flag;
            } else {
                triples[hash(start.cut(3).bytes, FILTER_BITS)] |= 1 << flag;
            }
            known[flag].push(KnownWord { start: start.bytes, text, ends: word.ends_with(EDGE), number });
        }
        Self { triples, firsts, buckets: known.map(Buckets::of) }
    }

    /// Calls `found` with the start and the number of each word in the text, in the order of the starts.
    pub(super) fn each(&self, text: &str, mut found: impl FnMut(usize, u32)) {
        // The bytes after the text are no letters, and no word has them.
        let mut bytes = Vec::with_capacity(text.len() + START + TAIL);
        bytes.extend_from_slice(text.as_bytes());
        bytes.make_ascii_lowercase();
        bytes.extend_from_slice(&[0; START + TAIL]);
        let mut was_of_word = false;
        let mut next = bytes[..START - 1].iter().fold(0, |next, byte| next << 8 | u32::from(*byte));
        for (at, (first, last)) in bytes.iter().zip(&bytes[START - 1..]).take(text.len()).enumerate() {
            next = next << 8 | u32::from(*last);
            let is_of_word = is_of_word(*first);
            let wanted = if is_of_word == was_of_word { ANYWHERE } else { ANYWHERE | AT_EDGE };
            was_of_word = is_of_word;
            let flags = wanted & (self.triples[hash(next >> 8, FILTER_BITS)] | self.firsts[usize::from(*first)]);
            if flags != 0 {
                self.at(&bytes[at..], (next, flags), &mut |word| found(at, word));
            }
        }
    }

    /// Calls `found` with the number of each word at the beginning of the bytes. The flags select the buckets.
    fn at(&self, bytes: &[u8], (next, flags): (u32, u8), found: &mut impl FnMut(u32)) {
        let next = WordStart { bytes: next, length: START };
        let mut left = flags;
        while left != 0 {
            let flag = left.trailing_zeros() as usize;
            left &= left - 1;
            self.buckets[flag].at(bytes, next.cut(flag % START + 1).bytes, found);
        }
    }
}

impl WordStart {
    fn of(word: &[u8]) -> Self {
        let length = word.len().clamp(1, START);
        Self { bytes: word[..length].iter().fold(0, |start, byte| start << 8 | u32::from(*byte)), length }
    }

    /// Returns the first bytes of the start.
    fn cut(self, length: usize) -> Self {
        Self { bytes: self.bytes >> (8 * (self.length - length)), length }
    }
}

impl Word {
    /// Checks whether the word is at the beginning of the bytes, which begin with its start. `tail` has the bytes after
    /// the start, and `rest` the bytes of the word after its tail.
    fn is_there(&self, rest: &[u8], tail: u64, bytes: &[u8]) -> bool {
        let length = usize::from(self.length);
        if tail & MASKS[length.saturating_sub(START)] != self.tail
            || (self.has_rest && !bytes[length..].starts_with(rest))
        {
            return false;
        }
        let end = length + rest.len();
        !self.ends || is_of_word(bytes[end - 1]) != is_of_word(bytes[end])
    }
}

impl Buckets {
    fn of(mut known: Vec<KnownWord>) -> Self {
        known.sort_by_key(|word| word.start);
        let places = (4 * known.len()).next_power_of_two().max(2);
        let mut buckets = Self { places: vec![(0, UNUSED); places], words: Vec::new(), rests: Vec::new() };
        let mut next = known.iter().skip(1).map(|word| word.start);
        for (first, word) in (0..).zip(&known) {
            let place = buckets.place_of(word.start);
            if buckets.places[place].1 == UNUSED {
                buckets.places[place] = (word.start, first);
            }
            let after = word.text.get(START..).unwrap_or_default();
            let (tail, rest) = after.split_at(after.len().min(TAIL));
            let mut bytes = [0; TAIL];
            bytes[..tail.len()].copy_from_slice(tail);
            buckets.words.push(Word {
                tail: u64::from_le_bytes(bytes),
                number: word.number,
                length: u8::try_from(word.text.len().min(START + TAIL)).unwrap_or(u8::MAX),
                ends: word.ends,
                has_rest: !rest.is_empty(),
                is_last: next.next() != Some(word.start),
            });
            buckets.rests.push(rest.to_vec());
        }
        buckets
    }

    /// Returns the place of a start in the hash table, or an unused place for it.
    fn place_of(&self, start: u32) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash(start, self.places.len().trailing_zeros());
        while self.places[place].1 != UNUSED && self.places[place].0 != start {
            place = (place + 1) & last;
        }
        place
    }

    fn at(&self, bytes: &[u8], start: u32, found: &mut impl FnMut(u32)) {
        let first = self.places[self.place_of(start)].1;
        let Some(tail) = bytes[START..].first_chunk().map(|tail| u64::from_le_bytes(*tail)) else { return };
        for number in first as usize..self.words.len() {
            let word = &self.words[number];
            if word.is_there(&self.rests[number], tail, bytes) {
                found(word.number);
            }
            if word.is_last {
                break;
            }
        }
    }
}

const fn masks() -> [u64; TAIL + 1] {
    let mut masks = [0; TAIL + 1];
    let mut length = 1;
    while length <= TAIL {
        masks[length] = masks[length - 1] << 8 | 0xff;
        length += 1;
    }
    masks
}

fn hash(number: u32, bits: u32) -> usize {
    (number.wrapping_mul(SPREAD) >> (u32::BITS - bits)) as usize
}

#[cfg(test)]
mod tests;
