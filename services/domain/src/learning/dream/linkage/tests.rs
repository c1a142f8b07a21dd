use proptest::prelude::*;

use super::*;

fn matrix(count: usize, cells: &[f32]) -> Likeness {
    let mut cells = cells.iter().copied();
    Likeness::of(count, |_, _| cells.next().unwrap_or_default())
}

fn mean_between(likeness: &Likeness, a: &[usize], b: &[usize]) -> f32 {
    let pairs = a.iter().flat_map(|x| b.iter().map(|y| (*x, *y))).filter(|(x, y)| x != y);
    let alike: Vec<f32> = pairs.map(|(x, y)| likeness.get(x, y)).collect();
    alike.iter().sum::<f32>() / alike.len() as f32
}

const ROUNDING: f32 = 1e-4;

/// Reference implementation: joins the two most similar groups repeatedly. Returns `None` if rounding would decide
/// between pairs.
fn link_plainly(likeness: &Likeness, cut: f32) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Vec<usize>> = (0..likeness.count()).map(|at| vec![at]).collect();
    loop {
        let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        let mut alike: Vec<(f32, usize, usize)> =
            pairs.map(|(a, b)| (mean_between(likeness, &groups[a], &groups[b]), a, b)).collect();
        alike.sort_by(|x, y| y.0.total_cmp(&x.0));
        let Some(&(nearest, a, b)) = alike.first() else { break };
        let next = alike.get(1).map_or(f32::NEG_INFINITY, |next| next.0);
        if nearest - next < ROUNDING || (nearest - cut).abs() < ROUNDING {
            return None;
        }
        if nearest < cut {
            break;
        }
        let members = groups.remove(b);
        groups[a].extend(members);
    }
    groups.retain(|group| group.len() > 1);
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    Some(groups)
}

#[test]
fn single_and_dissimilar_items_form_no_group() {
    assert!(link(matrix(0, &[]), 0.5).is_empty());
    assert!(link(matrix(1, &[]), 0.5).is_empty());
    assert_eq!(link(matrix(3, &[1.0; 3]), 0.5), [[0, 1, 2]]);
    assert!(link(matrix(3, &[0.4; 3]), 0.5).is_empty());
}

#[test]
fn items_that_are_similar_only_through_a_third_are_not_grouped() {
    // 0 is similar to 1, and 1 to 2, but 0 is not similar to 2.
    assert_eq!(link(matrix(3, &[0.9, 0.1, 0.8]), 0.5), [[0, 1]]);
}

proptest! {
    /// Asserts that the groups equal the groups of the reference implementation.
    #[test]
    fn groups_are_those_of_joining_the_nearest(
        count in 0_usize..9,
        cells in Just((0..36).map(|at| (at as f32 / 36.0).sqrt()).collect::<Vec<f32>>()).prop_shuffle(),
    ) {
        let expected = link_plainly(&matrix(count, &cells), 0.5);
        prop_assume!(expected.is_some());
        let mut found = link(matrix(count, &cells), 0.5);
        found.sort();
        prop_assert_eq!(Some(found), expected);
    }

    #[test]
    fn members_are_alike_in_the_mean_and_no_two_groups_could_be_joined(
        count in 0_usize..12,
        cells in prop::collection::vec((0_u8..5).prop_map(|x| f32::from(x) / 4.0), 66),
    ) {
        let likeness = matrix(count, &cells);
        let mut groups = link(matrix(count, &cells), 0.5);
        for group in &groups {
            prop_assert!(mean_between(&likeness, group, group) >= 0.5 - ROUNDING);
        }
        let single = (0..count).filter(|at| !groups.iter().any(|group| group.contains(at)));
        groups.extend(single.map(|at| vec![at]).collect::<Vec<_>>());
        prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), count);
        for (at, group) in groups.iter().enumerate() {
            prop_assert!(groups[at + 1..].iter().all(|other| mean_between(&likeness, group, other) < 0.5 + ROUNDING));
        }
    }
}
