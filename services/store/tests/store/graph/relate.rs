//! Relations extracted from a text apply only to that text.

use knowhow_domain::SkillId;
use knowhow_domain::graph::{EntityKind, RelationType};
use knowhow_store::graph::{self, ExtractionRun, Link, Related, RelationLimits, Start, StatedRelation, UnreadSkill};
use knowhow_store::sessions::memories;
use knowhow_store::skills::{self, LoadUse};
use knowhow_store::{Database, Principal, Window, WriteTx};

use crate::harness::{House, now};
use crate::skills::flights::new_memory;
use crate::writer::{Draft, named, save};

const RULES: i32 = 1;

async fn unread(db: &Database, who: &Principal) -> Vec<UnreadSkill> {
    let window = Window { behind: SkillId::FIRST, limit: 50 };
    graph::list_unread(db, who, RULES, window).await.unwrap()
}

/// Stores the result of an extraction, as the job does.
async fn keep(db: &Database, who: &Principal, read: &[UnreadSkill]) {
    keep_said(db, who, read, |_| Vec::new()).await;
}

async fn keep_said(
    db: &Database,
    who: &Principal,
    read: &[UnreadSkill],
    said: impl Fn(&UnreadSkill) -> Vec<StatedRelation>,
) {
    let mut tx = WriteTx::begin(db, who, "test").await.unwrap();
    let related = read.iter().map(|skill| Related {
        skill: skill.skill,
        name: &skill.name,
        read: skill.read.clone(),
        stated: said(skill),
        things: Vec::new(),
    });
    graph::relate(&mut tx, related.collect(), ExtractionRun { rules: RULES, now: now() });
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_skill_changed_during_extraction_is_read_again() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let db = &house.db;
    let skill = save(db, &alice, &Draft::text("a-one", "Requires b-two.")).await.unwrap().id;
    let before = unread(db, &alice).await;
    save(db, &alice, &Draft::text("a-one", "Requires c-three.")).await.unwrap();
    keep(db, &alice, &before).await;
    let again = unread(db, &alice).await;
    assert_eq!(again.len(), 1, "another text");
    // A memory names a tool that the text of the skill may name too.
    let mut tx = WriteTx::begin(db, &alice, "test").await.unwrap();
    let memory = memories::add(&mut tx, &new_memory()).await.unwrap().unwrap().id;
    let entities = [(EntityKind::Tool, "Cloudflare".to_owned())];
    graph::link(&mut tx, &Link { memory, entities: &entities, may_name: &[skill], now: now() });
    tx.commit().await.unwrap();
    keep(db, &alice, &again).await;
    let last = unread(db, &alice).await;
    assert_eq!(last.len(), 1, "another thing");
    keep(db, &alice, &last).await;
    assert_eq!(unread(db, &alice).await.len(), 0);
}

/// A page may make many skills claim a relation to one skill. Claims of tainted skills must not displace those of
/// clean ones. A skill that only names another one is no neighbour of it.
#[tokio::test]
async fn relations_of_tainted_texts_do_not_displace_clean_ones() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let db = &house.db;
    let core = save(db, &alice, &Draft::text("core", "Read.")).await.unwrap().id;
    let clean = save(db, &alice, &Draft::text("clean", "Read.")).await.unwrap().id;
    let weak = save(db, &alice, &Draft::text("weak", "Read.")).await.unwrap().id;
    for n in 0..10 {
        save(db, &alice, &Draft::text(&format!("bad-{n}"), "Read.")).await.unwrap();
    }
    let read = unread(db, &alice).await;
    let sure = |skill: &UnreadSkill| match skill.name.as_str() {
        "clean" => 0.6,
        "weak" => 0.4,
        _ => 0.9,
    };
    let said = |skill: &UnreadSkill| StatedRelation {
        kind: RelationType::Requires,
        name: "core".into(),
        subject: None,
        mentions: 1,
        confidence: sure(skill),
        evidence: "Requires core.".into(),
    };
    keep_said(db, &alice, &read, |skill| if skill.name == "core" { Vec::new() } else { vec![said(skill)] }).await;
    let taint = "update skills set tainted = true where name like 'bad-%' and user_id";
    house.place.run(&format!("{taint} = '{}'", alice.user().unwrap())).await;
    assert_eq!(graph::list_neighbours(db, &alice, &[core], now()).await.unwrap(), [(core, clean)]);
    let hops = graph::list_hops(db, &alice, Start { memories: &[], skills: &[core] }, now()).await.unwrap();
    assert_eq!(hops.iter().map(|hop| hop.to).filter(|to| *to != weak.0).collect::<Vec<_>>(), [clean.0]);
    let seen = RelationLimits { most: 3, now: now() };
    let used = LoadUse { session: None, taught_since: None, relations: Some(seen.most), now: seen.now };
    for near in [
        graph::list_surroundings(db, &alice, &[core], seen).await.unwrap(),
        skills::load(db, &alice, &named("core"), used).await.unwrap().unwrap().relations,
    ] {
        assert_eq!(near.iter().map(|near| near.other.as_str()).collect::<Vec<_>>(), ["clean"]);
    }
}
