//! Measures how useful a judging model is for everyday messages, depending on its error rate. Scripted judges answer
//! on the development half of the corpus.
//!
//! `cargo test -p knowhow-server --test api judged_everyday -- --nocapture` prints the figures.

use std::collections::{HashMap, HashSet};

use futures_util::future::join_all;
use knowhow_testing::{CorpusFolder, FakeServer};
use serde_json::{Value, json};

use super::everyday::{ready, vectors_made};
use super::judged::{chooses, numbers};
use crate::callers::{Caller, World};
use crate::service::{Service, keeper, setting};
use crate::talk::{Talk, names};

/// Takes every eighth message of the corpus. `KNOWHOW_TEST_EVERY` overrides the step.
const EVERY: usize = 8;
/// Number of sessions that take turns concurrently.
const AT_ONCE: usize = 4;

struct Message {
    text: String,
    /// The skill that answers the message; `None` if no skill does.
    skill: Option<String>,
}

/// Returns the lines of a corpus file as JSON. Prints a line and returns `None` if the corpus is missing.
fn lines(file: &str) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(CorpusFolder::find().file(file)?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn messages(lines: &[Value]) -> Vec<Message> {
    // The sample is small enough to judge all its messages.
    let usual = if CorpusFolder::find().is_sample { 1 } else { EVERY };
    let every = setting("KNOWHOW_TEST_EVERY").map_or(usual, |every| every.parse().unwrap());
    let read = |line: &Value| Message {
        text: line["query"].as_str().unwrap().to_owned(),
        skill: line["relevant"].as_str().map(str::to_owned),
    };
    let mut seen = HashSet::new();
    lines.iter().step_by(every).map(read).filter(|message| seen.insert(message.text.clone())).collect()
}

/// Returns a pseudo-random number derived from the texts, the same in each run.
fn chance(text: &str, of: &str) -> u64 {
    let seed = text.bytes().chain(of.bytes());
    let mut hash =
        seed.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    for shift in [33, 29, 32] {
        hash = (hash ^ (hash >> shift)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    }
    hash >> 16
}

/// The expected answer for a message.
struct Truth {
    /// The skill that answers the message; `None` if no skill does.
    skill: Option<String>,
    /// Position among the messages of the same kind: answered by a skill, or not.
    place: u64,
}

fn truths(messages: &[Message]) -> HashMap<String, Truth> {
    let mut places = [0, 0];
    let truth = |message: &Message| {
        let place = &mut places[usize::from(message.skill.is_some())];
        *place += 1;
        (message.text.clone(), Truth { skill: message.skill.clone(), place: *place - 1 })
    };
    messages.iter().map(truth).collect()
}

/// Chooses like a judge that errs for `errors` percent of the messages of either kind. An error is a candidate that
/// does not help, or no candidate although one helps.
fn judge(question: &Value, truths: &HashMap<String, Truth>, errors: u64) -> Vec<u64> {
    let message = question["message"].as_str().unwrap();
    let Some(Truth { skill, place }) = truths.get(message) else { return Vec::new() };
    let helps = skill.as_deref().map_or(Vec::new(), |skill| numbers(question, &[skill]));
    if (place + 1) * errors / 100 == place * errors / 100 {
        return helps;
    }
    let all = 1..=question["candidates"].as_array().unwrap().len() as u64;
    let wrong: Vec<u64> = all.filter(|number| !helps.contains(number)).collect();
    let takes_wrong = helps.is_empty() || chance(message, "wrong").is_multiple_of(2);
    let some = wrong.get(chance(message, "which") as usize % wrong.len().max(1)).copied();
    if takes_wrong { some.into_iter().collect() } else { Vec::new() }
}

/// Totals over all messages.
#[derive(Debug, Default, Clone, Copy)]
struct Figures {
    positives: f64,
    hits: f64,
    negatives: f64,
    answered: f64,
    shown: f64,
    asked: f64,
    tokens: f64,
}

impl Figures {
    fn hit_rate(&self) -> f64 {
        self.hits / self.positives
    }

    fn answered_rate(&self) -> f64 {
        self.answered / self.negatives
    }

    fn print(&self, name: &str) {
        let all = self.positives + self.negatives;
        println!(
            "{name:<12} hits {:.3}  negatives answered {:.3}  names {:.2}  asked {:.3}  tokens a turn {:.0}",
            self.hit_rate(),
            self.answered_rate(),
            self.shown / self.positives,
            self.asked / all,
            self.tokens / all
        );
    }
}

async fn play(alice: &Caller, messages: &[Message], mode: &str) -> Figures {
    let part = |at: usize| async move {
        let talk = Talk::open(alice, json!({"channel": "chat", "tools": "read"})).await;
        let mut answers = Vec::new();
        for message in messages.iter().skip(at).step_by(AT_ONCE) {
            let body = json!({"message": message.text, "judge": mode, "deadline_ms": 30_000, "context_reset": true});
            let turn = talk.turn(body).await.ok(200);
            assert!(turn["degraded"].is_null(), "{turn}");
            answers.push((message, turn));
        }
        answers
    };
    let mut figures = Figures::default();
    for (message, turn) in join_all((0..AT_ONCE).map(part)).await.into_iter().flatten() {
        // A skill that the message names is active and was not judged, so only `relevant` counts as shown.
        let found = names(&turn, "relevant");
        match &message.skill {
            Some(skill) => {
                figures.positives += 1.0;
                figures.hits += f64::from(found.contains(skill) || names(&turn, "active").contains(skill));
                figures.shown += found.len() as f64;
            }
            None => {
                figures.negatives += 1.0;
                figures.answered += f64::from(!found.is_empty());
            }
        }
        figures.asked += f64::from(turn["judge"]["asked"] == true);
        figures.tokens += turn["judge"]["tokens"].as_f64().unwrap_or_default();
    }
    figures
}

#[tokio::test]
async fn a_judge_answers_few_negatives_at_nearly_equal_hits() {
    let (Some(skills), Some(said)) = (lines("everyday-skills.jsonl"), lines("everyday-dev.jsonl")) else { return };
    let Some(folder) = setting("KNOWHOW_TEST_MODEL_DIR") else {
        eprintln!("skipped: KNOWHOW_TEST_MODEL_DIR names no model");
        return;
    };
    let messages = messages(&said);
    let model = FakeServer::start([chooses(|_| Vec::new())]);
    let service = Service::start(&[
        ("KNOWHOW_MODEL_DIR", &folder),
        ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000"),
        ("KNOWHOW_CHAT_URL", &model.url()),
        ("KNOWHOW_CHAT_MODEL", "fake"),
    ]);
    let settings =
        json!({"starter_skills": false, "enrich": false, "learn_from_use": false, "judge_tokens_per_day": 100_000_000});
    let World { alice, slug, .. } = &World::at(&service, keeper(), settings).await;
    for skill in &skills {
        alice
            .create(json!({"name": skill["name"], "description": skill["description"], "content": skill["content"]}))
            .await;
    }
    vectors_made(slug).await;
    ready(alice, "lock it so that nothing can be taken out of the bank", "banking/freeze-account").await;
    let without = play(alice, &messages, "off").await;
    without.print("without");
    let mut all = Vec::new();
    for (mode, errors) in [("always", 0), ("always", 5), ("unsure", 0), ("unsure", 5)] {
        let truths = truths(&messages);
        model.replies([chooses(move |question| judge(question, &truths, errors))]);
        let judged = play(alice, &messages, mode).await;
        judged.print(&format!("{mode} {errors} %"));
        all.push((mode, errors, judged));
    }
    for (mode, errors, judged) in all {
        // Some of the errors lose a hit; some negatives are taken for sure, of which no judge is asked unless always.
        // One message of the sample is four in a hundred.
        let (lost, most) = match (CorpusFolder::find().is_sample, mode) {
            (true, _) => (0.04, 0.09),
            (false, "always") => (0.02, 0.05),
            (false, _) => (0.02, 0.06),
        };
        assert!(judged.hit_rate() >= without.hit_rate() - lost, "{mode} {errors}: {judged:?} {without:?}");
        assert!(judged.answered_rate() <= most, "{mode} {errors}: {judged:?}");
    }
}
