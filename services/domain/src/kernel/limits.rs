//! Size limits of a skill.

/// Maximum characters of a description (agentskills.io).
pub const DESCRIPTION_CHARS: usize = 1024;
/// Maximum characters of `compatibility` (agentskills.io).
pub const COMPATIBILITY_CHARS: usize = 500;
/// Maximum bytes of a frontmatter.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;
/// Maximum characters of a skill name with its namespace.
pub const NAME_CHARS: usize = 200;
/// Maximum characters of a name's segment.
pub const SEGMENT_CHARS: usize = 64;
/// Maximum segments of a skill name.
pub const SEGMENTS: usize = 4;
/// Maximum file paths of a skill that are shown to an agent.
pub const SHOWN_FILES: usize = 50;
/// Maximum words of a summary.
pub const SUMMARY_WORDS: usize = 15;

/// Configurable limits of the deployment. Limits of a skill's files are settings of the tenant.
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
    /// Returns the limits without a limit for the body. Stored texts passed the limits of their time, and the receiving
    /// service checks files that a tool reads.
    #[must_use]
    pub fn with_unbounded_body(&self) -> Self {
        Self { body_bytes: usize::MAX }
    }
}
