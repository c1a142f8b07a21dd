//! Cost of scanning every change of a skill for attacks before it is written.

use serde_json::{Value, json};

use super::{at_most, cpu_of};
use crate::callers::{Caller, World, skill};
use crate::service::{Service, keeper};

/// Size of a typical skill, in bytes.
const BYTES: usize = 3_000;

const SAVES: usize = 200;

fn common(number: usize) -> Value {
    let step = "Look at the calendar, name three times, and ask which of them suits. Write down what was said.\n";
    let mut common = skill("common");
    common["content"] = json!(format!("# Common\n\nRound {number}.\n\n{}", step.repeat(BYTES / step.len())));
    common
}

async fn save_all(who: &Caller) {
    who.create(common(0)).await;
    for number in 1..SAVES {
        who.post("/v1/skills", common(number)).await.ok(200);
    }
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn scanning_saves_for_attacks_costs_little_more() {
    let service = Service::start(&[]);
    let mut spent = Vec::new();
    for review in ["off", "tainted", "off", "tainted"] {
        let settings = json!({"starter_skills": false, "review": review});
        let World { alice, .. } = &World::at(&service, keeper(), settings).await;
        let what = format!("{SAVES} saves of {BYTES} bytes, review {review}");
        spent.push(cpu_of(&service, &what, save_all(alice)).await.1);
    }
    at_most((spent[1] + spent[3]).saturating_sub(spent[0] + spent[2]) / 2, 3 * SAVES as u64);
}
