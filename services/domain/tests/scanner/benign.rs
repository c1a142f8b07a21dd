//! Share of harmless skills for which the scanner raises a false alarm.

use knowhow_domain::review::scanner::{Scan, Verdict, scan};
use serde::Deserialize;

use crate::corpus::{self, Sample};
use crate::corpus_folder::CorpusFolder;
use crate::golden;
use crate::sets::{as_document, rules_of};

const BENIGN: usize = 1_500;
const SECURITY: usize = 400;

/// Number of false alarms in a set of harmless skills.
#[derive(Default)]
pub struct Rates {
    pub all: usize,
    pub quarantined: usize,
    pub reviewed: usize,
}

impl Rates {
    fn count(&mut self, scan: &Scan) {
        self.all += 1;
        self.quarantined += usize::from(scan.verdict >= Verdict::Quarantine);
        self.reviewed += usize::from(scan.verdict >= Verdict::Review);
    }

    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.all as f64
    }

    fn show(&self, title: &str) {
        println!(
            "{title}: {} skills, quarantined {:.1} %, review and up {:.1} %",
            self.all,
            self.percent(self.quarantined),
            self.percent(self.reviewed)
        );
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Templates {
    topics: Vec<String>,
    texts: Vec<String>,
}

/// Returns texts about security that were written for this test, each with several topics.
fn authored() -> Vec<(String, String)> {
    let templates: Templates = toml::from_str(include_str!("sets/security.toml")).unwrap();
    let fill = |text: &str, topic: &str| as_document(&text.replace("{topic}", topic));
    let pairs = templates.texts.iter().enumerate().flat_map(|(number, text)| {
        let of_topic =
            move |(index, topic): (usize, &String)| (format!("authored-{number}-{index}"), fill(text, topic));
        templates.topics.iter().enumerate().map(of_topic)
    });
    pairs.collect()
}

fn scan_all(samples: &[(String, String)]) -> (Rates, Vec<String>) {
    let half = samples.len() / 2;
    let scan_part = |part: &[(String, String)]| -> Vec<Scan> { part.iter().map(|(_, text)| scan(text, &[])).collect() };
    let scans: Vec<Scan> = std::thread::scope(|scope| {
        let first = scope.spawn(|| scan_part(&samples[..half]));
        let second = scan_part(&samples[half..]);
        first.join().unwrap().into_iter().chain(second).collect()
    });
    let mut rates = Rates::default();
    let mut lines = Vec::new();
    for ((id, _), scan) in samples.iter().zip(&scans) {
        rates.count(scan);
        if scan.verdict > Verdict::Ok {
            lines.push(format!("{id} {} {}", scan.verdict, rules_of(scan)));
            show_findings(id, &samples.iter().find(|(other, _)| other == id).unwrap().1, scan);
        }
    }
    lines.sort();
    (rates, lines)
}

/// Prints the findings if the environment variable `SHOW_FINDINGS` is set. They help to tune the rules.
fn show_findings(id: &str, text: &str, scan: &Scan) {
    if std::env::var_os("SHOW_FINDINGS").is_none() {
        return;
    }
    for finding in scan.findings.iter().filter(|finding| finding.verdict > Verdict::Ok) {
        let line = text.lines().nth(finding.line - 1).unwrap_or_default();
        let line: String = line.chars().take(260).collect();
        println!("  {id} {} {} {} {:?}: {line}", finding.verdict, finding.rule, finding.view, finding.span);
    }
}

fn pairs(samples: impl Iterator<Item = Sample>, count: usize) -> Vec<(String, String)> {
    samples.take(count).map(|sample| (sample.id, sample.document)).collect()
}

#[test]
fn benign_skills_rarely_raise_a_false_alarm() {
    let Some(all) = corpus::all("benign") else { return };
    let (rates, lines) = scan_all(&pairs(all.into_iter(), BENIGN));
    rates.show("benign");
    assert!(rates.percent(rates.quarantined) <= 1.0 && rates.percent(rates.reviewed) <= 6.0);
    if !CorpusFolder::find().is_sample {
        golden::check("benign", &lines);
    }
}

#[test]
fn skills_about_security_rarely_raise_a_false_alarm() {
    let Some(all) = corpus::all("security") else { return };
    let authored = authored();
    let is_sample = CorpusFolder::find().is_sample;
    let real = pairs(all.into_iter().filter(|sample| sample.is_about_security), SECURITY - authored.len());
    let (rates, lines) = scan_all(&[real, authored].concat());
    rates.show("security topics");
    // The sample has too few skills of this kind for a rate.
    if !is_sample {
        assert!(rates.percent(rates.quarantined) <= 3.0 && rates.percent(rates.reviewed) <= 20.0);
        assert_eq!(rates.all, SECURITY);
        golden::check("security", &lines);
    }
}
