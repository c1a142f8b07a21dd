use super::*;
use crate::recall::Signals;

const FLOOR: f32 = 0.2;

/// Returns a ranking with this fit, made of skills and their scores.
fn ranking(fit: f32, scores: &[(usize, f32)]) -> Ranking {
    let best = scores.first().map_or(0.0, |(_, score)| *score);
    let hit = |(skill, score): &(usize, f32)| Hit {
        skill: *skill,
        score: *score,
        closeness: (score - best).exp(),
        signals: Signals::default(),
    };
    Ranking { hits: scores.iter().map(hit).collect(), fit, best, ..Ranking::default() }
}

fn relevant(merged: &Ranking) -> Vec<usize> {
    merged.relevant(FLOOR).iter().map(|hit| hit.skill).collect()
}

#[test]
fn texts_that_fit_contribute_their_hits() {
    let merged =
        Ranking::merge(vec![(ranking(0.9, &[(1, 8.0), (2, 7.0)]), 1.0), (ranking(0.8, &[(3, 2.0)]), 1.0)], FLOOR);
    assert_eq!((relevant(&merged), merged.fit), (vec![1, 3, 2], 0.9));
    assert!((merged.hits[1].closeness * merged.fit - 0.8).abs() < 1e-6);
}

#[test]
fn texts_below_the_floor_contribute_no_hits() {
    let poor = || ranking(0.1, &[(3, 9.0)]);
    let merged = Ranking::merge(vec![(poor(), 1.0), (ranking(0.9, &[(1, 8.0)]), 1.0)], FLOOR);
    assert_eq!(relevant(&merged), [1]);
    assert_eq!(
        relevant(&Ranking::merge(vec![(poor(), 1.0), (ranking(0.22, &[(1, 8.0)]), 0.8)], FLOOR)),
        [] as [usize; 0]
    );
    assert_eq!(Ranking::merge(vec![], FLOOR), Ranking::default());
}

#[test]
fn a_skill_found_by_two_texts_occurs_once() {
    let merged =
        Ranking::merge(vec![(ranking(0.9, &[(1, 8.0), (2, 5.0)]), 1.0), (ranking(0.6, &[(2, 3.0)]), 1.0)], FLOOR);
    assert_eq!(relevant(&merged), [1, 2]);
    assert!((merged.hits[1].closeness - 0.6 / 0.9).abs() < 1e-6);
}
