//! Size limits for a skill.

/// Maximum number of characters in a description (agentskills.io).
pub const DESCRIPTION_CHARS: usize = 1024;
/// Maximum number of characters in `compatibility` (agentskills.io).
pub const COMPATIBILITY_CHARS: usize = 500;
/// Maximum number of bytes in a frontmatter.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;
/// Maximum number of characters in a skill name with its namespace.
pub const NAME_CHARS: usize = 200;
/// Maximum number of characters in a name's segment.
pub const SEGMENT_CHARS: usize = 64;
/// Maximum number of segments in a skill name.
pub const SEGMENTS: usize = 4;
/// Maximum number of file paths of a skill that are shown to an agent.
pub const SHOWN_FILES: usize = 50;
/// Maximum number of words in a summary.
pub const SUMMARY_WORDS: usize = 15;

/// Configurable limits for the deployment. The limits on a skill's files are settings of the tenant.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum size of a SKILL.md's body in bytes.
    pub body_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 256 * 1024 }
    }
}

impl Limits {
    /// Returns the limits without a limit on the body. This suits stored texts, which passed the limits at their time,
    /// and files read by a tool, which the receiving service checks.
    #[must_use]
    pub fn with_unbounded_body(&self) -> Self {
        Self { body_bytes: usize::MAX }
    }
}
