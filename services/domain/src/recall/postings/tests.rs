use std::collections::{BTreeMap, BTreeSet};

use super::*;
use proptest::prelude::*;

type Held = BTreeMap<u32, BTreeSet<u32>>;

fn any_lists(skills: u32) -> impl Strategy<Value = Held> {
    prop::collection::btree_map(any::<u32>(), prop::collection::btree_set(0..skills, 1..4), 0..60)
}

fn write(lists: &Held) -> Lists {
    let count = |skill: &u32| Count { name: 0, text: 1, body: (*skill % 3) as u8 };
    Lists::write(lists.iter().map(|(term, skills)| (*term, skills.iter().map(move |skill| (*skill, count(skill))))))
}

proptest! {
    #[test]
    fn lists_come_back(lists in any_lists(1 << 29), unknown: u32) {
        let all = write(&lists);
        for (term, skills) in &lists {
            let found: Vec<u32> = all.find(*term).map(|(skill, found)| {
                assert_eq!((found.text, u32::from(found.body)), (1, skill as u32 % 3));
                skill as u32
            }).collect();
            prop_assert_eq!(found, skills.iter().copied().collect::<Vec<_>>());
        }
        prop_assert_eq!(all.find(unknown).next().is_none(), !lists.contains_key(&unknown));
    }

    #[test]
    fn a_merge_is_what_would_be_written_of_both(one in any_lists(9), other in any_lists(9)) {
        // Of the first the skill 3 goes; the skills of both get new numbers, the others' first.
        let numbers: (Vec<u32>, Vec<u32>) = ((9..18).collect(), (0..9).collect());
        let mut left = numbers.0.clone();
        left[3] = GONE;
        let merged = Lists::merge(&[(&write(&one), &left), (&write(&other), &numbers.1)]);
        for term in one.keys().chain(other.keys()) {
            let of = |lists: &Held, numbers: &[u32]| -> Vec<(usize, u8)> {
                let skills = lists.get(term).into_iter().flatten();
                let kept = skills.filter(|skill| numbers[**skill as usize] != GONE);
                kept.map(|skill| (numbers[*skill as usize] as usize, (*skill % 3) as u8)).collect()
            };
            let expected = [of(&other, &numbers.1), of(&one, &left)].concat();
            let found: Vec<(usize, u8)> = merged.find(*term).map(|(skill, count)| (skill, count.body)).collect();
            prop_assert_eq!(found, expected);
        }
        let known: BTreeSet<u32> = merged.iter().map(|(term, _)| term).collect();
        prop_assert!(known.iter().all(|term| merged.find(*term).next().is_some()));
    }
}
