//! Written by benches/recall/fit.py; docs/recall.md says what the figures are. Fit again, do not edit.

use super::floor::Floor;
use super::score::Fusion;

pub(super) const WORDS_AND_MEANING: Fusion = Fusion {
    name: 0.0801,
    text: 0.2062,
    body: 0.4594,
    phrases: 0.5754,
    meaning: 23.0674,
    text_rarity: -0.0566,
    body_rarity: -0.2149,
    meaning_rarity: -3.5652,
    meaning_depth: -14.6535,
};

pub(super) const WORDS_AND_MEANING_EVIDENCE: Fusion = Fusion {
    name: 0.0500,
    text: 0.2000,
    body: 0.3330,
    phrases: 0.7500,
    meaning: 8.2000,
    text_rarity: 0.0000,
    body_rarity: 0.0000,
    meaning_rarity: 0.0000,
    meaning_depth: 0.0000,
};

pub(super) const WORDS_AND_MEANING_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: 0.5441,
    lead: 0.2937,
    cover: 0.0000,
    field: 0.0000,
    skills: -0.4509,
    body: 0.0000,
    meaning: 17.8281,
    mean_meaning: -0.9218,
    spread: 0.5293,
    chatter: -9.7463,
    examples: -0.7843,
    base: -0.9334,
};

pub(super) const WORDS_AND_MEANING_LONG: Floor = Floor {
    evidence: 4.8646,
    words: 0.0000,
    lead: 0.0000,
    cover: 2.6310,
    field: 0.7877,
    skills: -0.3467,
    body: -0.2365,
    meaning: -1.5419,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    examples: 0.0000,
    base: -9.8702,
};

pub(super) const WORDS: Fusion = Fusion {
    name: 0.3133,
    text: 0.6407,
    body: 0.3329,
    phrases: 0.5926,
    meaning: 0.0000,
    text_rarity: -0.3554,
    body_rarity: -0.1254,
    meaning_rarity: 0.0000,
    meaning_depth: 0.0000,
};

pub(super) const WORDS_EVIDENCE: Fusion = Fusion {
    name: 0.2000,
    text: 0.3000,
    body: 0.4000,
    phrases: 0.7500,
    meaning: 0.0000,
    text_rarity: 0.0000,
    body_rarity: 0.0000,
    meaning_rarity: 0.0000,
    meaning_depth: 0.0000,
};

pub(super) const WORDS_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: 3.9711,
    lead: 0.1301,
    cover: 0.0000,
    field: 0.0000,
    skills: -0.6649,
    body: 0.0000,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    examples: 0.0000,
    base: -5.1775,
};

pub(super) const WORDS_LONG: Floor = Floor {
    evidence: 3.9758,
    words: 0.0000,
    lead: 0.0000,
    cover: 2.8994,
    field: 0.7579,
    skills: -0.3420,
    body: -0.1612,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    examples: 0.0000,
    base: -8.7022,
};
