//! Tests of catalogue updates and of the comparison of revisions.

use std::sync::Arc;

use knowhow_domain::recall::{Query, search};
use knowhow_domain::{SkillId, new_id};
use knowhow_store::learning::examples::LearnedVectors;
use knowhow_store::skills::{CatalogueRow, SkillStamp};

use super::super::catalogue::{CatalogueState, UserCatalogue, place};
use super::super::changes::CatalogueChanges;
use crate::recall::user_cache::SearchCopy;

fn row(name: &str) -> CatalogueRow {
    CatalogueRow {
        id: SkillId(new_id()),
        name: name.to_owned(),
        description: format!("Does {name}"),
        body: Some("Do it.".to_owned()),
        embedding: Some(vec![1.0, 0.0]),
        ..CatalogueRow::default()
    }
}

fn stamp(row: &CatalogueRow) -> SkillStamp {
    SkillStamp { id: row.id, text: 1, vector: Some(1), bytes: 9, is_starter: false }
}

/// Returns the changes in a database that has these stamps, after the rows in `read` were read.
fn changes(revision: i64, stamps: &[SkillStamp], read: &[&CatalogueRow]) -> CatalogueChanges {
    CatalogueChanges {
        revision,
        stamps: stamps.to_vec(),
        read: read.iter().map(|row| (row.id, (*row).clone())).collect(),
        keeps_vectors: true,
        awaits_library: None,
    }
}

fn names(catalogue: &UserCatalogue) -> Vec<&str> {
    catalogue.skills.iter().map(|skill| &*skill.name).collect()
}

#[test]
fn an_update_applies_only_the_changed_skills() {
    let rows = [row("zebra"), row("apple"), row("melon")];
    let mut stamps = rows.each_ref().map(stamp);
    let first = UserCatalogue::default().update(&changes(1, &stamps, &rows.each_ref()));
    assert_eq!((names(&first), first.has_bodies), (vec!["apple", "melon", "zebra"], true));

    // Three skills changed: one was renamed, one was deleted, one has a new vector.
    let renamed = CatalogueRow { name: "zoo".to_owned(), description: "Visits the zoo".to_owned(), ..rows[1].clone() };
    stamps[1].text = 2;
    stamps[0].vector = Some(2);
    let turned = CatalogueRow { embedding: Some(vec![0.0, 1.0]), body: None, ..rows[0].clone() };
    let second = first.update(&changes(2, &stamps[..2], &[&renamed, &turned]));
    assert_eq!((names(&second), second.has_bodies), (vec!["zebra", "zoo"], true));
    assert_eq!(second.index.cosines(&[0.0, 1.0]), [Some(1.0), Some(0.0)]);
    let found = |message| {
        let hits = search(&second.index, &Query { message, limit: 1, ..Query::default() }).hits;
        hits.first().map(|hit| &*second.skills[hit.skill].name)
    };
    assert_eq!((found("visits"), found("zebra"), found("melon")), (Some("zoo"), Some("zebra"), None));

    // A changed skill without a row was deleted while texts were read.
    stamps[0].text = 3;
    assert_eq!(names(&second.update(&changes(3, &stamps[..2], &[]))), ["zoo"]);
}

#[test]
fn missing_bodies_are_added_by_a_later_update() {
    let whole = CatalogueRow { body: Some("It speaks of quetzals.".to_owned()), ..row("birds") };
    let (stamps, bare) = ([stamp(&whole)], CatalogueRow { body: None, ..whole.clone() });
    let first = UserCatalogue::default().update(&changes(1, &stamps, &[&bare]));
    let found = |catalogue: &UserCatalogue| {
        search(&catalogue.index, &Query { message: "quetzals", limit: 1, ..Query::default() }).hits.len()
    };
    assert_eq!((first.has_bodies, found(&first)), (false, 0));
    let second = first.update(&changes(1, &stamps, &[&CatalogueRow { embedding: None, ..whole }]));
    assert_eq!((second.has_bodies, found(&second)), (true, 1));
    // The vector, which was read in the first step, is still cached.
    assert_eq!(second.index.cosines(&[1.0, 0.0]), [Some(1.0)]);
}

#[test]
fn learned_vectors_get_the_index_of_their_skill() {
    let skills = [row("a"), row("b"), row("c")];
    let vectors = [(&skills[2], 1.0), (&skills[0], 2.0), (&skills[2], 3.0)];
    let mut vectors: Vec<_> = vectors.into_iter().map(|(skill, x)| (skill.id, vec![x, 1.0])).collect();
    vectors.push((SkillId(new_id()), vec![4.0, 1.0]));
    let counter_examples = vec![(skills[1].id, vec![5.0, 1.0]), (SkillId(new_id()), vec![6.0, 1.0])];
    let learned = LearnedVectors { revision: 5, examples: vectors, counter_examples };
    let bare = UserCatalogue::default().update(&changes(3, &skills.each_ref().map(stamp), &skills.each_ref()));
    let places = bare.skills.iter().map(|skill| skill.id).zip(0..).collect();
    let placed = place(&places, &learned.examples);
    assert_eq!(placed, [(2, [1.0, 1.0].as_slice()), (0, &[2.0, 1.0]), (2, &[3.0, 1.0])]);
    let taught = bare.with_examples(Some(learned));
    assert_eq!((taught.examples.len(), bare.examples.len()), (3, 0));
    assert_eq!((taught.counter_examples.len(), bare.counter_examples.len()), (1, 0));
    assert!(taught.weight() > bare.weight() && Arc::ptr_eq(&taught.index, &bare.index));
}

#[test]
fn skills_and_examples_are_compared_by_separate_revisions() {
    let of = |examples_revision| UserCatalogue { revision: 3, examples_revision, ..UserCatalogue::default() };
    for (examples_revision, revision, examples, skills_are, all_is) in [
        (Some(5), 3, Some(5), true, true),
        (Some(6), 2, Some(5), true, true),
        (Some(5), 3, Some(6), true, false),
        (Some(5), 4, Some(5), false, false),
        // If examples are disabled, cached ones are outdated; if they are enabled again, they must be read.
        (Some(5), 3, None, true, false),
        (None, 3, None, true, true),
        (None, 3, Some(0), true, false),
    ] {
        let (catalogue, needed) = (of(examples_revision), CatalogueState { revision, examples, library: 0 });
        assert_eq!(
            (catalogue.has_skills(needed), catalogue.has(needed)),
            (skills_are, all_is),
            "{examples_revision:?} {examples:?}"
        );
    }
}

#[test]
fn a_catalogue_without_starter_vectors_is_outdated_once_they_exist() {
    for (awaits_library, is_fresh) in [(None, true), (Some(1), true), (Some(0), false)] {
        let catalogue = UserCatalogue { revision: 3, awaits_library, ..UserCatalogue::default() };
        assert_eq!(
            catalogue.has(CatalogueState { revision: 3, examples: None, library: 1 }),
            is_fresh,
            "{awaits_library:?}"
        );
    }
}
