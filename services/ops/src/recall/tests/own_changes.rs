//! Property test: a catalogue that applies changes equals a catalogue that is built from all skills, whichever
//! process made the changes.

use std::collections::{BTreeMap, HashMap};

use knowhow_domain::recall::{Query, SkillText, search};
use knowhow_domain::{SkillId, TenantId, UserId, new_id};
use knowhow_store::skills::{CatalogueRow, SkillStamp};
use proptest::prelude::*;

use super::super::catalogue::UserCatalogue;
use super::super::changes::CatalogueChanges;
use super::super::refresh::list_wanted;
use crate::recall::own_changes::{OwnChanges, SkillChanged};

const NAMES: [&str; 5] = ["mail", "mcp/mail", "plan-trip", "weather", "zoo"];
const MESSAGE: &str = "send mail about the weather of a zebra trip";

/// A skill in the database.
#[derive(Debug, Clone)]
struct StoredTestSkill {
    stamp: SkillStamp,
    row: CatalogueRow,
}

/// The skills of a user in the database, and the data that this process has cached.
struct TestUser {
    owner: (TenantId, UserId),
    revision: i64,
    stored: BTreeMap<&'static str, StoredTestSkill>,
    own_changes: OwnChanges,
    catalogue: UserCatalogue,
    /// Number of times that the catalogue was read from the database.
    reads: usize,
}

/// An event of the test.
#[derive(Debug, Clone)]
enum Event {
    /// A skill is saved; `here` is true if this process saves it.
    Saved { here: bool, name: usize, words: String, names_other: bool, is_reserved: bool },
    /// A skill's vector is stored; `here` is true if this process stores it.
    Embedded { here: bool, name: usize, x: f32 },
    /// Another process deletes a skill.
    Deleted { name: usize },
    /// A request needs the catalogue.
    Asked,
}

fn any_event() -> impl Strategy<Value = Event> {
    let words = "((send|mail|trip|rain|zebra|weather|用) ){0,20}";
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (any::<bool>(), name.clone(), words, any::<bool>(), any::<bool>()).prop_map(
            |(here, name, words, names_other, is_reserved)| Event::Saved { here, name, words, names_other, is_reserved }
        ),
        3 => (any::<bool>(), name.clone(), -1.0_f32..1.0).prop_map(|(here, name, x)| Event::Embedded { here, name, x }),
        1 => name.prop_map(|name| Event::Deleted { name }),
        4 => Just(Event::Asked),
    ]
}

impl TestUser {
    fn new() -> Self {
        Self {
            owner: (TenantId(new_id()), UserId(new_id())),
            revision: 1,
            stored: BTreeMap::new(),
            own_changes: OwnChanges::new(8 << 20),
            catalogue: UserCatalogue::default(),
            reads: 0,
        }
    }

    async fn happen(&mut self, event: &Event) {
        let changed = match event {
            Event::Asked => return self.ask().await,
            Event::Deleted { name } => {
                if self.stored.remove(NAMES[*name]).is_none() {
                    return;
                }
                None
            }
            Event::Saved { here, name, words, names_other, is_reserved } => {
                let (stamp, name) = (self.revision + 1, NAMES[*name]);
                let before = self.stored.get(name);
                let row = CatalogueRow {
                    id: before.map_or_else(|| SkillId(new_id()), |before| before.row.id),
                    name: name.to_owned(),
                    description: format!("Does {words}"),
                    triggers: vec![format!("{words}now")],
                    see_also: names_other.then(|| NAMES[0].to_owned()).into_iter().collect(),
                    reserved: *is_reserved,
                    body: Some(words.repeat(3)),
                    ..CatalogueRow::default()
                };
                let embedding = before.and_then(|before| before.row.embedding.clone());
                let of = before.map_or_else(
                    || SkillStamp { id: row.id, text: stamp, vector: None, bytes: 60, is_starter: false },
                    |before| SkillStamp { text: stamp, ..before.stamp },
                );
                self.stored.insert(name, StoredTestSkill { stamp: of, row: CatalogueRow { embedding, ..row.clone() } });
                here.then_some(SkillChanged::Text { stamp, row })
            }
            Event::Embedded { here, name, x } => {
                let Some(stored) = self.stored.get_mut(NAMES[*name]) else { return };
                let (skill, stamp, vector) = (stored.row.id, self.revision + 1, vec![*x, 0.5]);
                (stored.stamp.vector, stored.row.embedding) = (Some(stamp), Some(vector.clone()));
                here.then_some(SkillChanged::Vector { skill, stamp, vector })
            }
        };
        self.revision += 1;
        if let Some(changed) = changed {
            self.own_changes.put(self.owner, self.revision, vec![changed]);
        }
    }

    /// Refreshes the catalogue like a request: with the changes of this process, or else from the database.
    async fn ask(&mut self) {
        let own = self.own_changes.take(self.owner, self.catalogue.revision, self.revision);
        let taken = own.filter(|_| self.catalogue.revision > 0);
        let changes = match taken.and_then(|own| self.catalogue.apply_own_changes(self.revision, own, 100)) {
            Some(changes) => changes,
            None => {
                self.reads += 1;
                self.read(&self.catalogue)
            }
        };
        self.catalogue = self.catalogue.update(&changes);
    }

    /// Returns the changes that the database would return for this catalogue.
    fn read(&self, catalogue: &UserCatalogue) -> CatalogueChanges {
        let stamps: Vec<SkillStamp> = self.stored.values().map(|stored| stored.stamp).collect();
        let rows: HashMap<SkillId, &CatalogueRow> = self.stored.values().map(|s| (s.row.id, &s.row)).collect();
        let read = list_wanted(catalogue, &stamps, true).into_iter().map(|wanted| {
            let row = rows[&wanted.id];
            let (body, embedding) = (row.body.clone(), row.embedding.clone());
            let read = CatalogueRow {
                body: body.filter(|_| wanted.body),
                embedding: embedding.filter(|_| wanted.vector),
                ..row.clone()
            };
            (wanted.id, read)
        });
        let read = read.collect();
        CatalogueChanges { revision: self.revision, stamps, read, keeps_vectors: true, awaits_library: None }
    }

    fn assert_is_whole(&self) {
        let nothing = UserCatalogue::default();
        let built = nothing.update(&self.read(&nothing));
        let facts = |catalogue: &UserCatalogue| -> Vec<String> {
            catalogue.skills.iter().map(|skill| format!("{skill:?}")).collect()
        };
        assert_eq!(facts(&self.catalogue), facts(&built));
        assert_eq!((self.catalogue.revision, self.catalogue.has_bodies), (built.revision, built.has_bodies));
        let (catalogue, built) = (&self.catalogue.index, &built.index);
        let vector = [1.0, 0.25];
        for embedding in [None, Some(&vector[..])] {
            let query = Query { message: MESSAGE, embedding, limit: 9, ..Query::default() };
            assert_eq!(search(catalogue, &query), search(built, &query));
        }
        assert_eq!(catalogue.cosines(&vector), built.cosines(&vector));
        assert_eq!(catalogue.find_named(MESSAGE, None), built.find_named(MESSAGE, None));
        let other = SkillText { name: "other", description: MESSAGE, ..SkillText::default() };
        assert_eq!(catalogue.shared_words(&other), built.shared_words(&other));
        for place in 0..built.len() {
            assert_eq!(catalogue.related(place), built.related(place));
        }
    }
}

fn run(events: &[Event]) -> TestUser {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut house = TestUser::new();
        for event in events {
            house.happen(event).await;
            if matches!(event, Event::Asked) {
                house.assert_is_whole();
            }
        }
        house
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Asserts that a catalogue updated by changes of this and of other processes equals a newly built catalogue.
    #[test]
    fn changes_from_here_and_elsewhere_make_what_is_built_of_all(events in prop::collection::vec(any_event(), 1..40)) {
        run(&events);
    }
}

#[test]
fn changes_by_this_process_are_applied_without_a_read() {
    let saved = |name: usize, words: &str, here: bool| Event::Saved {
        here,
        name,
        words: words.to_owned(),
        names_other: false,
        is_reserved: false,
    };
    let embedded = |here: bool| Event::Embedded { here, name: 0, x: 0.5 };
    let own =
        [saved(0, "zebra ", true), Event::Asked, saved(1, "mail ", true), saved(0, "trip ", true), embedded(true)];
    let house = run(&[&own[..], &[Event::Asked, Event::Asked]].concat());
    assert_eq!(house.reads, 1, "the first time alone");
    // A change by another process causes one read, which includes the changes of this process.
    for foreign in [saved(2, "rain ", false), embedded(false), Event::Deleted { name: 1 }] {
        let house = run(&[&own[..], &[Event::Asked, saved(0, "用 ", true), foreign, Event::Asked]].concat());
        assert_eq!(house.reads, 2);
    }
}
