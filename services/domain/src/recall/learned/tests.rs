use super::*;
use crate::recall::examples::Examples;
use crate::recall::{Catalogue, SkillText};

fn nearness(description: f32, examples: &[f32]) -> f32 {
    let mut compared = Compared::default();
    examples.iter().for_each(|example| compared.add(*example, description));
    compared.nearness(description, 0.0)
}

#[test]
fn examples_that_agree_count_more_than_a_single_one() {
    assert!((nearness(0.4, &[]) - 0.4).abs() < 1e-6);
    assert!(nearness(0.4, &[0.7]) > 0.5);
    assert!(nearness(0.4, &[0.7, 0.7, 0.7]) > nearness(0.4, &[0.7]));
    assert!(nearness(0.4, &[0.7, 0.1, 0.1]) < nearness(0.4, &[0.7]));
}

#[test]
fn examples_far_from_the_message_do_not_raise_the_nearness() {
    for count in [1, 5, 16] {
        assert!(nearness(0.1, &vec![0.1; count]) <= 0.1 + 1e-6, "{count}");
        assert!(nearness(0.1, &vec![0.2; count]) < 0.2, "{count}");
    }
}

/// Two skills have two-dimensional vectors. The examples of the first are close to its description; the example of the
/// second is farther away.
#[test]
fn the_usual_nearness_compares_each_example_with_the_others() {
    let at = |degrees: f32| vec![degrees.to_radians().cos(), degrees.to_radians().sin()];
    let vectors = [at(0.0), at(90.0)];
    let texts: Vec<SkillText<'_>> = ["a", "b"]
        .iter()
        .zip(&vectors)
        .map(|(name, vector)| SkillText { name, embedding: Some(vector), ..SkillText::default() })
        .collect();
    let catalogue = Catalogue::build(&texts);
    let rows = [(1, at(60.0)), (0, at(20.0)), (0, at(-20.0))];
    let examples = Examples::of(&catalogue, rows.iter().map(|(skill, vector)| (*skill, vector.as_slice())));
    let cos = |degrees: f32| degrees.to_radians().cos();
    // For an example of the first skill, the description is at 20 degrees, the other example at 40, and their mean at
    // 30.
    let voted = cos(20.0) + SCALE * ((PRIOR + ((cos(40.0) - cos(20.0)) / SCALE).exp()) / (PRIOR + 1.0)).ln();
    let wanted = (2.0 * 0.5 * (cos(30.0) + voted) + cos(30.0)) / 3.0;
    let own = examples.learned.own.unwrap();
    assert!((own - wanted).abs() < 0.01, "{own} {wanted}");
    assert!((examples.learned.length(0) - (1.0 + 2.0 * cos(20.0))).abs() < 0.01);

    // Other positions of the skills give the same result. Without examples the result is `None`.
    let other_way: Vec<SkillText<'_>> = texts.iter().rev().copied().collect();
    let moved = examples.moved(|place| Some(1 - place)).with_learned(&Catalogue::build(&other_way));
    assert!((moved.learned.own.unwrap() - own).abs() < 1e-5);
    assert!((moved.learned.length(1) - examples.learned.length(0)).abs() < 1e-5);
    assert_eq!(examples.moved(|_| None).with_learned(&catalogue).learned.own, None);
}
