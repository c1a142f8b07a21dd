//! Accuracy of extracting relations from bodies, measured on 400 sentences. The rules were tuned on half of them.

mod mentions;

use std::collections::BTreeSet;

use knowhow_domain::graph::extract_relations;

const SENTENCES: &str = include_str!("sentences.txt");

const OWN: &str = "own-skill";

/// Names of the user's skills.
const SKILLS: [&str; 30] = [
    "own-skill",
    "web-perf",
    "mcp/email",
    "mcp/calendar",
    "plan-meeting",
    "chrome-tools",
    "weather",
    "deploy-cloudflare",
    "research/summarize-paper",
    "code-review",
    "git-flow",
    "invoice-check",
    "travel-booking",
    "sql-tuning",
    "pdf-forms",
    "release-notes",
    "security-audit",
    "image-resize",
    "api-testing",
    "data-cleaning",
    "slack-digest",
    "budget-report",
    "unit-tests",
    "docker-build",
    "team/onboarding",
    "translate-text",
    "meeting-notes",
    "kubernetes-gateway",
    "log-analysis",
    "contract-review",
];

type Relations = BTreeSet<(String, String)>;

fn sentences() -> Vec<(Relations, String)> {
    let lines = SENTENCES.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (said, body) = line.split_once(" | ").unwrap();
            let pairs = said.split("; ").filter_map(|pair| pair.split_once(' '));
            (pairs.map(|(kind, name)| (kind.to_owned(), name.to_owned())).collect(), body.replace("\\n", "\n"))
        })
        .collect()
}

/// Returns the relations to existing skills that the code of the graph job extracts from a body.
fn read(body: &str) -> Relations {
    let is_skill = |name: &str| SKILLS.contains(&name) || name == "seo-check";
    extract_relations(OWN, body)
        .into_iter()
        .filter(|found| is_skill(&found.name) && !found.subject.as_deref().is_some_and(is_skill))
        .map(|found| (found.kind.as_str().to_owned(), found.name))
        .collect()
}

/// Counts from which precision and recall are computed.
#[derive(Default)]
struct Score {
    right: usize,
    found: usize,
    said: usize,
}

impl Score {
    fn add<T: Ord>(&mut self, found: &BTreeSet<T>, said: &BTreeSet<T>) {
        self.right += found.intersection(said).count();
        self.found += found.len();
        self.said += said.len();
    }

    fn precision(&self) -> f64 {
        self.right as f64 / self.found as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.said as f64
    }
}

fn measure(set: &[(Relations, String)]) -> Score {
    let mut score = Score::default();
    for (expected, body) in set {
        let read = read(body);
        score.add(&read, expected);
        if read != *expected {
            println!("{body:?}: read {read:?}, said {expected:?}");
        }
    }
    score
}

#[test]
fn relations_are_extracted_with_the_required_accuracy() {
    let all = sentences();
    assert_eq!(all.len(), 400);
    for (name, parity) in [("tuned on", 0), ("held apart", 1)] {
        let half: Vec<_> = all.iter().skip(parity).step_by(2).cloned().collect();
        let score = measure(&half);
        let (precision, recall) = (score.precision(), score.recall());
        println!("{name}: precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= 0.95 && recall >= 0.80, "{name}: precision {precision:.3}, recall {recall:.3}");
    }
}
