//! Writes the data for fitting the weights of recall: the signals of each skill for each message, as rows of numbers.
//! `fit.py` reads them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use knowhow_domain::recall::{Context, Signals, gather};
use serde_json::{Value, json};

use crate::catalogues::{Drawing, Drawn, World};
use crate::cores;
use crate::corpus::Corpus;
use crate::measure::{Basis, ask};
use crate::settings::{Way, list_of_set};
use crate::vectors::Vectors;

/// Number of best skills by each signal that are written for a large catalogue.
const BEST: usize = 60;

/// Settings that `fit.py` uses by these names: size of the catalogue, characters of bodies, examples for each skill.
const SETTINGS: [(&str, World, usize, usize, usize); 10] = [
    ("everyday-1", World::Everyday, 1, ALL, 0),
    ("everyday-8", World::Everyday, 8, ALL, 0),
    ("everyday-30", World::Everyday, 30, ALL, 0),
    ("everyday-120", World::Everyday, 120, ALL, 0),
    ("everyday-8-examples", World::Everyday, 8, ALL, 5),
    ("everyday-30-examples", World::Everyday, 30, ALL, 5),
    ("everyday-120-examples", World::Everyday, 120, ALL, 5),
    ("everyday-5-bare", World::Everyday, 5, ALL, 0),
    ("everyday-1000", World::Everyday, 1_000, ALL, 0),
    ("random-1", World::Coding, 1, ALL, 0),
];
const LONG: [(&str, bool, usize, usize); 8] = [
    ("random-5", false, 5, ALL),
    ("random-15", false, 15, ALL),
    ("random-50", false, 50, ALL),
    ("random-200", false, 200, ALL),
    ("same-50", true, 50, ALL),
    ("same-200", true, 200, ALL),
    ("random-50-160", false, 50, 160),
    ("random-1000", false, 1_000, ALL),
];
const ALL: usize = usize::MAX;

/// Writes the features of all settings into a folder.
pub fn write_all(corpus: &Corpus, vectors: Option<&Vectors>, folder: &Path) -> Result<()> {
    for (name, world, size, body_chars, examples) in SETTINGS {
        let starters = !name.ends_with("bare");
        let drawing = Drawing { world, same_source: false, size, body_chars, examples, starters, halved: false };
        write(name, Basis { corpus, drawing: &drawing, vectors }, folder)?;
    }
    for (name, same_source, size, body_chars) in LONG {
        let drawing = Drawing {
            world: World::Coding,
            same_source,
            size,
            body_chars,
            examples: 0,
            starters: false,
            halved: false,
        };
        write(name, Basis { corpus, drawing: &drawing, vectors }, folder)?;
    }
    for (at, set) in corpus.sets.iter().enumerate() {
        for setting in list_of_set(at, set) {
            write(&setting.name, Basis { corpus, drawing: &setting.drawing, vectors }, folder)?;
        }
    }
    Ok(())
}

/// Writes `FOLDER/NAME.f32` (rows of 32-bit floats) and `FOLDER/NAME.jsonl` (a line for each message).
fn write(name: &str, basis: Basis<'_>, folder: &Path) -> Result<()> {
    let groups = basis.drawing.groups(basis.corpus);
    let made = cores::share(&groups, |group| of_group(basis, group));
    let mut rows = BufWriter::new(File::create(folder.join(format!("{name}.f32"))).context("the folder for features")?);
    let mut lines = BufWriter::new(File::create(folder.join(format!("{name}.jsonl")))?);
    for (numbers, cases) in made {
        for number in numbers {
            rows.write_all(&number.to_le_bytes())?;
        }
        for case in cases {
            writeln!(lines, "{case}")?;
        }
    }
    eprintln!("{name}: written");
    Ok(())
}

fn of_group(basis: Basis<'_>, group: &[usize]) -> (Vec<f32>, Vec<Value>) {
    let Basis { corpus, drawing, vectors } = basis;
    let drawn = drawing.build(corpus, drawing.draw(corpus, group), vectors);
    let (mut rows, mut cases) = (Vec::new(), Vec::new());
    for at in group {
        let (own, case) = of_message(basis, &drawn, *at);
        rows.extend(own);
        cases.push(case);
    }
    (rows, cases)
}

fn of_message(basis: Basis<'_>, drawn: &Drawn, at: usize) -> (Vec<f32>, Value) {
    let Basis { corpus, drawing, .. } = basis;
    let message = &corpus.messages(drawing.world)[at];
    // `Way::Examples` uses all drawn examples. Without drawn examples, it searches like `Way::Meaning`.
    let query = ask(basis, drawn, at, Way::Examples);
    let evidence = gather(&drawn.catalogue, &query);
    let relevant = drawn.relevant(message);
    let kept = keep(&evidence.signals, &relevant);
    let mut rows = Vec::new();
    for place in &kept {
        let s = &evidence.signals[*place];
        let marks =
            [f32::from(u8::from(relevant.contains(place))), f32::from(u8::from(drawn.is_starter(corpus, *place)))];
        rows.extend(marks);
        rows.extend([s.text, s.body, s.phrases, s.trigger, s.cover, s.cosine, s.example, s.meaning, s.depth]);
    }
    let Context { skills, depth, field, mean_cosine, spread, chatter, own, .. } = evidence.context;
    let case = json!({
        "id": message.id, "kind": message.kind, "source": message.source, "rows": kept.len(),
        "skills": skills, "depth": depth, "field": field,
        "mean_cosine": mean_cosine, "spread": spread, "chatter": chatter, "own": own,
    });
    (rows, case)
}

/// Returns the relevant skills and the best skills by each signal.
fn keep(signals: &[Signals], relevant: &[usize]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..signals.len()).collect();
    if signals.len() <= 4 * BEST {
        return kept;
    }
    kept.clear();
    kept.extend(relevant);
    for of in [|s: &Signals| s.cosine.max(s.example), |s: &Signals| s.text, |s: &Signals| s.body + s.phrases] {
        let mut order: Vec<usize> = (0..signals.len()).collect();
        order.sort_by(|a, b| of(&signals[*b]).total_cmp(&of(&signals[*a])));
        kept.extend(order.into_iter().take(BEST));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}
