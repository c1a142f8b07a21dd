//! What a save costs: processor time of Postgres and of this process, and how long the caller waits.

use std::time::{Duration, Instant};

use crate::harness::{House, open, with_role};
use crate::writer::{Draft, save};

/// Saves of a round.
const SAVES: u32 = 500;

/// Processor time of a process so far; a tick is 10 ms.
fn processor_time(pid: &str) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// The least of some rounds, as other work on the machine only adds.
#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_save_on_one_connection() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    with_role(&house.place, "", async |role, url| {
        let db = open(url, 1, 1);
        let text = "One step after the other. ".repeat(120);
        let mut least = [Duration::MAX; 3];
        for round in 0..6 {
            save(&db, &alice, &Draft::text("plan-meeting", &format!("{text}{round}"))).await.unwrap();
            let backend = format!("select pid::bigint from pg_stat_activity where usename = '{role}'");
            let backend = house.place.count(&backend).await.to_string();
            let before = [processor_time(&backend), processor_time("self")];
            let began = Instant::now();
            for n in 0..SAVES {
                save(&db, &alice, &Draft::text("plan-meeting", &format!("{text}{round} {n}"))).await.unwrap();
            }
            let waited = began.elapsed();
            let costs = [processor_time(&backend) - before[0], processor_time("self") - before[1], waited];
            // The first round is for the plans.
            for (least, cost) in least.iter_mut().zip(costs).filter(|_| round > 0) {
                *least = (*least).min(cost / SAVES);
            }
        }
        let [postgres, service, waited] = least;
        println!("a save: Postgres {postgres:?}, this process {service:?}, waited {waited:?}");
        db.close().await;
    })
    .await;
}
