//! Skills that may say the same.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::cosine::{Direction, cosine, direction_of, mean_of};
use super::linkage::Likeness;
use super::namesakes::{Kinship, find_kinship, list_name_words};
use super::passages::Passages;

/// So many skills are compared, the first: the time grows with the square of their number.
pub const MOST_SKILLS: usize = 1_000;
/// Less alike descriptions are of other skills.
const LEAST_COSINE: f32 = 0.58;
/// The neighbourhood of a skill: so many others, the nearest.
const NEIGHBOURS: usize = 10;
/// So alike are two skills that say the same, as seen from their neighbourhoods.
const CENTRED: f32 = 0.49;
/// Where one name holds the other, less is enough: such names are mostly given to the same thing.
const CENTRED_OF_NAMESAKES: f32 = 0.30;
/// Skills of a series are described alike, though each is for something else: `deploy-java` and `deploy-python`.
const CENTRED_OF_SERIES: f32 = 0.87;
/// So much of the bodies of two skills of a series is the same where they say the same.
const SHARED_OF_SERIES: f32 = 0.50;

/// What a skill says that it is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim<'a> {
    pub name: &'a str,
    pub body: &'a str,
    /// Its embedding; a skill without one is not compared.
    pub vector: Option<&'a [f32]>,
}

/// Two skills that may say the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The place of the one that comes first.
    pub first: usize,
    pub second: usize,
    pub cosine: f32,
    /// The cosine as seen from their neighbourhoods.
    pub centred: f32,
}

/// The pairs of skills that a merge should be thought of, those first that are most alike as seen from their neighbourhoods.
///
/// Of more than [`MOST_SKILLS`] the first are compared. The numbers that decide are measured: `make bench-dream`.
pub fn find_overlaps(skills: &[Claim<'_>]) -> Vec<Overlap> {
    let read = |(place, skill): (usize, &Claim<'_>)| Some((place, direction_of(skill.vector?)?));
    let (places, directions): (Vec<usize>, Vec<Direction>) =
        skills.iter().enumerate().filter_map(read).take(MOST_SKILLS).unzip();
    let likeness = Likeness::of(directions.len(), |a, b| cosine(&directions[a], &directions[b]));
    let names: Vec<Vec<String>> = places.iter().map(|place| list_name_words(skills[*place].name)).collect();
    let views = Views::of(&directions, &likeness);
    // Read only where they decide, and once for all the pairs of a skill.
    let bodies: Vec<OnceCell<Passages>> = places.iter().map(|_| OnceCell::new()).collect();
    let body = |at: usize| bodies[at].get_or_init(|| Passages::read(skills[places[at]].body));
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

/// The nearest others of a skill, one more than make its neighbourhood: the skill that it is compared with is none of it.
fn list_nearest(likeness: &Likeness, directions: &[Direction], of: usize) -> Vec<usize> {
    let is_comparable = |other: &usize| *other != of && directions[*other].len() == directions[of].len();
    let mut others: Vec<usize> = (0..directions.len()).filter(is_comparable).collect();
    // The numbers themselves decide between equals, so that the order of the skills does not.
    let numbers = |at: usize| directions[at].iter().map(|x| x.to_bits());
    others.sort_unstable_by(|a, b| {
        likeness.get(of, *b).total_cmp(&likeness.get(of, *a)).then_with(|| numbers(*a).cmp(numbers(*b)))
    });
    others.truncate(NEIGHBOURS + 1);
    others
}

/// The skills as seen from the middles of their neighbourhoods: what all of a neighbourhood have in common makes no two of
/// them alike.
struct Views<'a> {
    directions: &'a [Direction],
    /// The nearest others of each skill.
    around: Vec<Vec<usize>>,
    /// Each skill from the middle of its whole neighbourhood, for the many pairs whose other skill is not part of it. Made
    /// where it is first wanted, and once: a middle costs more than a comparison.
    whole: Vec<OnceCell<Direction>>,
}

impl<'a> Views<'a> {
    fn of(directions: &'a [Direction], likeness: &Likeness) -> Self {
        let around = (0..directions.len()).map(|of| list_nearest(likeness, directions, of)).collect();
        Self { directions, around, whole: directions.iter().map(|_| OnceCell::new()).collect() }
    }

    /// A skill as seen from its neighbourhood without the skill that it is compared with. Empty where it stands in the middle
    /// itself.
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
