//! Cost of a save: processor time of Postgres and of this process, and the waiting time of the caller.

use std::time::{Duration, Instant};

use knowhow_store::skills::{Expected, SkillState};
use knowhow_store::{Database, Principal, WriteTx};

use crate::harness::{House, open, with_role};
use crate::writer::{Draft, Save, peek, save};

/// Number of saves in a round.
const SAVES: u32 = 500;

/// Returns the processor time of a process so far. A tick is 10 ms.
fn processor_time(pid: &str) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Measures saves that read the skill first, and saves over a cached state, in alternating rounds. Prints the minimum
/// of each, because other programs only add time.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn cost_of_a_save_on_one_connection() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    with_role(&house.place, "", async |role, url| {
        let db = open(url, 1, 1);
        let text = "One step after the other. ".repeat(120);
        let mut least = [[Duration::MAX; 3]; 2];
        for round in 0..12 {
            let is_at_hand = round % 2 == 1;
            save(&db, &alice, &Draft::text("plan-meeting", &format!("{text}{round}"))).await.unwrap();
            let backend = format!("select pid::bigint from pg_stat_activity where usename = '{role}'");
            let backend = house.place.count(&backend).await.to_string();
            let mut base = peek(&db, &alice, "plan-meeting").await.unwrap().skill;
            let before = [processor_time(&backend), processor_time("self")];
            let began = Instant::now();
            for n in 0..SAVES {
                let text = format!("{text}{round} {n}");
                let draft = Draft::text("plan-meeting", &text);
                match is_at_hand {
                    true => save_at_hand(&db, &alice, &draft, &mut base).await,
                    false => drop(save(&db, &alice, &draft).await.unwrap()),
                }
            }
            let waited = began.elapsed();
            let costs = [processor_time(&backend) - before[0], processor_time("self") - before[1], waited];
            // The first rounds only prepare the plans.
            let least = &mut least[usize::from(is_at_hand)];
            for (least, cost) in least.iter_mut().zip(costs).filter(|_| round > 1) {
                *least = (*least).min(cost / SAVES);
            }
        }
        for (way, [postgres, service, waited]) in ["asked first", "at hand"].iter().zip(least) {
            println!("a save, {way}: Postgres {postgres:?}, this process {service:?}, waited {waited:?}");
        }
        db.close().await;
    })
    .await;
}

/// Saves in one round trip over a cached state, and updates the cached state.
async fn save_at_hand(db: &Database, who: &Principal, draft: &Draft<'_>, base: &mut SkillState) {
    let mut tx = WriteTx::begin(db, who, "test").await.unwrap();
    tx.lock_unread();
    let expected = Expected { most_bytes: 1 << 40, most_stored_bytes: 1 << 40, used: None };
    let save = Save::over(draft, Some(base));
    let at = save.at;
    save.write_expecting(&mut tx, &expected).unwrap();
    assert!(tx.commit_unless_refused().await.unwrap());
    (base.version, base.updated_at) = (base.version + 1, at);
}
