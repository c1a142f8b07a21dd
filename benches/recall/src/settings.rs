//! Lists the settings that are measured, and their goals.

use crate::catalogues::{Drawing, World};
use crate::corpus::Corpus;
use crate::sets::Set;

/// Ways of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Words,
    Meaning,
    /// Search with embeddings and with messages after which skills were used.
    Examples,
}

/// The table of the report that a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Coding,
    Everyday,
    /// Libraries that are much smaller or larger than usual.
    Sizes,
    /// Sets that are used without drawing.
    Sets,
}

/// Goals of a setting; a figure without a goal is only shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Goals {
    pub first: Option<f64>,
    pub five: Option<f64>,
    pub turn: Option<f64>,
    /// Maximum mean number of skills that a turn shows.
    pub names: Option<f64>,
    /// Maximum share of messages without a relevant skill that a turn answers.
    pub answered: Option<f64>,
    /// Recall at 1 and at 5 of an earlier measurement; a lower figure is reported as lost.
    pub before: Option<[f64; 2]>,
}

/// A measured kind of catalogue, and the table that shows its figures.
#[derive(Debug, Clone)]
pub struct Setting {
    pub name: String,
    pub part: Part,
    pub drawing: Drawing,
}

/// Minimum share of messages found in the first five for which a turn shows a relevant skill, as the mean of the four
/// coding catalogues. `CODING_ANSWERED` is the maximum share of messages without a relevant skill that are answered.
pub const CODING_KEPT: f64 = 0.97;
pub const CODING_ANSWERED: f64 = 0.35;

/// Catalogue and kind of the messages with several relevant skills.
pub const ROUTING: (&str, &str) = ("same-200", "routing-case");

/// Returns all settings.
pub fn list(corpus: &Corpus) -> Vec<Setting> {
    let mut settings = vec![
        coding("random-50", Part::Coding, false, 50),
        coding("random-200", Part::Coding, false, 200),
        coding("same-50", Part::Coding, true, 50),
        coding("same-200", Part::Coding, true, 200),
        everyday("everyday-8", Part::Everyday, 8),
        everyday("everyday-30", Part::Everyday, 30),
        everyday("everyday-120", Part::Everyday, 120),
        everyday("everyday-1", Part::Sizes, 1),
        everyday("everyday-1000", Part::Sizes, 1_000),
        everyday("everyday-10000", Part::Sizes, 10_000),
        coding("random-1", Part::Sizes, false, 1),
        coding("random-5", Part::Sizes, false, 5),
        coding("random-15", Part::Sizes, false, 15),
        coding("random-1000", Part::Sizes, false, 1_000),
        coding("random-10000", Part::Sizes, false, 10_000),
    ];
    for (at, set) in corpus.sets.iter().enumerate() {
        settings.extend(list_of_set(at, set));
    }
    settings
}

/// Returns the settings of a set: with all or some of its skills, with examples, and with half of its skills missing.
pub fn list_of_set(at: usize, set: &Set) -> Vec<Setting> {
    const ALL: usize = usize::MAX;
    let kinds: &[(&str, usize, usize, bool)] = match set.name {
        "short" | "short-held-out" => &[
            ("-8", 8, 0, false),
            ("-30", 30, 0, false),
            ("-120", ALL, 0, false),
            ("-8-uses", 8, 5, false),
            ("-30-uses", 30, 5, false),
        ],
        "languages" => &[("-8", 8, 0, false), ("-30", ALL, 0, false)],
        "people-long" | "bfcl-live" | "abcd" => &[("", ALL, 0, false)],
        "hwu64" => &[
            ("", ALL, 0, false),
            ("-5", ALL, 5, false),
            ("-10", ALL, 10, false),
            ("-half", ALL, 0, true),
            ("-5-half", ALL, 5, true),
            ("-10-half", ALL, 10, true),
        ],
        _ => &[("", ALL, 0, false), ("-5", ALL, 5, false), ("-half", ALL, 0, true), ("-5-half", ALL, 5, true)],
    };
    let setting = |(ending, size, examples, halved): &(&str, usize, usize, bool)| Setting {
        name: format!("{}{ending}", set.name),
        part: Part::Sets,
        drawing: Drawing {
            world: World::Set(at),
            same_source: false,
            size: *size,
            body_chars: usize::MAX,
            examples: *examples,
            starters: true,
            halved: *halved,
        },
    };
    kinds.iter().map(setting).collect()
}

fn coding(name: &str, part: Part, same_source: bool, size: usize) -> Setting {
    let drawing = Drawing {
        world: World::Coding,
        same_source,
        size,
        body_chars: usize::MAX,
        examples: 0,
        starters: false,
        halved: false,
    };
    Setting { name: name.to_owned(), part, drawing }
}

fn everyday(name: &str, part: Part, size: usize) -> Setting {
    let drawing = Drawing {
        world: World::Everyday,
        same_source: false,
        size,
        body_chars: usize::MAX,
        examples: 5,
        starters: true,
        halved: false,
    };
    Setting { name: name.to_owned(), part, drawing }
}

impl Setting {
    /// Returns the ways of searching that are measured for this setting.
    pub fn ways(&self, has_model: bool) -> &'static [Way] {
        if has_model && self.part == Part::Sets {
            return if self.drawing.examples > 0 { &[Way::Examples] } else { &[Way::Meaning] };
        }
        match (has_model, self.drawing.examples) {
            (false, _) => &[Way::Words],
            (true, 0) => &[Way::Words, Way::Meaning],
            (true, _) => &[Way::Words, Way::Meaning, Way::Examples],
        }
    }

    pub fn goals(&self, way: Way) -> Goals {
        match (self.name.as_str(), way) {
            ("random-50", Way::Meaning) => kept(None, 0.994, [0.972, 0.999]),
            ("random-200", Way::Meaning) => kept(None, 0.988, [0.943, 0.990]),
            ("same-50", Way::Meaning) => kept(None, 0.972, [0.899, 0.982]),
            ("same-200", Way::Meaning) => kept(Some(0.84), 0.955, [0.848, 0.972]),
            ("everyday-8", Way::Meaning) => short([0.97, 0.998], 0.95, 0.10).with_names(1.6),
            ("everyday-30", Way::Meaning) => short([0.92, 0.99], 0.95, 0.15).with_names(2.2),
            ("everyday-120", Way::Meaning) => short([0.80, 0.96], 0.92, 0.25).with_names(3.2),
            ("everyday-8", Way::Words) => short([0.83, 0.90], 0.80, 0.20),
            ("everyday-30", Way::Words) => short([0.73, 0.89], 0.78, 0.25),
            ("everyday-120", Way::Words) => short([0.58, 0.82], 0.70, 0.30),
            ("everyday-8", Way::Examples) => taught(0.98, 0.97, 0.08),
            ("everyday-30", Way::Examples) => taught(0.95, 0.97, 0.10),
            ("everyday-120", Way::Examples) => taught(0.88, 0.96, 0.16),
            _ => Goals::default(),
        }
    }
}

fn kept(first: Option<f64>, five: f64, before: [f64; 2]) -> Goals {
    Goals { first, five: Some(five), before: Some(before), ..Goals::default() }
}

fn short([first, five]: [f64; 2], turn: f64, answered: f64) -> Goals {
    Goals { five: Some(five), ..taught(first, turn, answered) }
}

fn taught(first: f64, turn: f64, answered: f64) -> Goals {
    Goals { first: Some(first), turn: Some(turn), answered: Some(answered), ..Goals::default() }
}

impl Goals {
    fn with_names(self, names: f64) -> Self {
        Self { names: Some(names), ..self }
    }
}
