use super::*;
use crate::recall::{Catalogue, SkillText};

fn nearness(description: f32, examples: &[f32]) -> f32 {
    let mut compared = Compared::default();
    examples.iter().for_each(|example| compared.add(*example, description));
    compared.nearness(description, 0.0)
}

#[test]
fn examples_that_agree_count_more_than_one_of_them() {
    assert!((nearness(0.4, &[]) - 0.4).abs() < 1e-6);
    assert!(nearness(0.4, &[0.7]) > 0.5);
    assert!(nearness(0.4, &[0.7, 0.7, 0.7]) > nearness(0.4, &[0.7]));
    assert!(nearness(0.4, &[0.7, 0.1, 0.1]) < nearness(0.4, &[0.7]));
}

#[test]
fn examples_of_something_else_do_not_lift_a_skill() {
    for count in [1, 5, 16] {
        assert!(nearness(0.1, &vec![0.1; count]) <= 0.1 + 1e-6, "{count}");
        assert!(nearness(0.1, &vec![0.2; count]) < 0.2, "{count}");
    }
}

/// Two skills with vectors of two numbers: examples of the first lie around its description, one of the second is away from it.
#[test]
fn the_usual_nearness_is_that_of_each_example_to_the_others() {
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
    // Of an example of the first: the description and the other one are 20 and 40 degrees away, their mean 30.
    let voted = cos(20.0) + SCALE * ((PRIOR + ((cos(40.0) - cos(20.0)) / SCALE).exp()) / (PRIOR + 1.0)).ln();
    let wanted = (2.0 * 0.5 * (cos(30.0) + voted) + cos(30.0)) / 3.0;
    let own = examples.learned.own.unwrap();
    assert!((own - wanted).abs() < 0.01, "{own} {wanted}");
    assert!((examples.learned.length(0) - (1.0 + 2.0 * cos(20.0))).abs() < 0.01);

    // The same after the skills have changed their places, and none without examples.
    let other_way: Vec<SkillText<'_>> = texts.iter().rev().copied().collect();
    let moved = examples.moved(|place| Some(1 - place)).with_learned(&Catalogue::build(&other_way));
    assert!((moved.learned.own.unwrap() - own).abs() < 1e-5);
    assert!((moved.learned.length(1) - examples.learned.length(0)).abs() < 1e-5);
    assert_eq!(examples.moved(|_| None).with_learned(&catalogue).learned.own, None);
}
