//! SentencePiece: splits a text into the sequence of pieces with the highest score in its unigram model.

mod normalizer;
mod proto;
mod trie;

use std::fs;
use std::path::Path;

use crate::error::ModelError;
use normalizer::Normalizer;
use trie::Trie;

/// Difference between the scores of the worst piece and of an unknown character, as in the reference implementation.
const UNKNOWN_PENALTY: f32 = 10.0;

/// A tokenizer from texts to piece ids.
pub(crate) struct SentencePiece {
    normalizer: Normalizer,
    trie: Trie,
    scores: Vec<f32>,
    unknown_score: f32,
    unknown: u32,
    begin: u32,
    end: u32,
}

/// The best segmentation of the text up to a position: its score, and the start and id of its last piece.
#[derive(Clone, Copy)]
struct Step {
    score: f32,
    start: usize,
    piece: u32,
}

impl SentencePiece {
    /// Reads a model file in SentencePiece's own format.
    pub(crate) fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes = fs::read(path).map_err(|error| ModelError::io(path, error))?;
        let unfit = |detail: &str| ModelError::unfit(path, detail);
        let model = proto::Model::parse(&bytes).ok_or_else(|| unfit("it is cut short or no SentencePiece model"))?;
        let find = |kind, text: &str| {
            let found = model.pieces.iter().position(|piece| piece.kind == kind && piece.text == text);
            found.and_then(|at| u32::try_from(at).ok()).ok_or_else(|| unfit(&format!("the piece {text} is missing")))
        };
        let (unknown, begin, end) =
            (find(proto::UNKNOWN, "<unk>")?, find(proto::CONTROL, "<s>")?, find(proto::CONTROL, "</s>")?);
        let scores: Vec<f32> = model.pieces.iter().map(|piece| piece.score).collect();
        let worst = scores.iter().copied().fold(f32::INFINITY, f32::min);
        if !scores.iter().all(|score| score.is_finite()) {
            return Err(unfit("a piece has no finite score"));
        }
        let normal = model.pieces.iter().zip(0..).filter(|(piece, _)| piece.kind == proto::NORMAL);
        let trie = Trie::new(normal.map(|(piece, id)| (piece.text.as_bytes(), id)).collect());
        let normalizer = Normalizer::new(model.charsmap).ok_or_else(|| unfit("its normalization table is damaged"))?;
        Ok(Self { normalizer, trie, scores, unknown_score: worst - UNKNOWN_PENALTY, unknown, begin, end })
    }

    /// Returns the number of pieces in the vocabulary.
    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Returns the ids for a text between `<s>` and `</s>`. At most `max` ids are returned. Names of special pieces in
    /// the text are treated as plain text.
    pub(crate) fn ids(&self, text: &str, max: usize) -> Vec<u32> {
        let text = self.normalizer.normalize(text);
        let mut ids = vec![self.begin];
        ids.extend(self.segment(text.as_bytes()));
        ids.truncate(max.saturating_sub(1));
        ids.push(self.end);
        ids
    }

    /// Returns the best pieces of a normalised text. The Viterbi algorithm finds them from left to right.
    fn segment(&self, text: &[u8]) -> Vec<u32> {
        let nothing = Step { score: f32::NEG_INFINITY, start: 0, piece: self.unknown };
        let mut steps = vec![nothing; text.len() + 1];
        steps[0].score = 0.0;
        let mut at = 0;
        while at < text.len() {
            let (before, char_end) = (steps[at].score, at + char_len(text[at]).min(text.len() - at));
            let mut improve = |end: usize, score: f32, piece: u32| {
                if score > steps[end].score {
                    steps[end] = Step { score, start: at, piece };
                }
            };
            let mut has_char = false;
            for (length, piece) in self.trie.prefixes(&text[at..]) {
                improve(at + length, before + self.scores[piece as usize], piece);
                has_char |= at + length == char_end;
            }
            if !has_char {
                improve(char_end, before + self.unknown_score, self.unknown);
            }
            at = char_end;
        }
        let (mut ids, mut end) = (Vec::new(), text.len());
        while end > 0 {
            ids.push(steps[end].piece);
            end = steps[end].start;
        }
        if ids.is_empty() {
            ids.push(self.unknown);
        }
        ids.reverse();
        ids
    }
}

/// Returns the length in bytes of a UTF-8 character with this first byte.
fn char_len(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
