//! Compares messages with the examples of skills. Computes a message's nearness to a skill, and the usual nearness of
//! messages to their skill.

use super::meaning::Meanings;
use crate::kernel::dot::dot;

/// Scale of cosine differences: an example that is nearer by this much counts 2.7 times as much.
const SCALE: f32 = 0.1;

/// Weight of the description in the vote, as a number of examples. A skill with fewer examples is affected little.
const PRIOR: f32 = 4.0;

/// Statistics of a catalogue's examples that do not depend on a message.
#[derive(Debug, Default)]
pub(super) struct ExampleStatistics {
    /// Norm of the sum of the vectors of description and examples, by the skill's position. It is 0 without examples or
    /// without the description's vector.
    lengths: Vec<f32>,
    /// Mean nearness of examples to their skill. An example is compared with the other examples of its skill. `None` if
    /// there are no examples.
    pub(super) own: Option<f32>,
}

/// The examples of one skill, compared with a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compared {
    pub(super) count: f32,
    /// Sum of the examples' cosines.
    sum: f32,
    /// Sum of the examples' votes. A vote grows with the example's lead over the description.
    agreement: f32,
    /// The highest cosine between the message and an example.
    pub(super) nearest: f32,
}

impl Compared {
    /// Adds an example, given its cosine and the cosine of the description.
    pub(super) fn add(&mut self, example: f32, description: f32) {
        self.nearest = if self.count == 0.0 { example } else { self.nearest.max(example) };
        self.count += 1.0;
        self.sum += example;
        self.agreement += ((example - description) / SCALE).exp();
    }

    /// Returns the message's nearness to the skill: the average of its cosine to the mean vector and the examples'
    /// vote. `length` is the norm of the sum of all vectors; 0 if unknown.
    pub(super) fn nearness(&self, description: f32, length: f32) -> f32 {
        let voted = description + SCALE * ((PRIOR + self.agreement) / (PRIOR + self.count)).ln();
        let is_known = length > f32::EPSILON;
        let middle = if is_known { ((description + self.sum) / length).clamp(-1.0, 1.0) } else { voted };
        0.5 * (middle + voted)
    }
}

impl ExampleStatistics {
    /// Computes the statistics. Each item of `examples` is a skill's position and the normalized vectors of its
    /// examples.
    pub(super) fn of(examples: impl Iterator<Item = (usize, Vec<Vec<f32>>)>, meanings: &Meanings) -> Self {
        let (mut lengths, mut own, mut count) = (Vec::new(), 0.0, 0.0_f32);
        for (skill, vectors) in examples {
            let Some(description) = meanings.vector(skill) else { continue };
            let mut sum = description.clone();
            for vector in &vectors {
                sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
            }
            let length = dot(&sum, &sum).sqrt();
            if lengths.len() <= skill {
                lengths.resize(skill + 1, 0.0);
            }
            lengths[skill] = length;
            for (at, vector) in vectors.iter().enumerate() {
                let cosine = dot(&description, vector);
                let mut others = Compared::default();
                for (_, other) in vectors.iter().enumerate().filter(|(other, _)| *other != at) {
                    others.add(dot(other, vector), cosine);
                }
                let without = (length * length - 2.0 * dot(&sum, vector) + 1.0).max(0.0).sqrt();
                own += others.nearness(cosine, without);
                count += 1.0;
            }
        }
        lengths.shrink_to_fit();
        Self { lengths, own: (count > 0.0).then(|| own / count) }
    }

    pub(super) fn length(&self, skill: usize) -> f32 {
        self.lengths.get(skill).copied().unwrap_or_default()
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.lengths.capacity() * size_of::<f32>()
    }
}

#[cfg(test)]
mod tests;
