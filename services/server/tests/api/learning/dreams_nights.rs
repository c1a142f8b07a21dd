//! Two weeks of nights with a model that answers well and words each answer differently: what is proposed, what it
//! costs, and whether each patch answers something that happened after the text was written.

pub mod calendar;
mod model;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::calendar::{Diary, sleep};
use self::model::answer;
use super::dreams_stage::{Stage, plan};

/// Number of nights.
const NIGHTS: usize = 14;
const PASSES: [&str; 3] = ["gaps", "consolidate", "optimize"];

/// The figures of one user's nights.
#[derive(Debug, Default)]
struct Figures {
    runs: usize,
    failed: usize,
    tokens: i64,
    /// Tokens of questions, in proportion to the operations that were refused because the same waits or was answered.
    repeated_tokens: i64,
    patches: usize,
    /// Applied patches whose evidence is older than the last applied patch of the same skill.
    stale_patches: usize,
    /// Length of each skill's text in the end.
    lengths: BTreeMap<String, usize>,
}

/// Lives through the nights in this mode. Returns the figures.
async fn live(stage: &Stage, name: &str, mode: &str) -> Figures {
    let user = stage.user(name).await;
    user.who.put("/v1/learning", json!({"gaps": mode, "consolidate": mode, "optimize": mode})).await.ok(200);
    calendar::library(stage, &user).await;
    let (mut figures, mut diary) = (Figures::default(), Diary::default());
    let mut patched: BTreeMap<String, usize> = BTreeMap::new();
    for night in 0..NIGHTS {
        diary.day(stage, &user, night).await;
        stage.says(&user, move |question| plan(&answer(question, night)));
        for pass in PASSES {
            let run = stage.dream(&user, pass).await;
            count(&mut figures, &run);
            let ops = run["ops"].as_array().unwrap();
            for op in ops.iter().filter(|op| op["kind"] == "patch" && op["outcome"] == "applied") {
                let skill = op["op"]["name"].as_str().unwrap().to_owned();
                let days = diary.days_of(op["op"]["reason"].as_str().unwrap());
                let newest = days.into_iter().max();
                let is_stale = patched.get(&skill).is_some_and(|at| newest.is_none_or(|newest| newest <= *at));
                figures.patches += 1;
                figures.stale_patches += usize::from(is_stale);
                patched.insert(skill, night);
            }
        }
        sleep(stage, &user).await;
    }
    for skill in user.who.names().await {
        figures.lengths.insert(skill.clone(), user.raw(&skill).await.len());
    }
    figures
}

fn count(figures: &mut Figures, run: &Value) {
    let ops = run["ops"].as_array().unwrap();
    let reason = |op: &Value| op["reasons"].to_string();
    let repeated = ops.iter().filter(|op| op["outcome"] == "refused" && reason(op).contains("rests until")).count();
    let tokens = run["tokens"].as_i64().unwrap();
    figures.runs += 1;
    figures.failed += usize::from(run["state"] == "failed");
    figures.tokens += tokens;
    if repeated > 0 {
        figures.repeated_tokens += tokens * i64::try_from(repeated).unwrap() / i64::try_from(ops.len()).unwrap();
    }
    if run["state"] == "failed" || repeated > 0 {
        println!(
            "{} {} {}: {}",
            run["pass"],
            run["state"],
            run["reason"],
            json!(ops.iter().map(reason).collect::<Vec<_>>())
        );
    }
}

#[tokio::test]
#[ignore = "minutes: make test-dreams"]
async fn two_weeks_of_nights_repeat_nothing() {
    let stage = Stage::new().await;
    let mut all = Vec::new();
    for (name, mode) in [("ann", "apply"), ("ben", "propose")] {
        let figures = live(&stage, name, mode).await;
        println!("{mode}: {figures:#?}");
        all.push((mode, figures));
    }
    for (mode, figures) in all {
        assert_eq!(figures.failed, 0, "{figures:#?}");
        assert!(figures.repeated_tokens * 20 <= figures.tokens, "{figures:#?}");
        assert_eq!(figures.stale_patches, 0, "{figures:#?}");
        assert!(mode == "propose" || figures.patches >= 4, "{figures:#?}");
        assert!(figures.lengths.values().all(|length| *length < 3_000), "{figures:#?}");
    }
    stage.service.check_log();
}
