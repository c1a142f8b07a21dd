//! The figures, as tables and as JSON.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::measure::{Counts, Outcome, Setting, Tally, Whole};

/// Of what is found among the first five, so much is to pass the floor, and of the negatives at most so much.
const GOAL_KEPT: f64 = 0.97;
const GOAL_LET_THROUGH: f64 = 0.35;

pub fn print(outcomes: &[Outcome], whole: &Whole) {
    if outcomes.iter().any(|outcome| outcome.meaning.is_some()) {
        print_table("Words and meaning", outcomes, |outcome| outcome.meaning.as_ref(), true);
    } else {
        println!("\nThere is no embeddings model: words only, and the goals, which are for both, are not judged.");
    }
    print_table("Words only", outcomes, |outcome| Some(&outcome.words), false);
    println!(
        "\n| catalogue | build, µs a skill | bytes a skill | search by words, µs | with meaning, µs |\n|---|---|---|---|---|"
    );
    for outcome in outcomes {
        let size = outcome.setting.size;
        println!(
            "| {} | {:.0} | {} | {:.0} | {} |",
            outcome.setting.name,
            micros(outcome.building.median()) / size as f64,
            outcome.bytes / (outcome.catalogues * size),
            micros(outcome.words.searching.median()),
            outcome
                .meaning
                .as_ref()
                .map_or("-".to_owned(), |counts| format!("{:.0}", micros(counts.searching.median()))),
        );
    }
    println!(
        "| all {} | {:.0} | {} | {:.0} | {} |",
        whole.skills,
        micros(whole.building) / whole.skills as f64,
        whole.bytes / whole.skills,
        micros(whole.words),
        whole.meaning.map_or("-".to_owned(), |time| format!("{:.0}", micros(time))),
    );
}

fn print_table<'a>(title: &str, outcomes: &'a [Outcome], of: impl Fn(&'a Outcome) -> Option<&'a Counts>, judged: bool) {
    println!(
        "\n## {title}\n\n| catalogue | messages | recall@1 | recall@5 | MRR@10 | floor keeps | negatives let through |"
    );
    println!("|---|---|---|---|---|---|---|");
    let counted = || outcomes.iter().filter_map(|outcome| Some((outcome.setting, of(outcome)?)));
    for (setting, counts) in counted() {
        let [first, five, reciprocal] = counts.all.rates();
        println!(
            "| **{}** | {} | {first:.3}{} | {five:.3}{} | {reciprocal:.3} | {:.3} | {:.3} |",
            setting.name,
            counts.all.messages,
            setting.goal_first.filter(|_| judged).map_or(String::new(), |goal| judge(goal, first >= goal)),
            if judged { judge(setting.goal_five, five >= setting.goal_five) } else { String::new() },
            kept(counts),
            let_through(counts),
        );
        for (kind, tally) in &counts.by_kind {
            let [first, five, reciprocal] = tally.rates();
            println!("| {kind} | {} | {first:.3} | {five:.3} | {reciprocal:.3} | | |", tally.messages);
        }
    }
    let mean =
        |rate: fn(&Counts) -> f64| counted().map(|(_, counts)| rate(counts)).sum::<f64>() / outcomes.len() as f64;
    let (kept, through) = (mean(kept), mean(let_through));
    println!(
        "| **mean** | | | | | {kept:.3}{} | {through:.3}{} |",
        if judged { judge(GOAL_KEPT, kept >= GOAL_KEPT) } else { String::new() },
        if judged { judge(GOAL_LET_THROUGH, through <= GOAL_LET_THROUGH) } else { String::new() },
    );
}

fn judge(goal: f64, met: bool) -> String {
    format!(" ({goal}: {})", if met { "met" } else { "missed" })
}

fn kept(counts: &Counts) -> f64 {
    counts.kept as f64 / counts.all.in_five.max(1) as f64
}

fn let_through(counts: &Counts) -> f64 {
    counts.let_through as f64 / counts.negatives.max(1) as f64
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub fn to_json(outcomes: &[Outcome], whole: &Whole) -> Value {
    let catalogues: Map<String, Value> =
        outcomes.iter().map(|outcome| (outcome.setting.name.to_owned(), outcome_json(outcome))).collect();
    json!({
        "catalogues": catalogues,
        "whole_corpus": {
            "skills": whole.skills,
            "build_us_per_skill": rounded(micros(whole.building) / whole.skills as f64),
            "bytes_per_skill": whole.bytes / whole.skills,
            "search_words_us": rounded(micros(whole.words)),
            "search_meaning_us": whole.meaning.map(|time| rounded(micros(time))),
        },
    })
}

fn outcome_json(outcome: &Outcome) -> Value {
    let Setting { size, goal_first, goal_five, .. } = outcome.setting;
    json!({
        "words": counts_json(&outcome.words),
        "words_and_meaning": outcome.meaning.as_ref().map(counts_json),
        "goals": { "recall_at_1": goal_first, "recall_at_5": goal_five },
        "build_us_per_skill": rounded(micros(outcome.building.median()) / *size as f64),
        "bytes_per_skill": outcome.bytes / (outcome.catalogues * size),
    })
}

fn counts_json(counts: &Counts) -> Value {
    let rates = |tally: &Tally| {
        let [first, five, reciprocal] = tally.rates().map(rounded);
        json!({ "messages": tally.messages, "recall_at_1": first, "recall_at_5": five, "mrr_at_10": reciprocal })
    };
    let by_kind: Map<String, Value> = counts.by_kind.iter().map(|(kind, tally)| (kind.clone(), rates(tally))).collect();
    json!({
        "all": rates(&counts.all),
        "by_kind": by_kind,
        "floor_keeps": rounded(kept(counts)),
        "negatives": counts.negatives,
        "negatives_let_through": rounded(let_through(counts)),
        "search_us": rounded(micros(counts.searching.median())),
    })
}

/// To four digits after the point.
fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}
