use super::*;
use crate::graph::{DAILY_IMPORTANCE, IMPORTANCE_FLOOR};

const USUAL: Fading = Fading { rate: DAILY_IMPORTANCE, floor: IMPORTANCE_FLOOR };

#[test]
fn more_reported_outcomes_have_a_larger_effect() {
    let of = |success, failure| Outcomes { success, failure, partial: 0 };
    assert_eq!((Outcomes::default().shift(), Outcomes::default().success_rate()), (1.0, None));
    assert!((of(0, 1).shift() - 0.8).abs() < 1e-6);
    assert!(of(0, 3).shift() < of(0, 1).shift() && of(3, 0).shift() > of(1, 0).shift());
    assert!(of(1_000_000, 0).shift() <= 1.25);
    assert_eq!(Outcomes { success: 1, failure: 1, partial: 2 }.success_rate(), Some(0.5));
    assert!((USUAL.importance(0.7, 0.0, of(0, 1_000)) - 0.3).abs() < 1e-6, "the floor holds");
    assert!((USUAL.importance(0.2, 0.0, of(0, 1_000)) - 0.2).abs() < 1e-6, "and raises nothing");
    assert!((USUAL.importance(1.0, 0.0, of(1_000, 0)) - 1.0).abs() < 1e-6, "nor is 1 passed");
}

#[test]
fn links_raise_the_ranking_factor_by_at_most_half() {
    assert_eq!(link_factor(0, 0.0), 1.0);
    assert!((link_factor(4, 0.0) - 1.125).abs() < 1e-6);
    assert!(link_factor(1_000_000, 1e9) <= 1.5);
}
