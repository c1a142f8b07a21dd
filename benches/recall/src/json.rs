//! Writes the figures as JSON.

use serde_json::{Map, Value, json};

use crate::measure::{Counts, Outcome, Tally, share};
use crate::settings::{Goals, Way};
use crate::times::Cost;

pub fn of(outcomes: &[Outcome], costs: &[Cost]) -> Value {
    let catalogues: Map<String, Value> =
        outcomes.iter().map(|outcome| (outcome.setting.name.clone(), outcome_json(outcome))).collect();
    let costs: Map<String, Value> = costs.iter().map(|cost| (cost.name.clone(), cost_json(cost))).collect();
    json!({ "catalogues": catalogues, "costs": costs })
}

fn outcome_json(outcome: &Outcome) -> Value {
    let ways = outcome.ways.iter().map(|(way, counts)| {
        let mut figures = counts_json(counts);
        figures["goals"] = goals_json(&outcome.setting.goals(*way));
        (key(*way).to_owned(), figures)
    });
    Value::Object(ways.collect())
}

fn key(way: Way) -> &'static str {
    match way {
        Way::Words => "words",
        Way::Meaning => "words_and_meaning",
        Way::Examples => "examples",
    }
}

fn counts_json(counts: &Counts) -> Value {
    let by_kind: Map<String, Value> =
        counts.by_kind.iter().map(|(kind, tally)| (kind.clone(), tally_json(tally))).collect();
    let negatives: Map<String, Value> = counts
        .negatives
        .iter()
        .map(|(kind, [messages, answered])| {
            (kind.clone(), json!({ "messages": messages, "answered": rounded(share(*answered, *messages)) }))
        })
        .collect();
    json!({
        "all": tally_json(&counts.all),
        "by_kind": by_kind,
        "negatives": negatives,
        "negatives_answered": rounded(counts.answered()),
    })
}

fn tally_json(tally: &Tally) -> Value {
    json!({
        "messages": tally.messages,
        "recall_at_1": rounded(tally.first()),
        "recall_at_5": rounded(tally.five()),
        "mrr_at_10": rounded(tally.reciprocal()),
        "turn_at_5": rounded(tally.turn()),
        "turn_keeps": rounded(tally.kept()),
        "names_a_turn": rounded(tally.names()),
        "relevant_shown": rounded(tally.shown()),
    })
}

fn goals_json(goals: &Goals) -> Value {
    let Goals { first, five, turn, names, answered, before } = goals;
    json!({
        "recall_at_1": first, "recall_at_5": five, "turn_at_5": turn, "names_a_turn": names,
        "negatives_answered": answered, "before": before,
    })
}

fn cost_json(cost: &Cost) -> Value {
    let searches: Map<String, Value> =
        cost.search_us.iter().map(|(way, micros)| (key(*way).to_owned(), json!(rounded(*micros)))).collect();
    json!({
        "skills": cost.skills,
        "build_us_per_skill": rounded(cost.build_us_a_skill),
        "bytes_per_skill": cost.bytes_a_skill,
        "search_us": searches,
    })
}

/// Rounds a figure to four decimal places.
fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}
