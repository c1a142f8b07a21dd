//! Cost of the graph for a turn and a memory, with 1,000 skills and 5,000 relations of one user.

use std::time::{Duration, Instant};

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{MemoryKind, SkillId};
use knowhow_store::graph::{self, Link};
use knowhow_store::sessions::memories::{self, NewMemory};
use knowhow_store::{Database, Principal, WriteTx};

use crate::harness::{House, Place, now, open, with_role};
use crate::writer::{Draft, save};

const SKILLS: usize = 1_000;
const RELATIONS: usize = 5_000;
const ROUNDS: u32 = 500;

/// Relates each existing skill of the user to five others.
async fn relate_all(place: &Place, who: &Principal) {
    let (tenant, user) = (who.tenant(), who.user().unwrap());
    let fill = format!(
        "insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
         select tenant_id, user_id, skill_id, 'skill', replace(name, '-', ' '), name, 1, now() from skills
         where tenant_id = '{tenant}' and user_id = '{user}'
         on conflict do nothing;
         with numbered as (
             select skill_id, row_number() over (order by skill_id) as n from skills
             where tenant_id = '{tenant}' and user_id = '{user}')
         insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence,
             reinforced_at, said_by)
         select '{tenant}', '{user}', a.skill_id, b.skill_id, 'requires', 'declared', 1, 1, 1, now(), a.skill_id
         from numbered a
         cross join generate_series(1, {RELATIONS} / {SKILLS}) as k
         join numbered b on b.n = (a.n + k * 7) % {SKILLS} + 1 and b.n <> a.n;
         analyze entities; analyze relations"
    );
    place.run(&fill).await;
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn cost_of_neighbours_and_of_mentions() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    with_role(&house.place, "", async |_, url| {
        let db = open(url, 1, 1);
        let mut ids = Vec::new();
        for n in 0..SKILLS {
            ids.push(save(&db, &alice, &Draft::text(&format!("skill-{n}"), "Do it.")).await.unwrap().id);
        }
        relate_all(&house.place, &alice).await;
        let tenant = format!("relations where tenant_id = '{}'", alice.tenant());
        println!("relations: {}", house.place.count(&format!("select count(*) from {tenant}")).await);
        println!("neighbours of 5 skills: {:?}", hops(&db, &alice, &ids).await);
        println!("no neighbours of anything: {:?}", hops(&db, &alice, &[SkillId::FIRST; 5]).await);
        println!("a memory that names nothing: {:?}", keep(&db, &alice, &[]).await);
        println!("a memory that names 2 skills: {:?}", keep(&db, &alice, &["skill-1", "skill-2"]).await);
        db.close().await;
    })
    .await;
}

/// Returns the median time of a query for neighbours, including the round trip.
async fn hops(db: &Database, who: &Principal, ids: &[SkillId]) -> Duration {
    let mut took = Vec::new();
    for n in 0..ROUNDS as usize {
        let five: Vec<SkillId> = (0..5).map(|at| ids[(n * 13 + at * 101) % ids.len()]).collect();
        let began = Instant::now();
        graph::list_neighbours(db, who, &five, now()).await.unwrap();
        took.push(began.elapsed());
    }
    median(took)
}

async fn keep(db: &Database, who: &Principal, skills: &[&str]) -> Duration {
    let entities: Vec<_> = skills.iter().map(|name| (EntityKind::Skill, (*name).to_owned())).collect();
    let mut took = Vec::new();
    for n in 0..ROUNDS {
        let content = format!("Memory {n} of many.");
        let began = Instant::now();
        let mut tx = WriteTx::begin(db, who, "test").await.unwrap();
        let kept = memories::add(&mut tx, &memory(&content)).await.unwrap().unwrap();
        if !entities.is_empty() {
            graph::link(&mut tx, &Link { memory: kept.id, entities: &entities, may_name: &[], now: now() });
        }
        tx.commit().await.unwrap();
        took.push(began.elapsed());
    }
    median(took)
}

fn memory(content: &str) -> NewMemory<'_> {
    NewMemory {
        kind: MemoryKind::Episodic,
        content,
        tags: &[],
        importance: 0.5,
        core: false,
        session: None,
        conversation: None,
        named: &[],
        is_doubtful: false,
        embedding: None,
        now: now(),
    }
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}
