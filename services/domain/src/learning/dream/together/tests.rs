use proptest::prelude::*;

use super::*;

fn uses<'a>(list: &[(usize, &'a str)]) -> Vec<Use<'a>> {
    list.iter().map(|(session, skill)| Use { session: *session, skill }).collect()
}

#[test]
fn pairs_are_counted_by_session() {
    let all = uses(&[(1, "b"), (1, "a"), (1, "b"), (2, "a"), (2, "b"), (2, "c"), (3, "c"), (4, "a")]);
    let pair = |first, second, sessions| CoUsed { first, second, sessions };
    assert_eq!(find_co_used(&all), [pair("a", "b", 2), pair("a", "c", 1), pair("b", "c", 1)]);
    assert_eq!(find_co_used(&[]), []);
    assert_eq!(find_co_used(&uses(&[(1, "a"), (1, "a")])), []);
}

#[test]
fn at_most_ten_pairs_are_returned() {
    let names: Vec<String> = (0..20).map(|at| format!("s{at:02}")).collect();
    let all: Vec<Use<'_>> = names.iter().map(|skill| Use { session: 7, skill }).collect();
    let found = find_co_used(&all);
    assert_eq!(found.len(), 10);
    assert_eq!((found[0].second, found[9].second), ("s01", "s10"));
}

proptest! {
    #[test]
    fn the_order_of_uses_does_not_matter(
        list in prop::collection::vec((0_usize..5, prop::sample::select(vec!["a", "b", "c", "d", "e"])), 0..30),
    ) {
        let (all, mut turned) = (uses(&list), uses(&list));
        turned.reverse();
        prop_assert_eq!(find_co_used(&all), find_co_used(&turned));
    }
}
