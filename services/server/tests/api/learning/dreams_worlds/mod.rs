//! Random tests of dreams and their undo. A world has a library, runs of dreams, and edits of its user between the
//! runs. After all runs are undone, the library equals a twin without dreams, or the runs report the difference for
//! exactly that skill.

mod compare;
pub mod library;
mod people;
mod plans;

use std::collections::BTreeMap;

use futures_util::StreamExt;
use futures_util::future::join;
use serde_json::{Value, json};

use self::compare::differences;
use self::library::{build, check_sums, digest};
use self::people::{Names, act};
use self::plans::plan_for;
use super::dreams_stage::{Dreamer, Stage, plan};
use crate::process::cached_skills::Dice;

/// Counts of outcomes over all worlds, by name.
type Tally = BTreeMap<String, usize>;

/// A run that was undone.
pub struct TakenBack {
    /// The run as the undo request returned it.
    pub run: Value,
    /// The user's skills before and after the undo.
    pub before: library::Digest,
    pub after: library::Digest,
}

/// Plays one world. Returns the unexpected differences and the counts of outcomes.
async fn play(stage: &Stage, seed: u64) -> (Vec<String>, Tally) {
    let dice = || Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed));
    let (dreamt, twin) = (stage.user(&format!("d{seed}")).await, stage.user(&format!("t{seed}")).await);
    join(build(stage, &dreamt, dice()), build(stage, &twin, dice())).await;
    for day in [3, 2] {
        stage.talked(&dreamt, day, &format!("please kinwish on day {day}")).await;
    }
    let first = digest(stage, &dreamt);
    assert_eq!(first, digest(stage, &twin));
    let mut dice = dice();
    let quiet = seed.is_multiple_of(4);
    let (mut names, mut runs, mut trail) = (Names::new(), Vec::new(), Vec::new());
    let mut passes = vec!["consolidate", "optimize", "gaps"];
    for n in 0..1 + dice.of(3) {
        let pass = passes.remove(dice.of(passes.len()));
        let mut plans = Dice(seed + n as u64);
        stage.says(&dreamt, move |question| plan(&plan_for(question, &mut plans)));
        let run = dream(stage, &dreamt, pass).await;
        trail.push(format!("{pass}: {}", told(&run)));
        if run["counts"]["applied"] != 0 {
            names.follow(&run);
            runs.push(run["id"].as_str().unwrap().to_owned());
        }
        for n in 0..if quiet { 0 } else { dice.of(4) } {
            trail.push(act([&dreamt.who, &twin.who], &mut names, &mut dice, n).await);
        }
    }
    let mut back = Vec::new();
    for id in runs.iter().rev() {
        let before = digest(stage, &dreamt);
        let run = dreamt.undo(id).await;
        let after = digest(stage, &dreamt);
        assert_eq!(dreamt.undo(id).await["ops"], run["ops"], "seed {seed}");
        assert_eq!(digest(stage, &dreamt), after, "seed {seed}: undone twice");
        trail.push(format!("undo: {}", undone(&run)));
        back.push(TakenBack { run, before, after });
    }
    check_sums(stage, &dreamt);
    let found = differences(digest(stage, &dreamt), digest(stage, &twin), &back, &names);
    let tally = count(&back);
    (found.into_iter().map(|line| format!("seed {seed}: {line}\n    {}", trail.join("\n    "))).collect(), tally)
}

/// Runs a dream and applies its waiting and proposed operations.
async fn dream(stage: &Stage, user: &Dreamer, pass: &str) -> Value {
    let run = stage.dream(user, pass).await;
    let is_open = ["waiting", "proposed"].iter().any(|outcome| run["counts"][outcome] != 0);
    match is_open {
        true => user.who.post(&format!("/v1/dreams/{}/apply", run["id"].as_str().unwrap()), json!({})).await.ok(200),
        false => run,
    }
}

fn told(run: &Value) -> String {
    let op = |op: &Value| {
        let what = &op["op"];
        let names: Vec<String> = ["name", "into", "sources", "members", "absorbed_into", "add"]
            .iter()
            .filter(|member| !what[**member].is_null())
            .map(|member| format!("{member}={}", what[*member]))
            .collect();
        format!("{} {} {} {}", op["kind"], names.join(" "), op["outcome"], op["reasons"])
    };
    run["ops"].as_array().unwrap().iter().map(op).collect::<Vec<_>>().join("; ")
}

fn undone(run: &Value) -> String {
    let ops = run["ops"].as_array().unwrap().iter().filter(|op| !op["undo"].is_null());
    ops.map(|op| format!("{} {} {}", op["kind"], op["undo"], op["undo_reason"])).collect::<Vec<_>>().join("; ")
}

fn count(back: &[TakenBack]) -> Tally {
    let mut tally = Tally::new();
    for op in back.iter().flat_map(|back| back.run["ops"].as_array().unwrap()).filter(|op| !op["undo"].is_null()) {
        let (kind, undo) = (op["kind"].as_str().unwrap(), op["undo"].as_str().unwrap());
        *tally.entry(format!("{kind} {undo}")).or_default() += 1;
        *tally.entry(format!("offered {}", !op["undo_submission"].is_null())).or_default() += 1;
    }
    *tally.entry("runs".to_owned()).or_default() += back.len();
    tally
}

/// Plays worlds, from seed `first` on, until `runs` runs were undone.
async fn play_all(first: u64, runs: usize, at_once: usize) -> Tally {
    let stage = Stage::new().await;
    let (mut found, mut tally) = (Vec::new(), Tally::new());
    let mut worlds = futures_util::stream::iter(first..).map(|seed| play(&stage, seed)).buffer_unordered(at_once);
    while tally.get("runs").copied().unwrap_or_default() < runs {
        let (differences, counted) = worlds.next().await.unwrap();
        differences.iter().for_each(|line| println!("{line}"));
        found.extend(differences);
        let before = tally.get("runs").copied().unwrap_or_default();
        counted.into_iter().for_each(|(what, n)| *tally.entry(what).or_default() += n);
        *tally.entry("worlds".to_owned()).or_default() += 1;
        if tally["runs"] / 100 > before / 100 {
            println!("{} runs, {} differences", tally["runs"], found.len());
        }
    }
    drop(worlds);
    println!("{tally:#?}");
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found[..found.len().min(12)].join("\n"));
    stage.service.check_log();
    tally
}

#[tokio::test]
async fn undo_keeps_the_changes_of_people() {
    play_all(1, 40, 6).await;
}

#[tokio::test]
#[ignore = "minutes: make test-dreams"]
async fn undo_keeps_the_changes_of_people_in_a_thousand_runs() {
    let tally = play_all(1_000, 1_000, 6).await;
    for kind in ["create", "merge", "patch", "see_also", "archive", "parent"] {
        assert!(tally.contains_key(&format!("{kind} undone")), "{kind} was never undone");
    }
    for outcome in
        ["merge kept", "patch merged", "patch kept", "create kept", "create gone", "merge gone", "offered true"]
    {
        assert!(tally.contains_key(outcome), "never: {outcome}");
    }
}
