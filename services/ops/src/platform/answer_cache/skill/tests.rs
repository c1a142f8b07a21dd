use chrono::{DateTime, Utc};
use knowhow_domain::{Attributes, SkillId, Source};
use uuid::Uuid;

use super::*;

fn skill(document: String) -> SkillState {
    SkillState {
        id: SkillId(Uuid::nil()),
        name: "plan".into(),
        description: String::new(),
        summary: None,
        made_summary: None,
        category: None,
        tags: Vec::new(),
        triggers: Vec::new(),
        see_also: Vec::new(),
        role: None,
        attributes: Attributes::default(),
        reserved: false,
        alias: None,
        source: Source::User,
        pinned: false,
        enriched: false,
        discovery: None,
        importance: 0.7,
        decay_rate: None,
        version: 1,
        tainted: false,
        digest: Vec::new(),
        document,
        cuts: [0; 3],
        resources: Vec::new(),
        created_at: DateTime::<Utc>::UNIX_EPOCH,
        updated_at: DateTime::<Utc>::UNIX_EPOCH,
    }
}

#[test]
fn a_newer_skill_with_the_same_name_is_later_whatever_its_version() {
    let later = |seconds| DateTime::<Utc>::UNIX_EPOCH + chrono::TimeDelta::seconds(seconds);
    let state = |id, version, at| {
        let skill =
            SkillState { id: SkillId(Uuid::from_u128(id)), version, updated_at: later(at), ..skill(String::new()) };
        CachedSkill::saved(skill, Count::default())
    };
    let [old, edited, new] = [state(1, 4, 1), state(1, 5, 2), state(2, 1, 3)];
    assert!(edited.is_later_than(&old) && !old.is_later_than(&edited));
    assert!(new.is_later_than(&edited) && !edited.is_later_than(&new));
}

#[test]
fn only_a_skill_that_answers_loads_keeps_and_weighs_its_answer() {
    let (bytes, unused) = (100_000, Count::default());
    let state = skill("x".repeat(bytes));
    let saved = CachedSkill::saved(state.clone(), unused);
    let read = CachedSkill { stamp: Some(7), ..CachedSkill::saved(state, unused) };
    let [of_saved, of_read] = [&saved, &read].map(|cached| {
        let mut answer = Vec::new();
        cached.write_loaded(unused, &mut answer).unwrap();
        answer
    });
    assert_eq!(of_saved, of_read);
    assert!(saved.known_state().is_none() && saved.rendered.get().is_none());
    assert!(saved.weight() < bytes + bytes / 10, "{}", saved.weight());
    assert!(read.known_state().is_some() && read.rendered.get().is_some());
    assert!(read.weight() >= bytes + of_read.len(), "{} {}", read.weight(), of_read.len());
}
