//! Tests that answers from a hostile or broken model cause no panic and no change to protected skills.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use super::super::*;
use super::fixture::{letter, shown, skill};
use crate::Source;
use crate::learning::dream::{PlanError, read_plan};

#[derive(Deserialize)]
struct Suite {
    skills: Vec<Given>,
    answers: Vec<HostileAnswer>,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    source: Source,
    pinned: bool,
    body: String,
}

#[derive(Deserialize)]
struct HostileAnswer {
    what: String,
    /// Expected result: the error, or the letter of each operation's ruling.
    is: String,
    pass: Option<Pass>,
    answer: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnswerPart {
    Text(String),
    Repeated { repeat: String, times: usize },
}

impl HostileAnswer {
    fn text(&self) -> String {
        match &self.answer {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts
                .iter()
                .map(|part| match serde_json::from_value(part.clone()).unwrap() {
                    AnswerPart::Text(text) => text,
                    AnswerPart::Repeated { repeat, times } => repeat.repeat(times),
                })
                .collect(),
            plan => plan.to_string(),
        }
    }
}

fn suite() -> Suite {
    serde_json::from_str(include_str!("../../hostile.json")).unwrap()
}

/// Makes all skills of the suite candidates for everything, so that only their protection blocks a plan.
fn catalogue(skills: &[Given], pass: Pass) -> Shown {
    let mut shown = shown(pass);
    shown.skills = skills
        .iter()
        .map(|given| ShownSkill {
            version: 1,
            source: given.source,
            is_pinned: given.pinned,
            has_files: false,
            raw: format!("---\nname: {}\ndescription: Says how.\n---\n\n{}\n", given.name, given.body),
            ..skill(&given.name, "")
        })
        .collect();
    let names: Vec<&String> = skills.iter().map(|given| &given.name).collect();
    shown.names = names.iter().map(|name| (*name).clone()).chain(["hidden".to_owned()]).collect();
    shown.candidates.pairs =
        names.iter().flat_map(|one| names.iter().map(|other| [(*one).clone(), (*other).clone()])).collect();
    shown.candidates.weak = names.into_iter().cloned().collect();
    shown
}

/// Returns the skills that an operation changes or archives.
fn touched(operation: &Operation) -> Vec<&str> {
    match operation {
        Operation::Merge { into, sources, .. } => {
            sources.iter().map(|source| source.name.as_str()).chain([into.as_str()]).collect()
        }
        other => vec![other.target()],
    }
}

fn outcome(answer: &str, shown: &Shown) -> String {
    let version_shown = |name: &str| shown.skills.iter().find(|skill| skill.name == name).map(|skill| skill.version);
    let read = match read_plan(answer, &version_shown) {
        Ok(read) => read,
        Err(error) => {
            let word = match error {
                PlanError::NoPlan => "no_plan",
                PlanError::TooLarge(_) => "too_large",
                PlanError::CutOff => "cut_off",
                PlanError::NotJson(_) => "not_json",
                PlanError::NotAPlan(_) => "not_a_plan",
                PlanError::TooMany(_) => "too_many",
            };
            return word.to_owned();
        }
    };
    let rulings = check_plan(&read, shown);
    assert_eq!(rulings.len(), read.len());
    for (read, ruling) in read.iter().zip(&rulings).filter(|(_, ruling)| letter(ruling) != 'r') {
        let operation = read.operation.as_ref().unwrap();
        for name in touched(operation) {
            let skill = shown.skills.iter().find(|skill| skill.name == name);
            let is_open = skill
                .map_or(!shown.names.contains(name), |skill| !skill.is_pinned && skill.source.is_open_to_learning());
            assert!(is_open, "{ruling:?} touches '{name}': {operation:?}");
        }
    }
    rulings.iter().map(letter).collect()
}

#[test]
fn hostile_answers_change_no_protected_skill() {
    let suite = suite();
    assert!(suite.answers.len() >= 40);
    for case in &suite.answers {
        let started = Instant::now();
        let answer = case.text();
        for pass in [Pass::Gaps, Pass::Consolidate, Pass::Optimize] {
            let outcome = outcome(&answer, &catalogue(&suite.skills, pass));
            if pass == case.pass.unwrap_or(Pass::Consolidate) {
                assert_eq!(outcome, case.is, "{}", case.what);
            }
        }
        // The limit is wide, because the build is not optimised and other tests run at the same time.
        assert!(started.elapsed().as_secs() < 20, "{}: {:?}", case.what, started.elapsed());
    }
}

#[test]
fn hostile_answers_that_are_cut_off_cause_no_panic() {
    let suite = suite();
    let shown = catalogue(&suite.skills, Pass::Consolidate);
    for case in &suite.answers {
        let answer = case.text();
        let cuts: Vec<usize> =
            (1..answer.len().min(4_000)).step_by(37).filter(|at| answer.is_char_boundary(*at)).collect();
        for at in cuts {
            outcome(&answer[..at], &shown);
        }
    }
}
