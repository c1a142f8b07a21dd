//! `knowhow scan`: reads a folder or archive of skills for what looks like an attack. No service, no database.

mod sarif;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use knowhow_domain::scanner::{self, Finding, Resource, Scan as Scanned, Verdict};
use serde_json::json;

use super::import::contents::{self, Contents, Files};
use super::import::kinds::Kind;
use super::print;

/// Reads skills for what looks like an attack.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 nothing was found, 1 something could not be read, 3 review, 4 quarantine, 5 reject."
)]
pub(super) struct Scan {
    /// A folder that has skills anywhere below it, a SKILL.md, a zip, a tar or a tar.gz
    source: PathBuf,
    /// Whose folder it is; told by its marks where it is not given
    #[arg(long, value_name = "KIND")]
    from: Option<Kind>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print a SARIF 2.1.0 log, as code hosts read it
    #[arg(long)]
    sarif: bool,
    /// The mildest verdict that the exit code tells
    #[arg(long, value_enum, default_value_t = FailOn::Review, value_name = "VERDICT")]
    fail_on: FailOn,
    /// Print findings that lead to nothing too
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FailOn {
    Review,
    Quarantine,
    Reject,
}

impl FailOn {
    fn verdict(self) -> Verdict {
        match self {
            Self::Review => Verdict::Review,
            Self::Quarantine => Verdict::Quarantine,
            Self::Reject => Verdict::Reject,
        }
    }
}

/// A skill and what was found in it.
struct Read {
    files: Files,
    scan: Scanned,
}

impl Scan {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let Contents { skills, left_out } = contents::read(&self.source, self.from)?;
        let skills: Vec<Read> = skills.into_iter().map(Read::of).collect();
        let verdict = skills.iter().map(|read| read.scan.verdict).max().unwrap_or_default();
        if self.sarif {
            print::json(&sarif::log(&skills))?;
        } else if self.json {
            print::json(&self.document(&skills, &left_out, verdict))?;
        } else {
            self.print(&skills, verdict)?;
        }
        for file in &left_out {
            print::note(format!("not read: {}: {}", file.path, file.reason));
        }
        Ok(match verdict {
            _ if verdict < self.fail_on.verdict() => ExitCode::SUCCESS,
            Verdict::Ok => ExitCode::SUCCESS,
            Verdict::Review => ExitCode::from(3),
            Verdict::Quarantine => ExitCode::from(4),
            Verdict::Reject => ExitCode::from(5),
        })
    }

    fn print(&self, skills: &[Read], verdict: Verdict) -> Result<()> {
        for (read, finding) in skills.iter().flat_map(|read| read.scan.findings.iter().map(move |f| (read, f))) {
            if finding.verdict == Verdict::Ok && !self.verbose {
                continue;
            }
            let Finding { line, rule, category, reason, view, .. } = finding;
            let verdict = finding.verdict;
            let how = if view.is_hidden() { format!(" [{view}]") } else { String::new() };
            print::line(format!("{}:{line}: {verdict}: {reason} ({category}, {rule}){how}", read.shown(finding)))?;
        }
        let count = |verdict| skills.iter().filter(|read| read.scan.verdict == verdict).count();
        print::line(format!(
            "{} skills: {} ok, {} review, {} quarantine, {} reject; in all: {verdict} (rules of version {})",
            skills.len(),
            count(Verdict::Ok),
            count(Verdict::Review),
            count(Verdict::Quarantine),
            count(Verdict::Reject),
            scanner::version(),
        ))
    }

    fn document(
        &self,
        skills: &[Read],
        left_out: &[super::import::listing::LeftOut],
        verdict: Verdict,
    ) -> serde_json::Value {
        let skill = |read: &Read| {
            let findings: Vec<&Finding> =
                read.scan.findings.iter().filter(|finding| self.verbose || finding.verdict > Verdict::Ok).collect();
            json!({
                "path": read.files.path,
                "verdict": read.scan.verdict,
                "findings": findings,
                "advice": read.scan.advice(),
            })
        };
        json!({
            "version": scanner::version(),
            "verdict": verdict,
            "skills": skills.iter().map(skill).collect::<Vec<_>>(),
            "not_read": left_out.iter().map(|file| json!({"path": file.path, "reason": file.reason})).collect::<Vec<_>>(),
        })
    }
}

impl Read {
    /// Scans a skill. A SKILL.md that is no text is a file that cannot be read.
    fn of(files: Files) -> Self {
        let mut resources: Vec<Resource<'_>> =
            files.resources.iter().map(|file| Resource { path: &file.path, bytes: &file.bytes }).collect();
        let document = match std::str::from_utf8(&files.document) {
            Ok(text) => text,
            Err(_) => {
                resources.push(Resource { path: scanner::DOCUMENT, bytes: &files.document });
                ""
            }
        };
        let scan = scanner::scan(document, &resources);
        Self { files, scan }
    }

    /// The file of a finding, as the user would write it.
    fn shown(&self, finding: &Finding) -> &str {
        let resource = self.files.resources.iter().find(|file| file.path == finding.file);
        resource.map_or(&self.files.path, |file| &file.shown)
    }

    /// The bytes of the file of a finding.
    fn bytes(&self, finding: &Finding) -> &[u8] {
        let resource = self.files.resources.iter().find(|file| file.path == finding.file);
        resource.map_or(&self.files.document, |file| &file.bytes)
    }
}
