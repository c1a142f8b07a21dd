//! What a scan says. Findings can be stored, and are shown whole to a reviewer; an agent is told no more than [`Advice`].

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, Display, EnumString};

use super::category::Category;
use super::rules::BuiltIn;

/// What is to become of a text, from the mildest.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    AsRefStr,
    Display,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// Nothing is in the way. Of a finding: worth knowing, no more.
    #[default]
    Ok,
    /// A person should see it where the text is not trusted.
    Review,
    /// A person must see it.
    Quarantine,
    /// It is not to be taken at all.
    Reject,
}

impl Verdict {
    /// One step less.
    pub(super) fn milder(self) -> Self {
        match self {
            Self::Reject => Self::Quarantine,
            Self::Quarantine => Self::Review,
            Self::Review | Self::Ok => Self::Ok,
        }
    }
}

/// What kind of sign a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Tier {
    /// A thing that is there, such as a key or a command.
    Artifact,
    /// A manner of speaking. It never leads to more than a review, unless it was hidden.
    Judgement,
    /// Several signs together.
    Composite,
    /// Serves composites; never in a [`Scan`].
    Signal,
}

/// In which view of a file something was found.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum View {
    /// As it is written.
    Raw,
    /// In a fenced block or a script, as it is written.
    Fence,
    /// With the lines of a paragraph or command joined.
    Joined,
    /// Without invisible characters, in compatible forms.
    Seen,
    /// With letters of other scripts replaced by those that they look like.
    Skeleton,
    /// Spelled by characters that are not shown.
    Tags,
    /// In a comment of the markup.
    Comment,
    /// In an address, its escapes decoded.
    Target,
    /// In a value of the frontmatter, its escapes decoded.
    Frontmatter,
    /// Decoded from base64, hex or escapes.
    Decoded,
    /// The file as a whole.
    File,
}

impl View {
    /// Whether a person who looks at the page does not see it.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Seen | Self::Skeleton | Self::Tags | Self::Comment | Self::Decoded)
    }
}

/// Where something stands in a file, in bytes; of decoded text, where the encoded one stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// After the last byte.
    pub end: usize,
}

/// Something that a scan found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id. For reviewers: an agent that knows the rules writes around them.
    pub rule: String,
    /// What kind of attack it is a sign of.
    pub category: Category,
    /// What kind of sign it is.
    pub tier: Tier,
    /// What it leads to.
    pub verdict: Verdict,
    /// Whether it leads to less than the rule says, because the line warns or quotes.
    pub demoted: bool,
    /// The file: `SKILL.md` or the path of a resource.
    pub file: String,
    /// How it was found there.
    pub view: View,
    /// Where.
    pub span: Span,
    /// The line of its first byte, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// What an agent is told: enough to write better, not enough to write around a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// What kind of attack it looks like.
    pub category: Category,
    /// What to change.
    pub change: String,
}

/// What came of reading a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The gravest of the findings.
    pub verdict: Verdict,
    /// By file and place. Those that lead to nothing ([`Verdict::Ok`]) are among them.
    pub findings: Vec<Finding>,
    /// Of the rules.
    pub version: u32,
}

impl Scan {
    /// What to tell an agent: each category once, the gravest first.
    pub fn advice(&self) -> Vec<Advice> {
        let mut telling: Vec<&Finding> = self.findings.iter().filter(|f| f.verdict > Verdict::Ok).collect();
        telling.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        let mut advice: Vec<Advice> = Vec::new();
        for finding in telling {
            if advice.iter().all(|told| told.category != finding.category) {
                advice.push(Advice { category: finding.category, change: finding.category.change().to_owned() });
            }
        }
        advice
    }
}

impl Finding {
    /// A finding about a file as a whole.
    pub(super) fn of_file(rule: &BuiltIn, file: &str) -> Self {
        Self {
            rule: rule.id.clone(),
            category: rule.category,
            tier: Tier::Artifact,
            verdict: rule.verdict,
            demoted: false,
            file: file.to_owned(),
            view: View::File,
            span: Span { start: 0, end: 0 },
            line: 1,
            reason: rule.reason.clone(),
        }
    }
}
