//! Written by benches/recall/fit.py; docs/internals/recall-fit.md explains the figures. Fit again, do not edit.

use super::weights::{Floor, Fusion};

pub(super) const WORDS_AND_MEANING: Fusion =
    Fusion { text: 0.1669, body: 0.3076, phrases: 0.5345, meaning: 24.2849, meaning_depth: -15.3985 };

pub(super) const WORDS_AND_MEANING_EVIDENCE: Fusion =
    Fusion { text: 0.2000, body: 0.3330, phrases: 0.7500, meaning: 8.2000, meaning_depth: 0.0000 };

pub(super) const WORDS_AND_MEANING_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: -0.3855,
    lead: 0.3682,
    cover: 0.0000,
    field: 0.0000,
    skills: -0.1048,
    meaning: 10.6193,
    mean_meaning: -3.8158,
    spread: -1.8277,
    chatter: -3.0683,
    learned: 2.5174,
    own: -6.1988,
    base: -2.2972,
};

pub(super) const WORDS_AND_MEANING_LONG: Floor = Floor {
    evidence: 3.3452,
    words: 0.0000,
    lead: 0.0000,
    cover: 1.2917,
    field: 0.0000,
    skills: -0.4806,
    meaning: 3.5907,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -8.0315,
};

pub(super) const WORDS: Fusion =
    Fusion { text: 0.8215, body: 0.2868, phrases: 0.4682, meaning: 0.0000, meaning_depth: 0.0000 };

pub(super) const WORDS_EVIDENCE: Fusion =
    Fusion { text: 0.3000, body: 0.4000, phrases: 0.7500, meaning: 0.0000, meaning_depth: 0.0000 };

pub(super) const WORDS_SHORT: Floor = Floor {
    evidence: 0.0000,
    words: 2.1583,
    lead: 0.2400,
    cover: 0.0000,
    field: 0.0000,
    skills: 0.0555,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -4.5291,
};

pub(super) const WORDS_LONG: Floor = Floor {
    evidence: 3.2116,
    words: 0.0000,
    lead: 0.0000,
    cover: 1.3155,
    field: -3.2968,
    skills: -0.3867,
    meaning: 0.0000,
    mean_meaning: 0.0000,
    spread: 0.0000,
    chatter: 0.0000,
    learned: 0.0000,
    own: 0.0000,
    base: -5.7344,
};
