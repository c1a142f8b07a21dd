//! The file of examples in an archive of skills: a line of JSON for each, `{"skill": .., "message": ..}`, with `"counter_example": true`
//! for a counter-example.

use knowhow_domain::lesson::{EXAMPLE_CHARS, EXAMPLES_PER_USER, example_text};
use knowhow_domain::{Error, Result, manifest};
use knowhow_store::WriteTx;
use knowhow_store::examples::{self, ExampleLine, NewExamples};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::archive::PackedFile;
use crate::follow_up::task_for_examples;

pub const EXAMPLES_FILE: &str = "knowhow-examples.jsonl";

/// Most refused lines that are told of one by one.
const MOST_TOLD: usize = 100;

/// A longer line cannot be an example.
const LINE_BYTES: usize = 8 * 1024;

/// What became of the examples of an import.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportedExamples {
    /// Examples that are new.
    pub added: usize,
    /// Such as their skill had already, as an example or a counter-example.
    pub unchanged: usize,
    /// Lines that were refused.
    pub failed: usize,
    /// The first 100 of these.
    pub refused: Vec<RefusedLine>,
}

/// A line that was refused.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RefusedLine {
    /// The file's path in the archive.
    #[schema(example = "knowhow-examples.jsonl")]
    pub path: String,
    /// Which line of it, from 1.
    #[schema(minimum = 1)]
    pub line: usize,
    /// Why it was refused.
    pub detail: String,
}

impl ImportedExamples {
    fn refuse(&mut self, path: &str, line: usize, detail: impl Into<String>) {
        self.failed += 1;
        if self.refused.len() < MOST_TOLD {
            self.refused.push(RefusedLine { path: path.to_owned(), line, detail: detail.into() });
        }
    }

    /// Adds what became of others.
    pub fn add(&mut self, other: Self) {
        self.added += other.added;
        self.unchanged += other.unchanged;
        self.failed += other.failed;
        self.refused.extend(other.refused);
        self.refused.truncate(MOST_TOLD);
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    skill: String,
    message: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    counter_example: bool,
}

/// Returns the file with these examples, in their order; `None` without any.
pub(crate) fn write_lines(examples: Vec<ExampleLine>) -> Result<Option<PackedFile>> {
    let mut bytes = Vec::new();
    for ExampleLine { skill, message, is_counter } in examples {
        let line = Line { skill, message, counter_example: is_counter };
        serde_json::to_writer(&mut bytes, &line).map_err(Error::internal)?;
        bytes.push(b'\n');
    }
    Ok((!bytes.is_empty()).then(|| PackedFile { path: EXAMPLES_FILE.to_owned(), bytes }))
}

/// Sets the files of examples apart, as [`is_apart`] tells them.
pub fn set_apart(entries: Vec<PackedFile>) -> (Vec<PackedFile>, Vec<PackedFile>) {
    let paths: Vec<String> = entries.iter().map(|entry| entry.path.to_lowercase()).collect();
    let is_skill = |folder: &str| paths.contains(&format!("{folder}/skill.md").to_lowercase());
    entries.into_iter().partition(|entry| is_apart(&entry.path, is_skill))
}

/// Whether a path is that of a file of examples: at the archive's top, or in the one folder around everything. In a
/// skill's folder it is one of the skill's files.
pub fn is_apart(path: &str, is_skill: impl Fn(&str) -> bool) -> bool {
    match path.split_once('/') {
        None => path == EXAMPLES_FILE,
        Some((folder, file)) => file == EXAMPLES_FILE && !is_skill(folder),
    }
}

/// A file of examples, read.
pub(crate) struct ReadLines {
    path: String,
    digest: [u8; 32],
    lines: Vec<(usize, ExampleLine)>,
    report: ImportedExamples,
}

/// Reads a file of examples.
pub(crate) fn read_lines(file: &PackedFile) -> ReadLines {
    let (mut lines, mut report) = (Vec::new(), ImportedExamples::default());
    let given = file.bytes.split(|byte| *byte == b'\n').zip(1..);
    for (bytes, number) in given.filter(|(bytes, _)| !bytes.trim_ascii().is_empty()) {
        if lines.len() == EXAMPLES_PER_USER {
            report.refuse(&file.path, number, format!("a file takes at most {EXAMPLES_PER_USER} examples"));
            break;
        }
        match read_line(bytes) {
            Ok(line) => lines.push((number, line)),
            Err(detail) => report.refuse(&file.path, number, detail),
        }
    }
    ReadLines { path: file.path.clone(), digest: manifest::digest(&file.bytes), lines, report }
}

fn read_line(bytes: &[u8]) -> std::result::Result<ExampleLine, String> {
    let shape = || "must be {\"skill\": \"name\", \"message\": \"what was said\"}".to_owned();
    if bytes.len() > LINE_BYTES {
        return Err(shape());
    }
    let Line { skill, message, counter_example } = serde_json::from_slice(bytes).map_err(|_| shape())?;
    let fits = message.chars().count() <= EXAMPLE_CHARS && !message.contains('\0') && !skill.contains('\0');
    match example_text(&message) {
        Some(text) if fits => Ok(ExampleLine { skill, message: text.to_owned(), is_counter: counter_example }),
        _ => Err(format!("the message must have letters or digits, at most {EXAMPLE_CHARS} characters, and no NUL")),
    }
}

/// Imports a file of examples for the skills that there are by now.
pub(crate) async fn import_lines(ctx: &Ctx, file: ReadLines) -> Result<ImportedExamples> {
    let ReadLines { path, digest, lines, mut report } = file;
    let (numbers, lines): (Vec<usize>, Vec<ExampleLine>) = lines.into_iter().unzip();
    let mut refuse_all = |detail: &str| numbers.iter().for_each(|number| report.refuse(&path, *number, detail));
    if !ctx.principal.settings().learns() {
        refuse_all("nothing is learned from use in this tenant, see its setting learn_from_use");
        return Ok(report);
    }
    if lines.is_empty() {
        return Ok(report);
    }
    let (session, task) = (ctx.call.session.as_deref(), task_for_examples(&ctx.app));
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.import").await?;
    let outcomes: Option<Vec<Outcome>> = ctx
        .once(&mut tx, &("import.examples", &path, manifest::hex(&digest)), async |tx| {
            let new = NewExamples { lines: &lines, session, task };
            let outcomes = examples::import(tx, new, ctx.now()).await?;
            Ok(outcomes.map(|outcomes| outcomes.into_iter().map(Outcome::of).collect()))
        })
        .await?;
    tx.commit().await?;
    let Some(outcomes) = outcomes else {
        refuse_all("the session has read what is not to be trusted, or is not known");
        return Ok(report);
    };
    for ((outcome, number), line) in outcomes.into_iter().zip(numbers).zip(&lines) {
        match outcome {
            Outcome::Added => report.added += 1,
            Outcome::Known => report.unchanged += 1,
            Outcome::NoSkill => report.refuse(&path, number, format!("no such skill: {}", line.skill)),
        }
    }
    Ok(report)
}

/// What is kept of a line for the import's idempotency key.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Outcome {
    Added,
    Known,
    NoSkill,
}

impl Outcome {
    fn of(imported: examples::Imported) -> Self {
        match imported {
            examples::Imported::Added => Self::Added,
            examples::Imported::Known => Self::Known,
            examples::Imported::NoSkill => Self::NoSkill,
        }
    }
}

#[cfg(test)]
mod tests;
