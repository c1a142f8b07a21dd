use std::collections::{BTreeMap, BTreeSet};

use super::*;
use proptest::prelude::*;

type Held = BTreeMap<u32, BTreeSet<u32>>;

fn any_lists(skills: u32) -> impl Strategy<Value = Held> {
    prop::collection::btree_map(any::<u32>(), prop::collection::btree_set(0..skills, 1..12), 0..60)
}

/// Returns counts of various kinds: in the text, in the body, in both, and high counts.
fn count(skill: u32) -> Count {
    let often = [0, 1, 2, 9, 255][skill as usize % 5];
    Count { text: often, body: if often == 0 { 1 + (skill % 7) as u8 } else { (skill % 3) as u8 } }
}

fn write(skills: usize, lists: &Held) -> Lists {
    let count = |skill: &u32| count(*skill);
    Lists::write(
        skills,
        lists.len(),
        lists.iter().map(|(term, skills)| (*term, skills.iter().map(move |skill| (*skill, count(skill))))),
    )
}

#[test]
fn a_list_takes_about_a_byte_per_skill() {
    // This is similar to 50 skills of 10 KB: each term occurs in at most five skills, one to four times.
    let terms = 3_000_u32;
    let lists: Held = (0..terms)
        .map(|term| {
            let spread = term.wrapping_mul(0x9e37_79b1);
            (spread, (0..5).map(|nth| spread.rotate_left(7 * nth) % 50).collect())
        })
        .collect();
    let of_body = |skill: u32| Count { body: 1 + (skill % 4) as u8, ..Count::default() };
    let written = Lists::write(
        50,
        lists.len(),
        lists.iter().map(|(term, skills)| (*term, skills.iter().map(|skill| (*skill, of_body(*skill))))),
    );
    let entries: usize = lists.values().map(BTreeSet::len).sum();
    assert!(written.weight() < entries * 5 / 4 + lists.len() * 4, "{} for {entries}", written.weight());
}

#[test]
fn a_merge_that_drops_most_terms_frees_their_memory() {
    let only = |skill: u32| move |term: u32| (term.wrapping_mul(0x9e37_79b1), BTreeSet::from([skill]));
    // The remaining skill has 10 of 20,010 terms, so the terms are two thousand times as far apart as before.
    let many: Held = (0..20_000).map(only(0)).chain((20_000..20_010).map(only(1))).collect();
    let left = Lists::merge(1, &[(&write(2, &many), &[GONE, 0])]);
    assert!(left.terms == 10 && left.weight() < 200, "{}", left.weight());
}

proptest! {
    #[test]
    fn lists_come_back(lists in any_lists(1 << 29), unknown: u32) {
        let all = write(1 << 29, &lists);
        for (term, skills) in &lists {
            let found: Vec<u32> = all.find(*term).map(|(skill, found)| {
                assert_eq!(found, count(skill as u32));
                skill as u32
            }).collect();
            prop_assert_eq!(found, skills.iter().copied().collect::<Vec<_>>());
        }
        prop_assert_eq!(all.find(unknown).next().is_none(), !lists.contains_key(&unknown));
    }

    /// Asserts that merged lists equal lists written from both inputs together.
    #[test]
    fn a_merge_is_what_would_be_written_of_both(one in any_lists(9), other in any_lists(9)) {
        // Skill 3 of the first part is removed. The skills of both parts get new numbers; the second part comes
        // first.
        let numbers: (Vec<u32>, Vec<u32>) = ((9..18).collect(), (0..9).collect());
        let mut left = numbers.0.clone();
        left[3] = GONE;
        let merged = Lists::merge(18, &[(&write(9, &one), &left), (&write(9, &other), &numbers.1)]);
        for term in one.keys().chain(other.keys()) {
            let of = |lists: &Held, numbers: &[u32]| -> Vec<(usize, Count)> {
                let skills = lists.get(term).into_iter().flatten();
                let kept = skills.filter(|skill| numbers[**skill as usize] != GONE);
                kept.map(|skill| (numbers[*skill as usize] as usize, count(*skill))).collect()
            };
            let expected = [of(&other, &numbers.1), of(&one, &left)].concat();
            let found: Vec<(usize, Count)> = merged.find(*term).collect();
            prop_assert_eq!(found, expected);
        }
        let terms: BTreeSet<u32> = one.keys().chain(other.keys()).copied().collect();
        let found = terms.iter().filter(|term| merged.find(**term).next().is_some()).count();
        prop_assert_eq!(merged.terms, found);
    }
}
