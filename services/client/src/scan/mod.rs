//! The command `knowhow scan`: scans a folder or archive of skills for attacks. It needs no service and no database.

mod sarif;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use knowhow_domain::review::scanner::{self, Finding, Scan as Scanned, ScannedResource, Verdict};
use serde_json::json;

use super::import::contents::{self, Contents, SkillFiles};
use super::import::kinds::Kind;
use super::import::left_out::LeftOut;
use crate::print;

/// Scan skills for attacks
#[derive(Args)]
#[command(after_help = "Exit codes: 0 no findings, 1 a file could not be read, 3 review, 4 quarantine, 5 reject.")]
pub struct Scan {
    /// A folder with skills anywhere below it, a SKILL.md, a zip, a tar or a tar.gz
    source: PathBuf,
    /// The agent that the folder belongs to; recognised automatically by default
    #[arg(long, value_name = "KIND")]
    from: Option<Kind>,
    /// Print one JSON document
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print a SARIF 2.1.0 log for code hosts
    #[arg(long)]
    sarif: bool,
    /// The mildest verdict that fails the command
    #[arg(long, value_enum, default_value_t = FailOn::Review, value_name = "VERDICT")]
    fail_on: FailOn,
    /// Also print findings that have no consequences
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

/// A skill and the result of its scan.
struct ScannedSkill {
    files: SkillFiles,
    scan: Scanned,
}

impl Scan {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let Contents { skills, unread, left_out } = contents::read(&self.source, self.from)?;
        let skills: Vec<ScannedSkill> = skills.into_iter().map(ScannedSkill::of).collect();
        let verdict = skills.iter().map(|read| read.scan.verdict).max().unwrap_or_default();
        // A file that could not be read may be an attack, so the verdict is at least `Review`.
        let verdict = if unread.is_empty() { verdict } else { verdict.max(Verdict::Review) };
        let left_out: Vec<LeftOut> = unread.into_iter().chain(left_out).collect();
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

    fn print(&self, skills: &[ScannedSkill], verdict: Verdict) -> Result<()> {
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

    fn document(&self, skills: &[ScannedSkill], left_out: &[LeftOut], verdict: Verdict) -> serde_json::Value {
        let skill = |read: &ScannedSkill| {
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

impl ScannedSkill {
    /// Scans a skill. If its SKILL.md is not UTF-8 text, it is scanned as a binary file.
    fn of(files: SkillFiles) -> Self {
        let mut resources: Vec<ScannedResource<'_>> =
            files.resources.iter().map(|file| ScannedResource { path: &file.path, bytes: &file.bytes }).collect();
        let document = match std::str::from_utf8(&files.document) {
            Ok(text) => text,
            Err(_) => {
                resources.push(ScannedResource { path: scanner::DOCUMENT, bytes: &files.document });
                ""
            }
        };
        let scan = scanner::scan_skill(&scanner::ScannedSkill { name: &files.name, document, resources: &resources });
        Self { files, scan }
    }

    /// Returns the path of a finding's file, as shown to the user.
    fn shown(&self, finding: &Finding) -> &str {
        let resource = self.files.resources.iter().find(|file| file.path == finding.file);
        resource.map_or(&self.files.path, |file| &file.shown)
    }

    /// Returns the content of a finding's file.
    fn bytes(&self, finding: &Finding) -> &[u8] {
        let resource = self.files.resources.iter().find(|file| file.path == finding.file);
        resource.map_or(&self.files.document, |file| &file.bytes)
    }
}
