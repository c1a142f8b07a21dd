//! Memory of many bodies that are only half sent.

use serde_json::json;

use super::{peak_mib, resident_mib};
use crate::bodies::send_half;
use crate::callers::{World, skill};
use crate::service::{Service, keeper};

const CONNECTIONS: usize = 60;

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn half_sent_bodies_use_limited_memory() {
    let service = Service::start(&[]);
    let World { alice, bob, .. } = &World::at(&service, keeper(), json!({"starter_skills": false})).await;
    alice.create(skill("p")).await;
    let before = resident_mib(&service);
    let streams: Vec<_> = (0..CONNECTIONS).map(|_| send_half(&service, alice, 6_000_000)).collect();
    println!("{CONNECTIONS} bodies half sent: {before} MiB before, {} MiB with them", peak_mib(&service));
    assert!(peak_mib(&service) <= before + 96, "{} MiB", peak_mib(&service));
    bob.create(skill("p")).await;
    drop(streams);
}
