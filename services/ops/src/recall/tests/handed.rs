//! Whatever is changed here and elsewhere, a catalogue that takes changes in is what one is that was built of everything.

use std::collections::{BTreeMap, HashMap};

use knowhow_domain::recall::{Query, SkillText, search};
use knowhow_domain::{SkillId, TenantId, UserId, new_id};
use knowhow_store::skills::{CatalogueRow, Stamp};
use proptest::prelude::*;

use super::super::catalogue::UserCatalogue;
use super::super::changes::Changes;
use super::super::handed::{HandedIn, SkillChanged};
use super::super::refresh::list_wanted;

const NAMES: [&str; 5] = ["mail", "mcp/mail", "plan-trip", "weather", "zoo"];
const MESSAGE: &str = "send mail about the weather of a zebra trip";

/// A skill in the database.
#[derive(Debug, Clone)]
struct Stored {
    stamp: Stamp,
    row: CatalogueRow,
}

/// The skills of a user in the database, and this process with what it keeps of them.
struct House {
    owner: (TenantId, UserId),
    revision: i64,
    stored: BTreeMap<&'static str, Stored>,
    handed_in: HandedIn,
    kept: UserCatalogue,
    /// How often it read.
    reads: usize,
}

/// What happens.
#[derive(Debug, Clone)]
enum Event {
    /// This process, or another, saves a skill.
    Saved { here: bool, name: usize, words: String, names_other: bool, is_reserved: bool },
    /// This process, or another, puts a skill's vector.
    Embedded { here: bool, name: usize, x: f32 },
    /// Another process deletes a skill.
    Deleted { name: usize },
    /// The catalogue is asked for.
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

impl House {
    fn new() -> Self {
        Self {
            owner: (TenantId(new_id()), UserId(new_id())),
            revision: 1,
            stored: BTreeMap::new(),
            handed_in: HandedIn::new(8 << 20),
            kept: UserCatalogue::default(),
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
                    || Stamp { id: row.id, text: stamp, vector: None, bytes: 60, is_starter: false },
                    |before| Stamp { text: stamp, ..before.stamp },
                );
                self.stored.insert(name, Stored { stamp: of, row: CatalogueRow { embedding, ..row.clone() } });
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
            self.handed_in.put(self.owner, self.revision, vec![changed]);
        }
    }

    /// As a request has it: of what this process knows, else read.
    async fn ask(&mut self) {
        let handed = self.handed_in.take(self.owner, self.kept.revision, self.revision);
        let taken = handed.filter(|_| self.kept.revision > 0);
        let changes = match taken.and_then(|handed| self.kept.take_in(self.revision, handed, 100)) {
            Some(changes) => changes,
            None => {
                self.reads += 1;
                self.read(&self.kept)
            }
        };
        self.kept = self.kept.update(&changes);
    }

    /// What the database answers with to who keeps this.
    fn read(&self, kept: &UserCatalogue) -> Changes {
        let stamps: Vec<Stamp> = self.stored.values().map(|stored| stored.stamp).collect();
        let rows: HashMap<SkillId, &CatalogueRow> = self.stored.values().map(|s| (s.row.id, &s.row)).collect();
        let read = list_wanted(kept, &stamps, true).into_iter().map(|wanted| {
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
        Changes { revision: self.revision, stamps, read, keeps_vectors: true, awaits_library: None }
    }

    fn assert_is_whole(&self) {
        let nothing = UserCatalogue::default();
        let built = nothing.update(&self.read(&nothing));
        let facts = |catalogue: &UserCatalogue| -> Vec<String> {
            catalogue.skills.iter().map(|skill| format!("{skill:?}")).collect()
        };
        assert_eq!(facts(&self.kept), facts(&built));
        assert_eq!((self.kept.revision, self.kept.has_bodies), (built.revision, built.has_bodies));
        let (kept, built) = (&self.kept.index, &built.index);
        let vector = [1.0, 0.25];
        for embedding in [None, Some(&vector[..])] {
            let query = Query { message: MESSAGE, embedding, limit: 9, ..Query::default() };
            assert_eq!(search(kept, &query), search(built, &query));
        }
        assert_eq!(kept.cosines(&vector), built.cosines(&vector));
        assert_eq!(kept.find_named(MESSAGE, None), built.find_named(MESSAGE, None));
        let other = SkillText { name: "other", description: MESSAGE, ..SkillText::default() };
        assert_eq!(kept.shared_words(&other), built.shared_words(&other));
        for place in 0..built.len() {
            assert_eq!(kept.related(place), built.related(place));
        }
    }
}

fn run(events: &[Event]) -> House {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut house = House::new();
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

    #[test]
    fn changes_from_here_and_elsewhere_make_what_is_built_of_all(events in prop::collection::vec(any_event(), 1..40)) {
        run(&events);
    }
}

#[test]
fn what_this_process_changed_is_not_read() {
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
    // A change that was made elsewhere is read, and with it whatever was made here.
    for foreign in [saved(2, "rain ", false), embedded(false), Event::Deleted { name: 1 }] {
        let house = run(&[&own[..], &[Event::Asked, saved(0, "用 ", true), foreign, Event::Asked]].concat());
        assert_eq!(house.reads, 2);
    }
}
