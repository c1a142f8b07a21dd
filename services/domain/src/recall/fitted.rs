//! Written by benches/recall/fit.py; docs/recall.md says what the figures are. Fit again, do not edit.

use super::floor::Floor;
use super::score::Fusion;

pub(super) const WORDS_AND_MEANING: Fusion =
    Fusion { text: 0.1680, body: 0.3055, phrases: 0.5387, meaning: 24.2711, meaning_depth: -15.3814 };

pub(super) const WORDS_AND_MEANING_EVIDENCE: Fusion =
    Fusion { text: 0.2000, body: 0.3330, phrases: 0.7500, meaning: 8.2000, meaning_depth: 0.0000 };

pub(super) const WORDS_AND_MEANING_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: -0.3825,
    lead: 0.3706,
    cover: 0.0000,
    field: 0.0000,
    skills: -0.1056,
    meaning: 10.6131,
    mean_meaning: -3.8097,
    spread: -1.8629,
    chatter: -3.0687,
    learned: 2.5156,
    own: -6.1960,
    base: -2.2989,
};

pub(super) const WORDS_AND_MEANING_LONG: Floor = Floor {
    evidence: 3.4146,
    words: 0.0000,
    lead: 0.0000,
    cover: 1.9897,
    field: -5.1721,
    skills: -0.6453,
    meaning: 4.6563,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -6.9101,
};

pub(super) const WORDS: Fusion =
    Fusion { text: 0.8211, body: 0.2865, phrases: 0.4604, meaning: 0.0000, meaning_depth: 0.0000 };

pub(super) const WORDS_EVIDENCE: Fusion =
    Fusion { text: 0.3000, body: 0.4000, phrases: 0.7500, meaning: 0.0000, meaning_depth: 0.0000 };

pub(super) const WORDS_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: 2.1284,
    lead: 0.2644,
    cover: 0.0000,
    field: 0.0000,
    skills: 0.0602,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -4.9573,
};

pub(super) const WORDS_LONG: Floor = Floor {
    evidence: 3.2108,
    words: 0.0000,
    lead: 0.0000,
    cover: 1.3162,
    field: -3.2972,
    skills: -0.3867,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -5.7331,
};
