//! Tests that an updated catalogue equals a newly built one exactly, and finds the same skills.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::tokens::list_keys;
use super::*;

/// The parts of a skill that its author writes, and its embedding.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    description: String,
    body: String,
    triggers: Vec<String>,
    see_also: Vec<String>,
    reserved: bool,
    embedding: Option<Vec<f32>>,
}

type Library = BTreeMap<String, Written>;

fn text_of<'a>(name: &'a str, skill: &'a Written) -> SkillText<'a> {
    SkillText {
        name,
        alias: None,
        description: &skill.description,
        triggers: &skill.triggers,
        body: &skill.body,
        see_also: &skill.see_also,
        reserved: skill.reserved,
        embedding: skill.embedding.as_deref(),
    }
}

fn build(library: &Library) -> Catalogue {
    Catalogue::build(&library.iter().map(|(name, skill)| text_of(name, skill)).collect::<Vec<_>>())
}

/// Updates a catalogue from `before` to `now`. Calls `Catalogue::update` with only the changed texts and embeddings.
fn update(before: &Library, catalogue: &Catalogue, now: &Library) -> Catalogue {
    let places: BTreeMap<&str, usize> = before.keys().map(String::as_str).zip(0..).collect();
    let listed = now.iter().map(|(name, skill)| {
        let old = before.get(name);
        let says_the_same = old.is_some_and(|old| {
            let old = Written { embedding: skill.embedding.clone(), ..old.clone() };
            old == *skill
        });
        let same_embedding = old.is_some_and(|old| old.embedding == skill.embedding);
        ListedSkill {
            before: places.get(name.as_str()).copied(),
            name,
            alias: None,
            text: (!says_the_same).then(|| text_of(name, skill)),
            embedding: (!same_embedding).then_some(skill.embedding.as_deref()),
        }
    });
    catalogue.update(&listed.collect::<Vec<_>>())
}

/// Returns the terms in all skills.
fn terms_of(library: &Library) -> Vec<u32> {
    let texts = library.iter().flat_map(|(name, skill)| {
        [name, &skill.description, &skill.body].into_iter().chain(&skill.triggers).flat_map(|text| list_keys(text))
    });
    texts.collect::<BTreeSet<_>>().into_iter().collect()
}

fn assert_alike(library: &Library, changed: &Catalogue, message: &str) {
    let (built, terms) = (&build(library), terms_of(library));
    for (changed, built) in changed.contents(&terms).iter().zip(built.contents(&terms)) {
        assert_eq!(*changed, built);
    }
    let query = [1.0, 0.5];
    for embedding in [None, Some(&query[..])] {
        assert_eq!(search(changed, message, embedding, 9), search(built, message, embedding, 9), "{message}");
    }
    assert_eq!(changed.find_named(message, None), built.find_named(message, None));
    let other = SkillText { name: "other", description: message, ..SkillText::default() };
    assert_eq!(changed.shared_words(&other), built.shared_words(&other));
    assert_eq!(changed.cosines(&query), built.cosines(&query));
    for skill in 0..built.len() {
        assert_eq!(
            (changed.related(skill), changed.is_reserved(skill)),
            (built.related(skill), built.is_reserved(skill))
        );
    }
}

const NAMES: [&str; 7] = ["mail", "mcp/mail", "plan-trip", "weather", "pdf", "mcp/calendar", "zoo"];

fn any_skill() -> impl Strategy<Value = Written> {
    let (few, many) = (
        "((send|mail|plan|trip|rain|pdf|zebra|quetzal|calendar|用) ){0,6}",
        "((send|mail|plan|trip|rain|pdf|zebra|quetzal|calendar|用) ){0,60}",
    );
    let names = prop::collection::vec(prop::sample::select(&NAMES[..]).prop_map(str::to_owned), 0..3);
    let triggers = prop::collection::vec("(plan|zebra|quetzal) (trip|rain)", 0..2);
    let embedding = prop::option::of(prop::collection::vec(-1.0_f32..1.0, 2));
    (few, many, triggers, names, any::<bool>(), embedding).prop_map(
        |(description, body, triggers, see_also, reserved, embedding)| Written {
            description,
            body,
            triggers,
            see_also,
            reserved,
            embedding,
        },
    )
}

/// Returns a change: a skill that gets a new text, gets a new embedding, or is removed.
fn any_change() -> impl Strategy<Value = (usize, u8, Written)> {
    (0..NAMES.len(), 0_u8..4, any_skill())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Asserts that a catalogue updated change by change equals a catalogue built from the final library.
    #[test]
    fn changes_one_by_one_make_what_is_built_of_all(
        changes in prop::collection::vec(any_change(), 1..24),
        message in "((send|mail|plan|trip|rain|pdf|zebra|quetzal|calendr|用|weather|mcp) ){1,8}",
    ) {
        let (mut library, mut catalogue) = (Library::new(), Catalogue::default());
        for (at, what, skill) in changes {
            let mut now = library.clone();
            match what {
                0 => drop(now.remove(NAMES[at])),
                1 => now.entry(NAMES[at].to_owned()).or_insert_with(|| skill.clone()).embedding = skill.embedding.clone(),
                _ => drop(now.insert(NAMES[at].to_owned(), skill)),
            }
            catalogue = update(&library, &catalogue, &now);
            library = now;
            assert_alike(&library, &catalogue, &message);
        }
    }
}

#[test]
fn unchanged_and_changed_skills_are_in_different_parts() {
    let skill = |body: String| Written {
        description: "Says much".to_owned(),
        body,
        triggers: Vec::new(),
        see_also: Vec::new(),
        reserved: false,
        embedding: None,
    };
    let long = |seed: usize| (0..400).map(|n| format!("word{} ", seed * 400 + n)).collect::<String>();
    let mut library: Library = (0..8).map(|n| (format!("s{n}"), skill(long(n)))).collect();
    let mut catalogue = build(&library);
    for round in 0..20 {
        let mut now = library.clone();
        now.insert("s3".to_owned(), skill(format!("{} changed {round}", &long(3)[..200])));
        catalogue = update(&library, &catalogue, &now);
        library = now;
        assert_eq!(catalogue.part_count(), 2);
        assert_alike(&library, &catalogue, "word1201 changed word5 word900");
    }
    library.clear();
    catalogue = update(&Library::new(), &catalogue, &library);
    assert_eq!((catalogue.part_count(), catalogue.len()), (0, 0));
}
