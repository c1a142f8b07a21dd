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
const LEAST_COSINE: f32 = 0.60;
/// The neighbourhood of a skill: so many others, the nearest.
const NEIGHBOURS: usize = 10;
/// So alike are two skills that say the same, as seen from their neighbourhoods.
const CENTRED: f32 = 0.50;
/// Where one name holds the other, less is enough: such names are mostly given to the same thing.
const CENTRED_OF_NAMESAKES: f32 = 0.30;
/// Skills of a series are described alike, though each is for something else: `deploy-java` and `deploy-python`.
const CENTRED_OF_SERIES: f32 = 0.85;
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claim<'a>(name: &'a str, vector: &'a [f32]) -> Claim<'a> {
        Claim { name, body: "", vector: Some(vector) }
    }

    fn pairs(skills: &[Claim<'_>]) -> Vec<[usize; 2]> {
        find_overlaps(skills).iter().map(|pair| [pair.first, pair.second]).collect()
    }

    const EAST: [f32; 3] = [1.0, 0.0, 0.0];
    const NEAR_EAST: [f32; 3] = [0.95, 0.2, 0.0];
    const NORTH: [f32; 3] = [0.0, 1.0, 0.0];
    const UP: [f32; 3] = [0.0, 0.0, 1.0];

    #[test]
    fn near_skills_overlap() {
        let skills = [claim("a", &NORTH), claim("b", &EAST), claim("c", &UP), claim("d", &NEAR_EAST)];
        let found = find_overlaps(&skills);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].first, found[0].second), (1, 3));
        assert!(found[0].cosine > 0.97 && found[0].centred > 0.9);
        assert_eq!(pairs(&skills[..2]), [[0; 2]; 0]);
        assert_eq!(pairs(&skills[1..2]), [[0; 2]; 0]);
        assert_eq!(pairs(&[skills[1], skills[3]]), [[0, 1]]);
        assert_eq!(pairs(&[]), [[0; 2]; 0]);
    }

    #[test]
    fn what_a_neighbourhood_has_in_common_does_not_count() {
        let vectors: Vec<[f32; 7]> = (0..6)
            .map(|at| {
                let mut vector = [0.0; 7];
                (vector[6], vector[at]) = (1.0, 0.4);
                vector
            })
            .collect();
        let names = ["a", "b", "c", "d", "e", "f"];
        let mut skills: Vec<Claim<'_>> = names.iter().zip(&vectors).map(|(name, vector)| claim(name, vector)).collect();
        assert_eq!(pairs(&skills), [[0; 2]; 0]);
        skills.push(claim("g", &vectors[2]));
        assert_eq!(pairs(&skills), [[2, 6]]);
    }

    #[test]
    fn names_say_how_near_is_near() {
        // Their cosine is .61; with the third taken away, .65.
        let vectors = [[1.0, 0.8, 0.0], [1.0, 0.0, 0.8], [0.0, 1.0, 1.0]];
        let named = |names: [&'static str; 2]| {
            let skills = [claim(names[0], &vectors[0]), claim(names[1], &vectors[1]), claim("else", &vectors[2])];
            pairs(&skills)
        };
        assert!(!named(["copy-files", "duplicate-data"]).is_empty());
        assert!(!named(["copy-files", "copy"]).is_empty());
        assert!(named(["copy-files", "copy-lines"]).is_empty());
    }

    #[test]
    fn a_series_overlaps_where_its_bodies_do() {
        let vectors = [[1.0, 0.8, 0.0], [1.0, 0.0, 0.8], [0.0, 1.0, 1.0]];
        let mut skills =
            [claim("copy-files", &vectors[0]), claim("copy-lines", &vectors[1]), claim("else", &vectors[2])];
        (skills[0].body, skills[1].body) =
            ("Open both, mark what is meant, copy it", "Ask which, then paste them there");
        assert_eq!(pairs(&skills), [[0; 2]; 0]);
        skills[1].body = "Open both, mark what is meant, copy it.";
        assert_eq!(pairs(&skills), [[0, 1]]);
    }

    #[test]
    fn hostile_input_is_answered() {
        let strange: [&[f32]; 5] = [&[], &[0.0; 3], &[f32::NAN; 3], &[f32::INFINITY; 3], &[1.0]];
        let mut skills: Vec<Claim<'_>> = strange.iter().map(|vector| claim("", vector)).collect();
        skills.push(Claim { name: "none", body: "", vector: None });
        assert_eq!(pairs(&skills), [[0; 2]; 0]);
        let same = vec![claim("x", &EAST); 12];
        // All stand in the middle of the others: nothing is nearer than anything else.
        assert!(find_overlaps(&same).iter().all(|pair| pair.cosine.is_finite() && pair.centred.is_finite()));
    }

    proptest! {
        #[test]
        fn the_order_of_skills_does_not_matter(vectors in prop::collection::vec(prop::array::uniform4(-3_i8..4), 0..16)) {
            let vectors: Vec<[f32; 4]> = vectors.iter().map(|numbers| numbers.map(f32::from)).collect();
            let skills: Vec<Claim<'_>> = vectors.iter().map(|vector| claim("x-y", vector)).collect();
            let mut turned = skills.clone();
            turned.reverse();
            let last = skills.len().saturating_sub(1);
            let mut back: Vec<[usize; 2]> = pairs(&turned).iter().map(|[a, b]| [last - b, last - a]).collect();
            let mut found = pairs(&skills);
            back.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, back);
        }
    }
}
