//! What a word counts in each skill: the half of BM25 that the lengths of the fields decide, and a word of a body more
//! the longer that is. The other half, how rare the words are, is in `score/bm25.rs`.

use super::Catalogue;
use crate::recall::count::Lengths;
use crate::recall::postings::Count;

/// The weights of one term in one skill: the saturated frequency of BM25 per field, before the idf.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::recall) struct Weights {
    /// In name, description and triggers.
    pub(in crate::recall) text: f32,
    pub(in crate::recall) body: f32,
}

/// What makes weights of the counts of one skill: at which count each field's weight is half of the most, and what a word
/// of the body counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    text: f32,
    body: f32,
    body_share: f32,
}

const HALF_DEPTH: f32 = 200.0;
/// What a word of the shortest body counts, beside one of a long body.
const SHORT_BODY: f32 = 0.3;

/// BM25's parameters, as usual (Robertson and Zaragoza 2009); other values gained nothing.
const K1: f32 = 1.2;
const B: f32 = 0.75;

impl Catalogue {
    pub(super) fn scale(&mut self) {
        let lengths_of = |(part, own): &(u8, u32)| {
            self.parts.get(usize::from(*part)).map(|part| part.lengths(*own as usize)).unwrap_or_default()
        };
        let lengths: Vec<Lengths> = self.homes.iter().map(lengths_of).collect();
        let mean = |field: fn(&Lengths) -> f32| lengths.iter().map(field).sum::<f32>() / lengths.len().max(1) as f32;
        let (text, body) = (mean(|own| own.text), mean(|own| own.body));
        let half = |own: f32, mean: f32| K1 * (1.0 - B + B * own / mean.max(1.0));
        self.depths = lengths.iter().map(depth).collect();
        self.scales = lengths
            .iter()
            .zip(&self.depths)
            .map(|(own, depth)| Scale {
                text: half(own.text, text),
                body: half(own.body, body),
                body_share: SHORT_BODY + (1.0 - SHORT_BODY) * depth,
            })
            .collect();
        self.median_depth = median(&self.depths);
    }
}

impl Scale {
    pub(super) fn weigh(&self, count: Count) -> Weights {
        let saturate = |count: u8, half: f32| f32::from(count) * (K1 + 1.0) / (f32::from(count) + half);
        Weights { text: saturate(count.text, self.text), body: saturate(count.body, self.body) * self.body_share }
    }
}

/// The one in the middle; 0 of none.
fn median(all: &[f32]) -> f32 {
    let mut sorted = all.to_vec();
    let middle = sorted.len() / 2;
    if middle < sorted.len() { *sorted.select_nth_unstable_by(middle, f32::total_cmp).1 } else { 0.0 }
}

/// Words of a short body repeat the description; only a long one says more. Half at [`HALF_DEPTH`] terms.
fn depth(own: &Lengths) -> f32 {
    own.body / (own.body + HALF_DEPTH)
}
