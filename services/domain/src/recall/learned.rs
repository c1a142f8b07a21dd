//! What the examples of skills say together: how near a message is to their mean, how many of them agree, and how near messages for
//! a skill usually are.

use super::examples::Examples;
use super::meaning::Meanings;

/// Differences of cosines that tell one example from another: of two examples nearer by so much, the nearer counts 2.7 times as much.
const SCALE: f32 = 0.1;

/// The description counts as so many examples at its own cosine, so that few examples change little.
const PRIOR: f32 = 4.0;

/// What is known of the examples of a catalogue before a message comes.
#[derive(Debug, Default)]
pub(super) struct Learned {
    /// Of each skill, by its place: the length of the sum of its description's vector and those of its examples; 0 where it has
    /// no examples, or where its description has no vector here.
    lengths: Vec<f32>,
    /// The mean nearness of an example to its own skill, without itself; `None` without examples.
    pub(super) own: Option<f32>,
}

/// The examples of one skill, compared with a message.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Compared {
    pub(super) count: f32,
    /// The sum of the cosines.
    sum: f32,
    /// How many are nearer than the description, each by how much nearer it is.
    agreement: f32,
    /// The best cosine.
    pub(super) nearest: f32,
}

impl Compared {
    /// Adds an example with its cosine and that of the description.
    pub(super) fn add(&mut self, example: f32, description: f32) {
        self.nearest = if self.count == 0.0 { example } else { self.nearest.max(example) };
        self.count += 1.0;
        self.sum += example;
        self.agreement += ((example - description) / SCALE).exp();
    }

    /// How near the message is to the skill: the mean of its cosine to the mean of description and examples, and of what the
    /// examples vote for. `length` is that of the sum of their vectors, 0 if it is not known.
    pub(super) fn nearness(&self, description: f32, length: f32) -> f32 {
        let voted = description + SCALE * ((PRIOR + self.agreement) / (PRIOR + self.count)).ln();
        let is_known = length > f32::EPSILON;
        let middle = if is_known { ((description + self.sum) / length).clamp(-1.0, 1.0) } else { voted };
        0.5 * (middle + voted)
    }
}

impl Learned {
    pub(super) fn of(examples: &Examples, meanings: &Meanings) -> Self {
        let (mut lengths, mut own, mut count) = (Vec::new(), 0.0, 0.0_f32);
        for (skill, vectors) in examples.by_skill() {
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

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.lengths.capacity() * size_of::<f32>()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
