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
fn similar_skills_overlap() {
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
fn common_properties_of_a_neighbourhood_do_not_count() {
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
fn the_names_decide_how_similar_duplicates_must_be() {
    // The cosine of the first two is 0.61; after the third is subtracted it is 0.65.
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
fn skills_of_a_series_overlap_if_their_bodies_do() {
    let vectors = [[1.0, 0.8, 0.0], [1.0, 0.0, 0.8], [0.0, 1.0, 1.0]];
    let mut skills = [claim("copy-files", &vectors[0]), claim("copy-lines", &vectors[1]), claim("else", &vectors[2])];
    (skills[0].body, skills[1].body) = ("Open both, mark what is meant, copy it", "Ask which, then paste them there");
    assert_eq!(pairs(&skills), [[0; 2]; 0]);
    skills[1].body = "Open both, mark what is meant, copy it.";
    assert_eq!(pairs(&skills), [[0, 1]]);
}

#[test]
fn unusable_vectors_and_equal_skills_are_handled() {
    let strange: [&[f32]; 5] = [&[], &[0.0; 3], &[f32::NAN; 3], &[f32::INFINITY; 3], &[1.0]];
    let mut skills: Vec<Claim<'_>> = strange.iter().map(|vector| claim("", vector)).collect();
    skills.push(Claim { name: "none", body: "", vector: None });
    assert_eq!(pairs(&skills), [[0; 2]; 0]);
    let same = vec![claim("x", &EAST); 12];
    // Each skill equals the mean of the others, so no pair is closer than another.
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
