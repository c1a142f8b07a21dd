//! Scan results. Findings can be stored and are shown in full to a reviewer; an agent receives only [`Advice`].

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, Display, EnumString};

use super::category::Category;
use super::evidence::EvidenceDigest;

/// Decision for a text or finding, mildest first.
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
    /// No objection. For a finding: informational.
    #[default]
    Ok,
    /// Needs a person's review if the text is not trusted.
    Review,
    /// Always needs a person's review.
    Quarantine,
    /// Must be rejected.
    Reject,
}

impl Verdict {
    /// Returns the verdict one step milder.
    pub(super) fn milder(self) -> Self {
        match self {
            Self::Reject => Self::Quarantine,
            Self::Quarantine => Self::Review,
            Self::Review | Self::Ok => Self::Ok,
        }
    }
}

/// Kind of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Tier {
    /// A concrete thing, such as a key or a command.
    Artifact,
    /// A phrase. It requires a review at most, unless it was hidden.
    Judgement,
    /// Several findings together.
    Composite,
    /// Part of a composite finding; never in a [`Scan`].
    Signal,
}

/// The view of a file that contains a finding.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, AsRefStr, Display, EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum View {
    /// The text as written.
    Raw,
    /// The text in a fenced block or script, as written.
    Fence,
    /// The text with each paragraph and each command joined into one line.
    Joined,
    /// The text without invisible characters, in Unicode compatibility forms (NFKC).
    Seen,
    /// The text with look-alike letters of other scripts replaced.
    Skeleton,
    /// Text that is encoded in invisible characters.
    Tags,
    /// Text in a markup comment.
    Comment,
    /// An address with its escapes decoded.
    Target,
    /// A line of code with its quoting undone and its variables replaced.
    Resolved,
    /// A frontmatter value with its escapes decoded.
    Frontmatter,
    /// Text decoded from base64, hex or escapes.
    Decoded,
    /// The name of the skill or file.
    Name,
    /// The file as a whole.
    File,
}

impl View {
    /// Checks whether the text of this view is hidden from a person who looks at the rendered page.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Seen | Self::Skeleton | Self::Tags | Self::Comment | Self::Decoded)
    }
}

/// A byte range in a file; for decoded text, the range of the encoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// End, exclusive.
    pub end: usize,
}

/// A finding of a scan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Id of the rule, for reviewers only: an agent could reword its text to avoid a rule that it knows.
    pub rule: String,
    /// Category of the attack.
    pub category: Category,
    /// Kind of evidence.
    pub tier: Tier,
    /// Verdict for this finding.
    pub verdict: Verdict,
    /// Whether the verdict is milder than the rule's, because the text warns of the attack, forbids it or quotes it.
    pub demoted: bool,
    /// `SKILL.md` or the path of a resource.
    pub file: String,
    /// View of the file that contains the finding.
    pub view: View,
    /// Byte range in the file.
    pub span: Span,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Explanation of the problem.
    pub reason: String,
    /// Digest of the text that the finding is about. The digest is never stored, because it could reveal a secret.
    #[serde(skip)]
    pub evidence: EvidenceDigest,
}

/// Advice for an agent on how to fix the text. It names no rule, so that an agent cannot reword its text to avoid the
/// rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// Category of the attack.
    pub category: Category,
    /// Recommended change.
    pub change: String,
}

/// Result of scanning a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The most severe verdict of the findings.
    pub verdict: Verdict,
    /// Findings sorted by file and position, including informational ones ([`Verdict::Ok`]).
    pub findings: Vec<Finding>,
    /// Version of the rules.
    pub version: u32,
}

impl Scan {
    /// Returns the advice for an agent: one for each category, most severe first.
    pub fn advice(&self) -> Vec<Advice> {
        let mut telling: Vec<&Finding> = self.findings.iter().filter(|f| f.verdict > Verdict::Ok).collect();
        telling.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        let mut advice: Vec<Advice> = Vec::new();
        for finding in telling {
            if advice.iter().all(|known| known.category != finding.category) {
                advice.push(Advice { category: finding.category, change: finding.category.change().to_owned() });
            }
        }
        advice
    }
}
