//! The file of examples in an archive of skills. It has a JSON object per line, `{"skill": .., "message": ..}`, with
//! `"counter_example": true` for a counter-example.

use knowhow_domain::learning::lesson::{EXAMPLE_CHARS, EXAMPLES_PER_USER, example_text};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::learning::examples::{self, ExampleLine, NewExamples};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::change::review_policy::may_change_settings;
use crate::skills::archive::PackedFile;
use crate::skills::follow_up::task_for_examples;

pub const EXAMPLES_FILE: &str = "knowhow-examples.jsonl";

/// Maximum number of rejected lines that are reported individually.
const MOST_TOLD: usize = 100;

/// Maximum number of bytes in a line.
const LINE_BYTES: usize = 8 * 1024;

/// The result of importing examples.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportedExamples {
    /// Number of new examples.
    pub added: usize,
    /// Number of examples that the skill already had, as an example or a counter-example.
    pub unchanged: usize,
    /// Number of rejected lines.
    pub failed: usize,
    /// The first 100 rejected lines.
    pub refused: Vec<RefusedLine>,
}

/// A rejected line.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RefusedLine {
    /// The file's path in the archive.
    #[schema(example = "knowhow-examples.jsonl")]
    pub path: String,
    /// The line number, from 1.
    #[schema(minimum = 1)]
    pub line: usize,
    /// Reason for the rejection.
    pub detail: String,
}

impl ImportedExamples {
    fn refuse(&mut self, path: &str, line: usize, detail: impl Into<String>) {
        self.failed += 1;
        if self.refused.len() < MOST_TOLD {
            self.refused.push(RefusedLine { path: path.to_owned(), line, detail: detail.into() });
        }
    }

    /// Adds the result of another file.
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
struct ExampleFileLine {
    skill: String,
    message: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    counter_example: bool,
}

/// Creates the file with these examples, in order; `None` if there are no examples.
pub(crate) fn write_lines(examples: Vec<ExampleLine>) -> Result<Option<PackedFile>> {
    let mut bytes = Vec::new();
    for ExampleLine { skill, message, is_counter } in examples {
        let line = ExampleFileLine { skill, message, counter_example: is_counter };
        serde_json::to_writer(&mut bytes, &line).map_err(Error::internal)?;
        bytes.push(b'\n');
    }
    Ok((!bytes.is_empty()).then(|| PackedFile::plain(EXAMPLES_FILE, bytes)))
}

/// Splits entries into the files of examples and the other files, by [`is_apart`].
pub fn set_apart(entries: Vec<PackedFile>) -> (Vec<PackedFile>, Vec<PackedFile>) {
    let paths: Vec<String> = entries.iter().map(|entry| entry.path.to_lowercase()).collect();
    let is_skill = |folder: &str| paths.contains(&format!("{folder}/skill.md").to_lowercase());
    entries.into_iter().partition(|entry| is_apart(&entry.path, is_skill))
}

/// Returns whether a path is a file of examples: at the archive's top level, or in its only top-level folder. A file
/// of this name in a skill's folder is a resource of the skill.
pub fn is_apart(path: &str, is_skill: impl Fn(&str) -> bool) -> bool {
    match path.split_once('/') {
        None => path == EXAMPLES_FILE,
        Some((folder, file)) => file == EXAMPLES_FILE && !is_skill(folder),
    }
}

/// A parsed file of examples.
pub(crate) struct ReadLines {
    path: String,
    digest: [u8; 32],
    lines: Vec<(usize, ExampleLine)>,
    report: ImportedExamples,
}

/// Parses a file of examples.
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
    let shape = || "must be {\"skill\": \"name\", \"message\": \"text of the message\"}".to_owned();
    if bytes.len() > LINE_BYTES {
        return Err(shape());
    }
    let ExampleFileLine { skill, message, counter_example } = serde_json::from_slice(bytes).map_err(|_| shape())?;
    let fits = message.chars().count() <= EXAMPLE_CHARS && !message.contains('\0') && !skill.contains('\0');
    match example_text(&message) {
        Some(text) if fits => Ok(ExampleLine { skill, message: text.to_owned(), is_counter: counter_example }),
        _ => Err(format!("the message must have letters or digits, at most {EXAMPLE_CHARS} characters, and no NUL")),
    }
}

/// Imports a file of examples for the existing skills.
pub(crate) async fn import_lines(ctx: &Ctx, file: ReadLines) -> Result<ImportedExamples> {
    let ReadLines { path, digest, lines, mut report } = file;
    let (numbers, lines): (Vec<usize>, Vec<ExampleLine>) = lines.into_iter().unzip();
    let mut refuse_all = |detail: &str| numbers.iter().for_each(|number| report.refuse(&path, *number, detail));
    if !ctx.principal.settings().learns() {
        refuse_all("this tenant does not learn from use, see its setting learn_from_use");
        return Ok(report);
    }
    if lines.is_empty() {
        return Ok(report);
    }
    if !may_change_settings(ctx) {
        refuse_all("this tenant reviews every change of a skill; a reviewer has to import examples");
        return Ok(report);
    }
    let (session, task) = (ctx.call.session.as_deref(), task_for_examples(&ctx.app));
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.import").await?;
    let outcomes: Option<Vec<ExampleLineOutcome>> = ctx
        .once(&mut tx, &("import.examples", &path, manifest::hex(&digest)), async |tx| {
            let new = NewExamples { lines: &lines, session, task };
            let outcomes = examples::import(tx, new, ctx.now()).await?;
            Ok(outcomes.map(|outcomes| outcomes.into_iter().map(ExampleLineOutcome::of).collect()))
        })
        .await?;
    tx.commit().await?;
    let Some(outcomes) = outcomes else {
        refuse_all("the session has read untrusted content, or is unknown");
        return Ok(report);
    };
    for ((outcome, number), line) in outcomes.into_iter().zip(numbers).zip(&lines) {
        match outcome {
            ExampleLineOutcome::Added => report.added += 1,
            ExampleLineOutcome::Known => report.unchanged += 1,
            ExampleLineOutcome::NoSkill => report.refuse(&path, number, format!("no such skill: {}", line.skill)),
        }
    }
    Ok(report)
}

/// The outcome of a line, as stored for the import's idempotency key.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum ExampleLineOutcome {
    Added,
    Known,
    NoSkill,
}

impl ExampleLineOutcome {
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
