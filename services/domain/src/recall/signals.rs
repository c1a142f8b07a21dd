//! Signals of a skill for a message, and properties of the message and the catalogue.

use super::catalogue::Catalogue;

/// The signals of one skill for a message. All are 0 if the skill does not match.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Signals {
    /// BM25 over name, description and triggers.
    pub text: f32,
    /// BM25 over the body, reduced for a short body.
    pub body: f32,
    /// Number of the message's phrases that the body repeats.
    pub phrases: f32,
    /// Total rarity of the words in the rarest trigger phrase in the message; 0 for a single ordinary word.
    pub trigger: f32,
    /// Share of the message's terms that the skill contains, weighted by rarity; 0 to 1.
    pub cover: f32,
    /// Cosine of the embeddings, or an estimate from the words if the skill has no embedding yet.
    pub cosine: f32,
    /// Whether the cosine is an estimate from the words, because other skills have a vector but not this one.
    pub is_guessed: bool,
    /// Cosine between the message and the nearest example; 0 without examples.
    pub example: f32,
    /// Nearness to the description and the examples together; equal to `cosine` without examples.
    pub meaning: f32,
    /// Cosine between the message and the nearest counter-example; 0 without counter-examples. The other signals are
    /// already weakened by it.
    pub counter: f32,
    /// Amount of text in the body: 0 without a body, near 1 for a long one.
    pub depth: f32,
}

/// Properties of a message and a catalogue as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Context {
    /// Number of skills in the catalogue.
    pub skills: f32,
    /// Median depth of the skills, 0 to 1.
    pub depth: f32,
    /// Mean share of the message that skills cover. It shows to what extent the message is about the library's subject.
    pub field: f32,
    /// Whether there are embeddings to compare.
    pub has_meaning: bool,
    /// Mean of the cosines.
    pub mean_cosine: f32,
    /// Standard deviation of the cosines.
    pub spread: f32,
    /// Cosine to the nearest small-talk phrase; 0 if unknown.
    pub chatter: f32,
    /// Mean nearness of the skills' examples to their own skills; `None` if there are no examples.
    pub own: Option<f32>,
}

impl Context {
    /// Computes the properties from the skills' signals.
    pub(super) fn of(catalogue: &Catalogue, signals: &[Signals], has_meaning: bool) -> Self {
        let skills = signals.len().max(1) as f32;
        let mean = |of: &dyn Fn(&Signals) -> f32| signals.iter().map(of).sum::<f32>() / skills;
        let mean_cosine = mean(&|s| s.cosine);
        Self {
            skills,
            depth: catalogue.median_depth,
            field: mean(&|s| s.cover),
            has_meaning,
            mean_cosine,
            spread: mean(&|s| (s.cosine - mean_cosine).powi(2)).sqrt(),
            ..Self::default()
        }
    }
}
