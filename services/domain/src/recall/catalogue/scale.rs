//! The part of BM25 that depends on field lengths. Words in a longer body count more. `score/bm25.rs` has the other
//! part, the rarity of words.

use super::Catalogue;
use crate::recall::count::Lengths;
use crate::recall::postings::Count;

/// BM25 weights of one term in one skill: the saturated frequency in each field, without the IDF.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::recall) struct Weights {
    /// Weight in name, description and triggers.
    pub(in crate::recall) text: f32,
    pub(in crate::recall) body: f32,
}

/// Converts the counts of one skill to weights. `text` and `body` are the counts at which a field reaches half its
/// maximum weight. `body_share` is the factor on words in the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    text: f32,
    body: f32,
    body_share: f32,
}

const HALF_DEPTH: f32 = 200.0;
/// Factor on words in the shortest body. It rises to 1 for a long body.
const SHORT_BODY: f32 = 0.3;

/// BM25 parameter for the saturation of repeated terms, with its usual value (Robertson and Zaragoza 2009). Other
/// values did not improve results.
const K1: f32 = 1.2;
/// BM25 parameter for the length of the text, with its usual value.
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

/// Returns the median; 0 for an empty list.
fn median(all: &[f32]) -> f32 {
    let mut sorted = all.to_vec();
    let middle = sorted.len() / 2;
    if middle < sorted.len() { *sorted.select_nth_unstable_by(middle, f32::total_cmp).1 } else { 0.0 }
}

/// Returns how much the body adds to the description, from 0 to 1. Short bodies mostly repeat the description. A body
/// of [`HALF_DEPTH`] terms gives 0.5.
fn depth(own: &Lengths) -> f32 {
    own.body / (own.body + HALF_DEPTH)
}
