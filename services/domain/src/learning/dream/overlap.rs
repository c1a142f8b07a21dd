//! Finds skills that may have the same content.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::cosine::{Direction, cosine, direction_of, mean_of};
use super::linkage::Likeness;
use super::namesakes::{Kinship, find_kinship, list_name_words};
use super::passages::PassageHashes;

/// Maximum number of skills that are compared, because the time is quadratic in it. The first skills of the list are
/// compared.
pub const MOST_SKILLS: usize = 1_000;
/// Minimum cosine of two descriptions.
const LEAST_COSINE: f32 = 0.58;
/// Number of nearest skills that form a skill's neighbourhood.
const NEIGHBOURS: usize = 10;
/// Minimum cosine between duplicates after each is centred on its neighbourhood.
const CENTRED: f32 = 0.49;
/// Minimum centred cosine if one name has all words of the other, because such names usually mean the same thing.
const CENTRED_OF_NAMESAKES: f32 = 0.30;
/// Minimum centred cosine of skills in a series: their names begin with the same word. Their descriptions are similar
/// but their purposes differ, e.g. `deploy-java` and `deploy-python`.
const CENTRED_OF_SERIES: f32 = 0.87;
/// Minimum share of common passages in the bodies of two skills in a series, if their centred cosine only reaches
/// `CENTRED`.
const SHARED_OF_SERIES: f32 = 0.50;

/// Name, body and embedding of a skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim<'a> {
    pub name: &'a str,
    pub body: &'a str,
    /// Embedding; a skill without one is not compared.
    pub vector: Option<&'a [f32]>,
}

/// Two skills that may have the same content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// Index of the skill that comes first in the given list.
    pub first: usize,
    pub second: usize,
    pub cosine: f32,
    /// Cosine after each skill is centred on its neighbourhood.
    pub centred: f32,
}

/// Returns the pairs of skills that may be duplicates. Pairs with the largest centred cosine come first.
///
/// Only the first [`MOST_SKILLS`] are compared. The thresholds come from measurements: `make bench-dream`.
pub fn find_overlaps(skills: &[Claim<'_>]) -> Vec<Overlap> {
    let read = |(place, skill): (usize, &Claim<'_>)| Some((place, direction_of(skill.vector?)?));
    let (places, directions): (Vec<usize>, Vec<Direction>) =
        skills.iter().enumerate().filter_map(read).take(MOST_SKILLS).unzip();
    let likeness = Likeness::of(directions.len(), |a, b| cosine(&directions[a], &directions[b]));
    let names: Vec<Vec<String>> = places.iter().map(|place| list_name_words(skills[*place].name)).collect();
    let views = CentredSkills::of(&directions, &likeness);
    // A body is read only if needed, and once for all pairs of its skill.
    let bodies: Vec<OnceCell<PassageHashes>> = places.iter().map(|_| OnceCell::new()).collect();
    let body = |at: usize| bodies[at].get_or_init(|| PassageHashes::read(skills[places[at]].body));
    let mut overlaps: Vec<Overlap> = Vec::new();
    for a in 0..directions.len() {
        for b in a + 1..directions.len() {
            let near = likeness.get(a, b);
            if near < LEAST_COSINE {
                continue;
            }
            let centred = cosine(&views.see(a, b), &views.see(b, a));
            let say_the_same = match find_kinship(&names[a], &names[b]) {
                Kinship::Namesakes => centred >= CENTRED_OF_NAMESAKES,
                Kinship::None => centred >= CENTRED,
                Kinship::Series if centred >= CENTRED_OF_SERIES => true,
                Kinship::Series => centred >= CENTRED && body(a).share_with(body(b)) >= SHARED_OF_SERIES,
            };
            if say_the_same {
                overlaps.push(Overlap { first: places[a], second: places[b], cosine: near, centred });
            }
        }
    }
    overlaps.sort_by(|x, y| {
        let order = y.centred.total_cmp(&x.centred).then(y.cosine.total_cmp(&x.cosine));
        order.then_with(|| (x.first, x.second).cmp(&(y.first, y.second)))
    });
    overlaps
}

/// Returns the nearest other skills. There is one more than in a neighbourhood, because `see` leaves out the compared
/// skill.
fn list_nearest(likeness: &Likeness, directions: &[Direction], of: usize) -> Vec<usize> {
    let is_comparable = |other: &usize| *other != of && directions[*other].len() == directions[of].len();
    let mut others: Vec<usize> = (0..directions.len()).filter(is_comparable).collect();
    // Ties are broken by the elements of the vectors, so that the result does not depend on the order of the skills.
    let numbers = |at: usize| directions[at].iter().map(|x| x.to_bits());
    others.sort_unstable_by(|a, b| {
        likeness.get(of, *b).total_cmp(&likeness.get(of, *a)).then_with(|| numbers(*a).cmp(numbers(*b)))
    });
    others.truncate(NEIGHBOURS + 1);
    others
}

/// Skills centred on their neighbourhoods, so that the common properties of a neighbourhood do not make its skills
/// similar.
struct CentredSkills<'a> {
    directions: &'a [Direction],
    /// For each skill, the indices of its nearest other skills.
    around: Vec<Vec<usize>>,
    /// For each skill, its direction centred on its whole neighbourhood. It is used for pairs with a skill outside
    /// the neighbourhood. It is computed on first use, because a mean costs more than a comparison.
    whole: Vec<OnceCell<Direction>>,
}

impl<'a> CentredSkills<'a> {
    fn of(directions: &'a [Direction], likeness: &Likeness) -> Self {
        let around = (0..directions.len()).map(|of| list_nearest(likeness, directions, of)).collect();
        Self { directions, around, whole: directions.iter().map(|_| OnceCell::new()).collect() }
    }

    /// Returns the vector of the skill `of`, centred on its neighbourhood without the skill `beside`. The result is
    /// empty if the vector equals the mean.
    fn see(&self, of: usize, beside: usize) -> Cow<'_, [f32]> {
        let near = &self.around[of];
        if near.iter().take(NEIGHBOURS).any(|other| *other == beside) {
            return Cow::Owned(self.move_to_middle(of, near.iter().filter(|other| **other != beside)));
        }
        Cow::Borrowed(self.whole[of].get_or_init(|| self.move_to_middle(of, near.iter().take(NEIGHBOURS))))
    }

    fn move_to_middle<'o>(&self, of: usize, others: impl Iterator<Item = &'o usize>) -> Direction {
        let middle = mean_of(others.map(|other| self.directions[*other].as_slice()));
        if middle.is_empty() {
            return self.directions[of].clone();
        }
        let moved: Vec<f32> = self.directions[of].iter().zip(&middle).map(|(x, middle)| x - middle).collect();
        direction_of(&moved).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
