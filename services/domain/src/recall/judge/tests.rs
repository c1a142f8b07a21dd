use super::*;
use crate::recall::{FLOOR, Signals};

fn ranking(fit: f32, closenesses: &[f32]) -> Ranking {
    let hit = |(skill, closeness): (usize, &f32)| Hit {
        skill,
        score: closeness.max(f32::MIN_POSITIVE).ln(),
        closeness: *closeness,
        signals: Signals::default(),
    };
    Ranking { hits: closenesses.iter().enumerate().map(hit).collect(), fit, ..Ranking::default() }
}

#[test]
fn a_ranking_is_unsure_around_the_floor() {
    for (fit, unsure) in
        [(0.0, false), (0.02, false), (0.03, true), (FLOOR, true), (0.6, true), (0.7, false), (1.0, false)]
    {
        assert_eq!(ranking(fit, &[1.0, 0.1]).is_unsure(FLOOR), unsure, "{fit}");
    }
}

#[test]
fn a_close_and_relevant_second_hit_makes_a_ranking_unsure() {
    assert!(ranking(0.99, &[1.0, 0.5]).is_unsure(FLOOR));
    assert!(!ranking(0.99, &[1.0, 0.4]).is_unsure(FLOOR));
    assert!(!ranking(0.001, &[1.0, 0.9]).is_unsure(FLOOR));
}

#[test]
fn a_floor_of_0_or_1_has_finite_odds() {
    for floor in [0.0, 1.0] {
        assert!(!ranking(0.5, &[1.0]).is_unsure(floor));
    }
    assert!(ranking(1.0, &[1.0]).is_unsure(1.0));
}

#[test]
fn a_hit_excluded_by_a_counter_example_is_no_candidate() {
    let ranking = ranking(0.5, &[1.0, 0.2, 0.0]);
    assert_eq!(ranking.candidates().map(|hit| hit.skill).collect::<Vec<_>>(), [0, 1]);
}
